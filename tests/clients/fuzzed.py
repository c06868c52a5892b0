"""Targets of generated requests: an existing thing for every parameter of a path and every field of a body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lab_scene import Scene
from seeded import NAME, PROTECTED, Seeds

from lab.github.wire import checks as wire

API = f"/repos/{NAME}"


@dataclass(frozen=True)
class Targets:
    """Path parameters and body fields by operation and name; `places` hold where `own` has no value."""

    places: Mapping[str, Any]
    own: Mapping[str, Mapping[str, Any]]
    bodies: Mapping[str, Mapping[str, Any]]

    def path(self, operation: str, names: set[str]) -> dict[str, Any]:
        """Return the path parameters of an operation."""
        return {name: self.own.get(operation, {}).get(name, self.places[name]) for name in names}

    def body(self, operation: str, generated: Any) -> Any:
        """Return a generated body in which names of existing things replace invented ones."""
        wanted = self.bodies.get(operation)
        return generated if wanted is None or not isinstance(generated, dict) else {**generated, **wanted}


@dataclass(frozen=True)
class Things:
    """Things made through the API: ids, except for issues and pull requests, which are as the lab shows them."""

    issues: list[Any]
    comments: list[int]
    pulls: Mapping[str, Any]
    reviews: list[int]
    inline: int
    tree: str


async def make(scene: Scene) -> Things:
    """Make issues, labels, comments, pull requests (one merged), reviews and refs; two of each that a request ends."""
    labels = ["story", "spare", "doomed"]
    issues = [await made(scene, "issues", {"title": f"Issue {n}", "labels": labels}) for n in range(3)]
    comments = [await made(scene, f"issues/{issues[0]['number']}/comments", {"body": "Hm"}) for _ in range(2)]
    bases = {"work": "main", "next": "main", "behind": "main", PROTECTED: "work"}
    pulls = {head: await made(scene, "pulls", {"title": head, "head": head, "base": bases[head]}) for head in bases}
    remark = {"path": "work.txt", "line": 1, "body": "Why?"}
    verdict = {"event": "REQUEST_CHANGES", "body": "Not yet", "comments": [remark]}
    talk = f"pulls/{pulls['work']['number']}"
    reviews = [await made(scene, f"{talk}/reviews", verdict, by="octo") for _ in range(2)]
    (inline, *_) = await scene.get(f"{API}/{talk}/comments")
    merged = await scene.ask("PUT", f"{API}/pulls/{pulls[PROTECTED]['number']}/merge", {}, by="octo")
    assert merged.status == 200, merged.text
    commit = await scene.get(f"{API}/commits/main")
    for branch in ("moved", "doomed"):
        await made(scene, "git/refs", {"ref": f"refs/heads/{branch}", "sha": commit["sha"]})
    ids = ([one["id"] for one in comments], pulls, [one["id"] for one in reviews])
    return Things(issues, *ids, inline["id"], commit["commit"]["tree"]["sha"])


async def made(scene: Scene, path: str, body: Mapping[str, Any], *, by: str = "ada") -> Any:
    """Return the body of the lab's answer to a successful POST."""
    answer = await scene.ask("POST", f"{API}/{path}", body, by=by)
    assert answer.status in {200, 201}, answer.text
    return answer.body


def targets(seeds: Seeds, things: Things, check: int) -> Targets:
    """Return the targets of all operations; `check` is the id of a check run that the App made."""
    owner, _, repo = NAME.partition("/")
    places = {
        **{"owner": owner, "repo": repo, "username": "ada", "installation_id": seeds.installation},
        **{"issue_number": things.issues[0]["number"], "comment_id": things.comments[0], "name": "story"},
        **{"pull_number": things.pulls["work"]["number"], "review_id": things.reviews[0]},
        **{"job_id": seeds.job, "run_id": seeds.run, "check_run_id": check},
        **{"workflow_id": wire.WORKFLOW_FILE, "attempt_number": 1},
        **{"ref": "main", "branch": "main", "path": "README.md", "basehead": "main...work"},
        **dict.fromkeys(("sha", "commit_sha", "tree_sha"), seeds.main),
    }
    return Targets(places, own_places(things), bodies(seeds, things))


def own_places(things: Things) -> dict[str, dict[str, Any]]:
    """Return parameters of operations that find their things elsewhere, or that end them and so must not share them."""
    return {
        "git/get-ref": {"ref": "heads/main"},
        "git/list-matching-refs": {"ref": "heads"},
        "git/update-ref": {"ref": "heads/moved"},
        "git/delete-ref": {"ref": "heads/doomed"},
        "issues/remove-label": {"issue_number": things.issues[2]["number"], "name": "spare"},
        "issues/delete-label": {"name": "doomed"},
        "issues/delete-comment": {"comment_id": things.comments[1]},
        "repos/get-branch-protection": {"branch": PROTECTED},
        "repos/get-status-checks-protection": {"branch": PROTECTED},
        "pulls/create-reply-for-review-comment": {"comment_id": things.inline},
        "pulls/dismiss-review": {"review_id": things.reviews[1]},
        "pulls/check-if-merged": {"pull_number": things.pulls[PROTECTED]["number"]},
        "pulls/merge": {"pull_number": things.pulls["next"]["number"]},
        "pulls/update-branch": {"pull_number": things.pulls["behind"]["number"]},
    }


def bodies(seeds: Seeds, things: Things) -> dict[str, dict[str, Any]]:
    """Return the fields that name existing things."""
    entry = {"path": "a.txt", "mode": "100644", "type": "blob", "content": "a\n"}
    return {
        "git/create-ref": {"ref": "refs/heads/created", "sha": seeds.main},
        "git/update-ref": {"sha": seeds.main},
        "git/create-tree": {"base_tree": things.tree, "tree": [entry]},
        "git/create-commit": {"tree": things.tree, "parents": [seeds.main]},
        "pulls/create": {"head": "next", "base": PROTECTED},
        "pulls/create-review-comment": {"commit_id": seeds.work, "path": "work.txt", "line": 2, "side": "RIGHT"},
        "checks/create": {"head_sha": seeds.main},
        "issues/add-sub-issue": {"sub_issue_id": things.issues[1]["id"]},
    }
