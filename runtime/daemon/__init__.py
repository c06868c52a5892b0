"""The parts that make an agent a daemon. In the order in which a start meets the files:

- `serving`: the agents of one process side by side, with one `configuration`, `service_manager`, `webhook` and
  `status_file` for all.
- `agent_lifecycle`: one agent over several configurations, until it is stopped or drained.
- `start`: which repositories can be used, once GitHub has been asked and each git server has been proved fit.
- `repository_loops`: the polling loop of each of these repositories.
- `control`: `workflow-engine drain`, `pause` and `resume`, which reach all of them from outside.
"""
