"""Places of a claim's commits: a base that was made for the claim, and a head on which others have built."""

from __future__ import annotations

from pathlib import Path

from verify_scene import BASE, CODE, TEST, repository

from shared.git.command import Git, Identity, Signature
from shared.git.proof_claim import Claim
from worker_agent.verify.clone import brought, cloned, later, placed
from worker_agent.verify.compare import History

ADA = Signature(Identity("Ada", "ada@example.org"))


async def branched(place: Path) -> tuple[Git, dict[str, str]]:
    """Make commits: `main` goes on after `base`, `sabotage` is beside it, `red` and `green` are built on `base`."""
    base, red, green = await repository(place, BASE, TEST, CODE)
    git = Git(place, {"PATH": "/usr/bin:/bin"})
    tree = (await git.run("rev-parse", f"{base}^{{tree}}")).text
    tip = await git.commit(tree, [base], "Others' work", ADA)
    sabotage = await git.commit(tree, [base], "Break it first", ADA)
    built = await git.commit(tree, [sabotage], "Mend it", ADA)
    merged = await git.commit(tree, [green, tip], "Merge main", ADA)
    for name, commit in (("main", tip), ("work", merged), ("beside", built)):
        await git.run("update-ref", f"refs/heads/{name}", commit)
    return git, {"base": base, "red": red, "green": green, "tip": tip, "sabotage": sabotage, "built": built} | {
        "merged": merged
    }


async def test_only_a_base_of_the_base_branch_counts(tmp_path: Path) -> None:
    git, at = await branched(tmp_path / "remote.git")
    mirror, _ = await cloned(git, str(git.git_dir), tmp_path / "clone")
    assert all([await brought(mirror, commit) for commit in at.values()])
    assert not await brought(mirror, "f" * 40)

    async def history(base: str, head: str, now: str, *, merged: bool = False) -> tuple[History, str]:
        claim = Claim(42, at[base], at[head])
        return await placed(mirror, claim, at[now], "main", merged=merged)

    assert await history("base", "green", "green") == (History(), at["base"])
    (beside, _) = await history("sabotage", "built", "built")
    assert beside.why == (f"The claimed base {at['sabotage'][:12]} is no commit of the base branch 'main'.",)
    (elsewhere, _) = await history("base", "built", "green")
    assert elsewhere.why == (
        f"The claimed head {at['built'][:12]} is not in the history of the head {at['green'][:12]}.",
    )
    (onto, _) = await history("tip", "green", "green")
    assert onto.why == (f"The head {at['green'][:12]} is not built on the claimed base {at['tip'][:12]}.",)


async def test_after_a_merge_of_the_base_branch_the_newer_base_is_examined(tmp_path: Path) -> None:
    git, at = await branched(tmp_path / "remote.git")
    mirror, _ = await cloned(git, str(git.git_dir), tmp_path / "clone")
    claim = Claim(42, at["base"], at["green"])
    later = History(same_base=False, same_head=False)
    assert await placed(mirror, claim, at["merged"], "main", merged=False) == (later, at["tip"])
    done = History(same_base=True, same_head=False)
    assert await placed(mirror, claim, at["merged"], "main", merged=True) == (done, at["base"])


async def test_what_came_after_a_claim_is_told(tmp_path: Path) -> None:
    git, at = await branched(tmp_path / "remote.git")
    mirror, _ = await cloned(git, str(git.git_dir), tmp_path / "clone")
    assert await later(mirror, at["green"], at["green"]) == ()
    (one,) = await later(mirror, at["green"], at["merged"])
    assert one == (
        f"the claim, its runs and its damages are about {at['green'][:12]}; 1 commit came after it, "
        f"and {at['merged'][:12]} is examined"
    )
    (two,) = await later(mirror, at["red"], at["merged"])
    assert "; 2 commits came after it" in two
