"""Bugs in what the lock stands on: GitHub's interface, git's pushes and fetches, the marks of comments."""

from __future__ import annotations

from .mutant import adapter

COMMENTS, CLIENT, FENCES, PUSH = (
    "shared/github/comments.py",
    "shared/github/client.py",
    "shared/git/fences.py",
    "shared/git/failures.py",
)
COMMAND, MIRROR, MARKS = "shared/git/command.py", "shared/git/mirror.py", "shared/text/comment_signatures.py"

TIME = "shared/github/server_time.py"

STANDING_ON = (
    adapter(
        "first answers are believed",
        (TIME, "        return self._confirmed and self._agreed", "        return self._agreed"),
    ),
    adapter(
        "the first answer stays",
        (TIME, "elif self._read is None or (is_witnessed and not self._confirmed):", "elif self._read is None:"),
    ),
    adapter("this machine's clock decides", (TIME, "is_witnessed and not self._confirmed", "is_witnessed")),
    adapter("any time is believed by its second answer", (TIME, "DOUBT_SECONDS = 600.0", "DOUBT_SECONDS = 0.0")),
    adapter(
        "a post is sent again",
        (CLIENT, '            if method == "POST":\n                raise\n', "            pass\n"),
    ),
    adapter(
        "a server's error means that nothing was done",
        (
            CLIENT,
            'raise UnknownOutcome(f"GitHub answered {answer.status} to',
            'raise Transient(f"GitHub answered {answer.status} to',
        ),
    ),
    adapter("a write permit is not asked", (CLIENT, "            permit.check()\n", "            pass\n")),
    adapter(
        "only the first page of a thread",
        (CLIENT, "        if len(items) < total:\n", "            break\n        if len(items) < total:\n"),
    ),
    adapter(
        "a comment that may not be read is gone",
        (
            COMMENTS,
            "        except NotFound:\n            return None\n\n    async def post",
            "        except Exception:\n            return None\n\n    async def post",
        ),
    ),
    adapter(
        "an edit of what is gone is done",
        (COMMENTS, "            self._threads.gone(id)\n            return None\n", "            raise\n"),
    ),
    adapter(
        "edits are never urgent", (COMMENTS, '{"body": body}, permit, urgent=urgent\n', '{"body": body}, permit\n')
    ),
    adapter("all of a long thread is left out", (COMMENTS, "since if count > PAGE else None", "since")),
    adapter(
        "a comment twice",
        (COMMENTS, "return tuple(unique[id] for id in sorted(unique))", "return tuple(wire.each(wire.comment, found))"),
    ),
    adapter(
        "a thread that is taken for empty",
        (
            COMMENTS,
            "        if count or self._github.expects_entry_in(",
            "        if count > 1 or self._github.expects_entry_in(",
        ),
    ),
    adapter(
        "a push without leases",
        (COMMAND, '"push", *fixed, *leases, "--end-of-options"', '"push", "--force", *fixed, "--end-of-options"'),
    ),
    adapter("a push in parts", (COMMAND, 'fixed = ("--atomic", "--porcelain"', 'fixed = ("--porcelain"')),
    adapter(
        "a push that takes too long was refused",
        (
            COMMAND,
            '            raise UnknownOutcome(f"git push did not end within {deadline_seconds:.0f} s.")\n',
            "            return False\n",
        ),
    ),
    adapter(
        "a refused push is one that moved",
        (
            PUSH,
            "    if not foreign and not _NAME_TAKEN.search(output):\n        return False\n",
            "    if not foreign and not _NAME_TAKEN.search(output):\n        return True\n",
        ),
    ),
    adapter("a rule's refusal is a lost race", (PUSH, "    if not foreign and", "    if")),
    adapter(
        "a lost report is a refusal",
        (PUSH, "        raise UnknownOutcome(_refusal_sentence(reasons, output))\n", "        return False\n"),
    ),
    adapter(
        "a server's fault is a rule",
        (
            PUSH,
            "        raise Transient(_refusal_sentence(reasons, output))\n",
            "        raise PushRefused(_refusal_sentence(reasons, output))\n",
        ),
    ),
    adapter(
        "a push that curl sent twice was refused",
        (FENCES, "        return oid if await self._is_at(ref, oid) else None\n", "        return None\n"),
    ),
    adapter(
        "a fence without what it guards",
        (FENCES, "(RefUpdate(ref, expected, oid), *updates)", "(RefUpdate(ref, expected, oid),)"),
    ),
    adapter(
        "a fence that nobody expected",
        (
            FENCES,
            "(RefUpdate(ref, expected, oid), *updates)",
            "(RefUpdate(ref, await self._mirror.refresh(ref), oid), *updates)",
        ),
    ),
    adapter(
        "a fence without its parents", (FENCES, "git.commit(tree, parents, message,", "git.commit(tree, (), message,")
    ),
    adapter(
        "a fence is removed whatever it is",
        (
            FENCES,
            '(RefUpdate(ref, expected, ""),)',
            '(RefUpdate(ref, await self._mirror.refresh(ref) or expected, ""),)',
        ),
    ),
    adapter(
        "a fence as it was here",
        (
            MIRROR,
            '                await self._fetch(f"+{ref}:{ref}")\n',
            '                await self._fetch(f"+{ref}:{ref}") if await self.sha(ref) is None else None\n',
        ),
    ),
    adapter(
        "a deleted fence stays",
        (
            MIRROR,
            "                await forget(self.git, ref)\n                return None\n",
            "                return await self.sha(ref)\n",
        ),
    ),
    adapter(
        "deleted fences stay in the list",
        (MIRROR, '(f"+{prefix}*:{prefix}*", prune=True)', '(f"+{prefix}*:{prefix}*", prune=False)'),
    ),
    adapter(
        "a MAC of any length", (MARKS, "if hmac.compare_digest(expected, mac) else", "if expected.startswith(mac) else")
    ),
    adapter(
        "a MAC of another thread",
        (MARKS, "{self.repository_id}\\n{number}\\n{blank_body}", "{self.repository_id}\\n{blank_body}"),
    ),
    adapter(
        "a MAC of another repository",
        (MARKS, "{self.repository_id}\\n{number}\\n{blank_body}", "{number}\\n{blank_body}"),
    ),
    adapter("a MAC for anything", (MARKS, 'f"{purpose}\\n{self.repository_id}', 'f"{self.repository_id}')),
    adapter("unsigned is good enough", (MARKS, "if not self.keys and mac == UNSIGNED:", "if mac == UNSIGNED:")),
)
"""Of the REST and git adapters."""
