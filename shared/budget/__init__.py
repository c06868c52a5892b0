"""The budget: the cost of each paid run is reserved before the run starts and settled after it ends.

`shared.llm.proxy` determines the cost: tokens in `metering`, dollars in `run_meter`, with the prices of
`shared.llm.prices`. `budgeted_coder` records it in the `ledger` on the git server, one line each (`ledger_lines`), and
`budgets` (pure) checks it against the limits. `runtime.telemetry.cost` and `console.report` add up the same lines.
"""
