"""Repositories, permissions, branches and refs as GitHub's JSON."""

from __future__ import annotations

from lab.github.wire.site import Json, ServedRoot, node, stamp
from lab.github.world.accounts import AccountRecord
from lab.github.world.repository import Protection, RepositoryRecord

_URLS = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}

_COUNTS = ("forks", "forks_count", "stargazers_count", "watchers", "watchers_count", "network_count", "size")

_FLAGS = {
    "fork": False,
    "is_template": False,
    "has_issues": True,
    "has_projects": False,
    "has_wiki": False,
    "has_pages": False,
    "has_downloads": False,
    "has_discussions": False,
    "disabled": False,
    "allow_forking": True,
    "allow_auto_merge": False,
    "allow_update_branch": False,
    "use_squash_pr_title_as_default": True,
    "delete_branch_on_merge": False,
    "web_commit_signoff_required": False,
}


_MERGE_TEXTS = {
    "squash_merge_commit_title": "PR_TITLE",
    "squash_merge_commit_message": "BLANK",
    "merge_commit_title": "MERGE_MESSAGE",
    "merge_commit_message": "PR_TITLE",
}
"""Title and message of a merge, unless its caller gives them."""

_OPEN_DOORS = (
    *("required_linear_history", "allow_force_pushes", "allow_deletions", "block_creations"),
    *("lock_branch", "allow_fork_syncing"),
)
"""Other settings of a branch on GitHub; in the lab none of them is ever on."""


def repository(site: ServedRoot, record: RepositoryRecord, *, viewer: str | None = None) -> Json:
    """A repository with every field of GitHub's long form; `viewer` adds that account's permissions."""
    facts = record.facts
    open_issues = sum(issue.open for issue in record.issues.records.values())
    nothing: Json = dict.fromkeys(("description", "homepage", "language", "license", "mirror_url"))
    return {
        "id": facts.id,
        "node_id": node("R", facts.id),
        "name": facts.name,
        "full_name": facts.full_name,
        "owner": site.actor(facts.owner),
        "private": facts.private,
        "visibility": "private" if facts.private else "public",
        **_urls(site, record),
        **nothing,
        **dict.fromkeys(_COUNTS, 0),
        **_FLAGS,
        **_MERGE_TEXTS,
        "allow_squash_merge": "squash" in facts.merge_methods,
        "allow_merge_commit": "merge" in facts.merge_methods,
        "allow_rebase_merge": "rebase" in facts.merge_methods,
        "archived": facts.archived,
        "topics": [],
        "default_branch": facts.default_branch,
        "open_issues": open_issues,
        "open_issues_count": open_issues,
        "subscribers_count": 0,
        "created_at": stamp(facts.created_at),
        "updated_at": stamp(record.pushed_at),
        "pushed_at": stamp(record.pushed_at),
        **({} if viewer is None else {"permissions": _permissions(record, viewer)}),
    }


def permission(site: ServedRoot, record: RepositoryRecord, account: AccountRecord) -> Json:
    """Show an account's permission in a repository."""
    level = record.facts.level(account.login)
    return {"permission": level, "role_name": level, "user": collaborator(site, record, account)}


def collaborator(site: ServedRoot, record: RepositoryRecord, account: AccountRecord) -> Json:
    """An account with its role in a repository."""
    role = record.facts.level(account.login)
    return {**site.person(account), "role_name": role, "permissions": _permissions(record, account.login)}


def ref(site: ServedRoot, record: RepositoryRecord, name: str, sha: str) -> Json:
    """A git ref that points to a commit."""
    return {
        "ref": name,
        "node_id": node("REF", name),
        "url": f"{site.api(record)}/git/{name}",
        "object": {"sha": sha, "type": "commit", "url": f"{site.api(record)}/git/commits/{sha}"},
    }


