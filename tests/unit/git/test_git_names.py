"""Names that reach a git command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared.git import names

OID = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize("text", ["refs/heads/main", "refs/heads/-x", "refs/ack/worker/42", "refs/heads/é"])
def test_full_refs_pass(text: str) -> None:
    assert names.ref(text) == text
    assert names.revision(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("main", "-x", "--upload-pack=x", "", "refs", "refs/", "refs/heads/", "refs/heads//x", "/refs/heads/x"),
        *("refs/heads/a..b", "refs/heads/a b", "refs/heads/a\nb", "refs/heads/a~1", "refs/heads/a:b", "refs/heads/*"),
        *("refs/heads/.a", "refs/heads/a.lock", "refs/heads/a.lock/b", "refs/heads/a@{1}", "refs/heads/a\\b"),
        *("refs/heads/a.", "refs/heads/a?", "refs/heads/a[", "refs/heads/a^", "refs/heads/a\x7f"),
    ],
)
def test_what_git_would_not_take_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a full ref name"):
        names.ref(text)


def test_only_whole_object_ids_pass() -> None:
    assert names.oid(OID) == names.revision(OID) == OID
    assert names.oid(OID + "0" * 24) == OID + "0" * 24
    for text in (OID[:39], OID.upper(), OID + "0", "HEAD", "-" + OID[1:]):
        with pytest.raises(ValueError, match="is not a whole object id"):
            names.revision(text)


@pytest.mark.parametrize("name", ["acme/app", "a-b/c.d", "acme/.github", "acme/_x"])
def test_a_mirror_and_a_workspace_lie_below_their_roots(name: str) -> None:
    mirror = names.mirror_path(Path("/s/mirrors"), "github.com", name)
    assert mirror == Path(f"/s/mirrors/github.com/{name}.git")
    workspace = names.workspace_path(Path("/s/workspaces"), name, 42)
    assert workspace == Path("/s/workspaces") / name.replace("/", "__") / "issue-42"


@pytest.mark.parametrize(
    "name", ["acme", "acme/", "/app", "acme/..", "acme/.", "../app", "acme/a/b", "acme/a\nb", "a b/c"]
)
def test_a_name_that_leads_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="is not owner/repository"):
        names.mirror_path(Path("/s"), "github.com", name)
    with pytest.raises(ValueError, match="is not owner/repository"):
        names.workspace_path(Path("/s"), name, 1)


@pytest.mark.parametrize("host", ["", "..", "a/b", "-x", "host:", "a b"])
def test_a_host_that_is_none_is_refused(host: str) -> None:
    with pytest.raises(ValueError, match="is not a host name"):
        names.mirror_path(Path("/s"), host, "acme/app")


def test_a_host_may_have_a_port() -> None:
    assert names.mirror_path(Path("/s"), "127.0.0.1:8080", "a/b") == Path("/s/127.0.0.1:8080/a/b.git")
