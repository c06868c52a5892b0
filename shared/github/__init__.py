"""GitHub over REST, and over GraphQL where REST cannot do it. The files, in the order in which a request meets them:

- the resources, one file each: `issues`, `inbox` (open items), `comments`, `pulls`, `reviews`, `checks`, `people`,
  `attachments`; `item_changes` and `label_board`, which is built on them; the requirements of a branch: `base_branch`,
  `branch_rules`. `ports` are the Protocols of these that consumers name.
- writes that must not be posted twice: `status` and `status_record` (the one status comment), `at_most_once`.
- `client`: the only entry to GitHub. Its reads go through `reading` (`cache`, `kept_answers`, `paging`), its writes
  wait for their pace (`limits`), and both for the `points` of a minute, with signs of life (`waits`); each passes
  `calls`. Both know about data that replicas do not show yet: `replica_lag`, `item_versions`. `listing` is what lists
  keep of an issue, `global_ids` what GraphQL needs.
- `transport`: one request to an `address` and its answer, with a token of `tokens` (`token_refusals` says when none is
  sent), within the `limits`; `server_time` is read from each answer.
- `wire`: GitHub's JSON as our models. `errors`: its refusals as ours. `access`: the permissions of a token.
"""
