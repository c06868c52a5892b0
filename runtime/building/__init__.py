"""Construction of adapters from the configuration; each agent's `build.py` makes the rest of its agent with them.

In the order in which a start meets the files:

- `process`: one agent process, whatever the number of its repositories, with its secrets, `telemetry` and the
  `connections` to GitHub that it shares with others; `neighbours` are other processes under the same account.
- `confinement`, `backends`: the sandbox and the coding backends, tried before GitHub is asked for anything.
- `sign_in`: the account, or the App of each owner, in whose name everything is done, an agent's or a visit's from the
  console.
- `assembly`: the `RepositoryAdapters` of one repository, joined from `github_adapters` (one for each resource),
  `budget` (what may be spent), `identity` (who claims) and `excluded_items` (what is left alone).
- `commands`: what an agent's `build.py` wraps around its agent, so that people can order it and are called.
"""