def short_branch(site: ServedRoot, record: RepositoryRecord, name: str, sha: str) -> Json:
    """A branch as it stands in a list."""
    return {
        "name": name,
        "commit": {"sha": sha, "url": f"{site.api(record)}/commits/{sha}"},
        "protected": name in record.facts.protections,
    }


def branch(site: ServedRoot, record: RepositoryRecord, name: str, commit: Json) -> Json:
    """A branch with its newest commit."""
    protection = record.facts.protections.get(name)
    url = f"{site.api(record)}/branches/{name}"
    return {
        "name": name,
        "commit": commit,
        "_links": {"self": url, "html": f"{site.html(record)}/tree/{name}"},
        "protected": protection is not None,
        "protection": {
            "enabled": protection is not None,
            "required_status_checks": _contexts(protection.checks if protection else ()),
        },
        "protection_url": f"{url}/protection",
    }


def protection(site: ServedRoot, record: RepositoryRecord, name: str, rules: Protection) -> Json:
    """Show the requirements of a protected branch for a merge."""
    url = f"{site.api(record)}/branches/{name}/protection"
    reviews = {
        "url": f"{url}/required_pull_request_reviews",
        "dismiss_stale_reviews": rules.dismiss_stale,
        "require_code_owner_reviews": rules.code_owners,
        "required_approving_review_count": rules.approvals,
        "require_last_push_approval": rules.last_push,
    }
    return {
        "url": url,
        **({"required_status_checks": required_checks(site, record, name, rules)} if rules.checks else {}),
        **({"required_pull_request_reviews": reviews} if rules.reviews else {}),
        "required_signatures": {"url": f"{url}/required_signatures", "enabled": False},
        "required_conversation_resolution": {"enabled": rules.conversations},
        **{name: {"enabled": False} for name in _OPEN_DOORS},
        "enforce_admins": {"url": f"{url}/enforce_admins", "enabled": True},
    }


def required_checks(site: ServedRoot, record: RepositoryRecord, name: str, rules: Protection) -> Json:
    """The checks that a protected branch asks of a merge."""
    url = f"{site.api(record)}/branches/{name}/protection/required_status_checks"
    return {"url": url, "strict": rules.strict, "contexts_url": f"{url}/contexts", **_contexts(rules.checks)}


def rules(record: RepositoryRecord, name: str) -> list[Json]:
    """The rules that hold for a branch; the lab's protections shown as rulesets."""
    protected = record.facts.protections.get(name)
    if protected is None or protected.hidden:
        return []
    queue = [{"type": "merge_queue"}] if protected.merge_queue else []
    checks = [{"context": context} for context in protected.checks]
    return [
        {
            "type": "pull_request",
            "parameters": {
                "required_approving_review_count": protected.approvals,
                "dismiss_stale_reviews_on_push": protected.dismiss_stale,
                "require_code_owner_review": protected.code_owners,
                "require_last_push_approval": protected.last_push,
                "required_review_thread_resolution": protected.conversations,
            },
        },
        {
            "type": "required_status_checks",
            "parameters": {
                "required_status_checks": checks,
                "strict_required_status_checks_policy": protected.strict,
            },
        },
        *queue,
    ]


def _urls(site: ServedRoot, record: RepositoryRecord) -> Json:
    api, page = site.api(record), site.html(record)
    return {
        "html_url": page,
        "url": api,
        **dict.fromkeys(("clone_url", "git_url", "ssh_url"), f"{page}.git"),
        "svn_url": page,
        **{key: api + suffix for key, suffix in _URLS.items()},
    }


def _contexts(checks: tuple[str, ...]) -> Json:
    return {
        "enforcement_level": "everyone" if checks else "off",
        "contexts": list(checks),
        "checks": [{"context": context, "app_id": None} for context in checks],
    }


def _permissions(record: RepositoryRecord, login: str) -> Json:
    wanted = {"admin": "admin", "maintain": "admin", "push": "write", "triage": "write", "pull": "read"}
    return {name: record.facts.reaches(login, level) for name, level in wanted.items()}
