"""What may be spent: each paid run is reserved before it begins and settled when it has ended.

What it has cost says `shared.llm.proxy`: tokens by `metering`, dollars by `account`, at `shared.llm.prices`. From there
`budgeted_coder` brings it into the `ledger` on the git server, a line each (`ledger_lines`), held against the limits
(`budgets`, pure). What tells it to people adds up the same lines: `runtime.telemetry.cost`, `console.report`.
"""
