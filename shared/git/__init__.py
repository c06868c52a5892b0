"""git: one mirror for each repository, a workspace for each item, and the push that moves all at once. The files:

- `command` is git itself, with `credentials`, `failures`, `output`, `push_report` and `names`.
- `mirror` is what the engine knows of the server; `history`, `objects`, `tree_files`, `ref_tips` and `lines` read it,
  by processes that stay open (`object_readers`), by files (`ref_files`, `loose_objects`), as it was answered before
  (`settled_answers`), or as one look has read it (`one_look`). It is made by `bare_directory`, and gives and takes
  whole objects by `linked_objects`. `ports` are the Protocols of these that consumers name.
- `workspace` is where an item is worked on: `coder_tree` and `plain_checkout` lay it out, `capture` takes what a coder
  has left there (`index_file`), `changes` says what differs, `merging` merges.
- what may leave: `patch_policy` judges, `publisher` prepares, `fences` pushes; `notes` and `proof_claim` are the signed
  records of it. `set_aside`: a branch that is in the way. `probe`: whether the server keeps what this needs.
- `disk` cleans up, `active_agents` says who else works under the account.
"""
