"""git: one mirror for each repository, a workspace for each item, and the push that moves all at once. The files:

- `command` is git itself, with `credentials`, `failures` and `names`.
- `mirror` is the local copy of the server; `history`, `objects`, `tree_files` and `append_only_log` read
  it, by processes that stay open (`object_readers`), by files (`ref_files`, `loose_objects`), from earlier answers
  (`settled_answers`), or as one look has read it (`one_look`). It is made by `bare_directory`, and exchanges
  whole objects by `linked_objects`. `ports` are the Protocols of these that consumers name.
- `workspace` is where an item is worked on: `plain_checkout` lays it out, `capture` takes what a coder
  has left there (`index_file`), `changes` compares trees, `merging` merges.
- changes that may leave: `patch_policy` judges, `publisher` prepares, `fences` pushes; `notes` and `proof_claim` are
  their signed records. `set_aside`: a branch that is in the way. `probe`: checks that a server is fit for the lock.
- `disk` cleans up, `active_agents` finds the other agents under the account.
"""
