"""Commits, files, contents and comparisons as GitHub's JSON."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from urllib.parse import quote

from lab.github.repositories.changes import ChangedFile, CommitInfo, Signature
from lab.github.repositories.git_objects import TreeEntry
from lab.github.wire.site import Json, ServedRoot, node
from lab.github.world.repository import RepositoryRecord

_UNSIGNED = {"verified": False, "reason": "unsigned", "signature": None, "payload": None, "verified_at": None}


def commit(site: ServedRoot, repository: RepositoryRecord, info: CommitInfo) -> Json:
    """One commit. Its people are linked to the accounts that their addresses belong to."""
    url = f"{site.api(repository)}/commits/{info.sha}"
    git = git_commit(site, repository, info)
    return {
        "sha": info.sha,
        "node_id": git["node_id"],
        "url": url,
        "html_url": git["html_url"],
        "comments_url": f"{url}/comments",
        "commit": {
            **{name: git[name] for name in ("url", "author", "committer", "message", "tree")},
            "comment_count": 0,
            "verification": git["verification"],
        },
        "author": site.writer(info.author.email),
        "committer": site.writer(info.committer.email),
        "parents": [_parent(site, repository, sha) for sha in info.parents],
    }


def git_commit(site: ServedRoot, repository: RepositoryRecord, info: CommitInfo) -> Json:
    """One commit as git has it."""
    git = f"{site.api(repository)}/git"
    return {
        "sha": info.sha,
        "node_id": node("C", info.sha),
        "url": f"{git}/commits/{info.sha}",
        "html_url": f"{site.html(repository)}/commit/{info.sha}",
        "author": _person(info.author),
        "committer": _person(info.committer),
        "message": info.message,
        "tree": {"sha": info.tree, "url": f"{git}/trees/{info.tree}"},
        "parents": [{**_parent(site, repository, sha), "url": f"{git}/commits/{sha}"} for sha in info.parents],
        "verification": _UNSIGNED,
    }


def simple(info: CommitInfo) -> Json:
    """One commit as a check suite names it."""
    people = {"author": info.author, "committer": info.committer}
    return {
        "id": info.sha,
        "tree_id": info.tree,
        "message": info.message,
        "timestamp": _person(info.committer)["date"],
        **{role: {"name": person.name, "email": person.email} for role, person in people.items()},
    }


def tree(site: ServedRoot, repository: RepositoryRecord, sha: str, entries: Sequence[TreeEntry]) -> Json:
    """A tree with its entries."""
    git = f"{site.api(repository)}/git"
    return {
        "sha": sha,
        "url": f"{git}/trees/{sha}",
        "tree": [_tree_entry(git, entry) for entry in entries],
        "truncated": False,
    }


def changed_file(site: ServedRoot, repository: RepositoryRecord, change: ChangedFile, sha: str) -> Json:
    """One file of a diff whose new side is commit `sha`."""
    path, page = quote(change.path), site.html(repository)
    return {
        "sha": change.sha,
        "filename": change.path,
        "status": change.status,
        "additions": change.additions,
        "deletions": change.deletions,
        "changes": change.additions + change.deletions,
        "blob_url": f"{page}/blob/{sha}/{path}",
        "raw_url": f"{page}/raw/{sha}/{path}",
        "contents_url": f"{site.api(repository)}/contents/{path}?ref={sha}",
        **({} if change.patch is None else {"patch": change.patch}),
        **({} if change.previous_path is None else {"previous_filename": change.previous_path}),
    }


def comparison(
    site: ServedRoot,
    repository: RepositoryRecord,
    ends: tuple[CommitInfo, CommitInfo],
    commits: Sequence[CommitInfo],
    behind: int,
    files: Sequence[ChangedFile],
) -> Json:
    """Show the comparison of two commits: `ends` are the base and the merge base."""
    base, merge_base = ends
    head = commits[0].sha if commits else merge_base.sha
    between = f"{base.sha}...{head}"
    page = f"{site.html(repository)}/compare/{between}"
    return {
        "url": f"{site.api(repository)}/compare/{between}",
        "html_url": page,
        "permalink_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "base_commit": commit(site, repository, base),
        "merge_base_commit": commit(site, repository, merge_base),
        "status": _relation(len(commits), behind),
        "ahead_by": len(commits),
        "behind_by": behind,
        "total_commits": len(commits),
        "commits": [commit(site, repository, info) for info in reversed(commits)],
        "files": [changed_file(site, repository, change, head) for change in files],
    }


def content(site: ServedRoot, repository: RepositoryRecord, entry: TreeEntry, ref: str) -> Json:
    """A file or a directory at `ref`."""
    path, place, is_directory = quote(entry.path), quote(ref), entry.kind == "tree"
    url = f"{site.api(repository)}/contents/{path}?ref={place}"
    page = f"{site.html(repository)}/blob/{place}/{path}"
    git = f"{site.api(repository)}/git/blobs/{entry.sha}"
    return {
        "type": "dir" if is_directory else "file",
        "size": entry.size or 0,
        "name": entry.path.rpartition("/")[2],
        "path": entry.path,
        "sha": entry.sha,
        "url": url,
        "git_url": git,
        "html_url": page,
        "download_url": None if is_directory else f"{site.html(repository)}/raw/{place}/{path}",
        "_links": {"self": url, "git": git, "html": page},
    }


def file(entry: Json, data: bytes) -> Json:
    """A file with its content."""
    return {**entry, "encoding": "base64", "content": base64.encodebytes(data).decode()}


def _tree_entry(git: str, entry: TreeEntry) -> Json:
    shown: Json = {"path": entry.path, "mode": entry.mode, "type": entry.kind, "sha": entry.sha}
    size = {} if entry.size is None else {"size": entry.size}
    url = {} if entry.kind == "commit" else {"url": f"{git}/{entry.kind}s/{entry.sha}"}
    return {**shown, **size, **url}


def _relation(ahead: int, behind: int) -> str:
    match bool(ahead), bool(behind):
        case True, True:
            return "diverged"
        case True, False:
            return "ahead"
        case False, True:
            return "behind"
        case _:
            return "identical"


def _person(signature: Signature) -> Json:
    return {"name": signature.name, "email": signature.email, "date": f"{signature.date:%Y-%m-%dT%H:%M:%SZ}"}


def _parent(site: ServedRoot, repository: RepositoryRecord, sha: str) -> Json:
    return {
        "sha": sha,
        "url": f"{site.api(repository)}/commits/{sha}",
        "html_url": f"{site.html(repository)}/commit/{sha}",
    }
