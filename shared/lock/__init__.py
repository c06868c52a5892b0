"""The lock of one item: at most one agent of a kind works on it, whichever machine it runs on.

The words, in the order in which one meets them:

- fence: the git ref of an item (`refs/ack/<kind>/<number>`) whose commit says who works on it; git's push with a lease
  moves it, so that one of several claimants wins. `fence` has its text.
- epoch: the number of a fence's holders so far; each claim begins the next one. `ended_epochs` are those that have
  ended.
- nonce: a random word by which a process knows that an epoch is its own.
- ACK: the same said to people, in one comment of the thread: `codec` has its lines, `comment` writes and reads the
  whole; `announce` shows an epoch there. It decides nothing as long as there is a fence.
- claim: reading (`view`), concluding who holds it (`standing`), and pushing the next epoch (`claim`). `writes`
  moves fences and edits comments. `format_1` reads what engines of the first format left, whose claims had a comment
  each.
- lease: what a claim gives (`lease`); `hold` keeps it alive with heartbeats and gives the `Held` under which work is
  done, `scope` ends that work when the lease is lost.
- write permit: what every write has to show (`write_permit`); a `Held` is one.
- `fence_moves` change what the fence says of the work, and end it for good (a tombstone).
- `port` is all that the lock asks of the world, `gateway` does it with git and GitHub; `breaker` backs off where the
  git server refuses.
"""
