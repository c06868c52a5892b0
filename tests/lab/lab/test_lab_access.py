"""Permissions in the embedded GitHub, the cost of requests, and conditional answers."""

from __future__ import annotations

import pytest
from judge import Judge
from lab_scene import NAME, READ, WORK, Scene

from lab.github.world.accounts import CORE, GRAPHQL, HOUR


async def test_unknown_tokens_and_repositories(scene: Scene) -> None:
    scene.tokens["forged"] = "github_pat_forged"
    refused = await scene.ask("GET", "issues", by="forged")
    assert (refused.status, refused.body["message"]) == (401, "Bad credentials")
    assert "x-ratelimit-limit" not in refused.headers
    assert (await scene.ask("GET", "/repos/octo/nothing/issues")).status == 404


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "issues", {"title": "x"}),
        ("POST", "issues/1/comments", {"body": "x"}),
        ("POST", "git/refs", {"ref": "refs/heads/x", "sha": "0" * 40}),
        ("PUT", "pulls/1/merge", {}),
    ],
)
async def test_a_read_token_writes_nothing(scene: Scene, method: str, path: str, body: dict[str, str]) -> None:
    scene.lab.issue(NAME, "Here", author="ada")
    refused = await scene.ask(method, path, body, by="reader")
    assert (refused.status, refused.body["message"]) == (403, "Resource not accessible by personal access token")


async def test_a_private_repository_shows_itself_only_to_those_who_may(scene: Scene) -> None:
    scene.lab.configure(NAME, private=True)
    scene.tokens["narrow"] = scene.lab.token("ada", {"issues": "read"})
    assert (await scene.ask("GET", "", by="bob")).status == 404
    assert (await scene.ask("GET", "issues", by="narrow")).status == 200
    assert (await scene.ask("GET", "pulls", by="narrow")).status == 403


async def test_permissions_are_read_live(scene: Scene) -> None:
    expected = {"octo": "admin", "ada": "write", "bob": "read"}
    for login, level in expected.items():
        assert (await scene.get(f"collaborators/{login}/permission"))["permission"] == level
    scene.lab.configure(NAME, private=True, collaborators={"ada": "read"})
    assert (await scene.get("collaborators/ada/permission"))["permission"] == "read"
    assert (await scene.get("collaborators/bob/permission"))["permission"] == "none"
    assert (await scene.ask("POST", "issues/1/labels", {"labels": ["x"]})).status == 403
    assert (await scene.ask("GET", "collaborators/nobody/permission")).status == 404


async def test_an_app_is_nobody_but_may_work(scene: Scene) -> None:
    scene.lab.account("engine[bot]", bot=True)
    scene.lab.configure(NAME, collaborators={"ada": "write", "engine[bot]": "write"})
    scene.tokens["app"] = scene.lab.token("engine[bot]", WORK)
    scene.tokens["idle app"] = scene.lab.token("engine[bot]", READ)
    assert (await scene.ask("GET", "/user", by="app")).status == 403
    created = await scene.ask("POST", "issues", {"title": "By an App", "labels": ["a"]}, by="app")
    assert (created.body["user"]["type"], len(created.body["labels"])) == ("Bot", 1)
    refused = await scene.ask("POST", "issues", {"title": "x"}, by="idle app")
    assert refused.body["message"] == "Resource not accessible by integration"


async def test_who_am_i_and_who_is_that(scene: Scene) -> None:
    me = await scene.get("/user")
    assert me["login"] == "ada"
    assert (await scene.get("/users/ADA"))["id"] == me["id"]
    assert (await scene.ask("GET", "/users/nobody")).status == 404
    assert (await scene.get(""))["permissions"]["push"] is True


async def test_an_archived_repository_is_read_only(scene: Scene) -> None:
    scene.lab.configure(NAME, archived=True)
    refused = await scene.ask("POST", "issues", {"title": "x"})
    assert (refused.status, (await scene.get(""))["archived"]) == (403, True)


async def test_a_renamed_repository_redirects_by_id(scene: Scene) -> None:
    scene.lab.issue(NAME, "Here", author="ada")
    scene.lab.rename(NAME, "octo/other")
    moved = await scene.ask("GET", "issues?state=all")
    assert (moved.status, moved.body["message"]) == (301, "Moved Permanently")
    followed = await scene.ask("GET", moved.headers["Location"])
    assert [issue["title"] for issue in followed.body] == ["Here"]
    assert (await scene.get("/repos/octo/other"))["full_name"] == "octo/other"


async def test_the_former_name_of_a_branch_redirects_to_its_present_one(scene: Scene) -> None:
    scene.lab.configure(NAME, former_branches={"master": "main"})
    moved = await scene.ask("GET", "branches/master")
    assert (moved.status, moved.body["message"]) == (301, "Moved Permanently")
    followed = await scene.ask("GET", moved.headers["Location"])
    assert (followed.status, followed.body["name"]) == (200, "main")
    assert (await scene.ask("GET", "branches/another")).status == 404


async def test_an_unchanged_answer_is_304_and_free(scene: Scene) -> None:
    scene.lab.issue(NAME, "Here", author="ada")
    first = await scene.ask("GET", "issues")
    tag = first.headers["ETag"]
    assert tag.startswith('W/"')
    again = await scene.ask("GET", "issues", headers={"If-None-Match": tag})
    assert (again.status, again.text, "Link" in again.headers) == (304, "", False)
    assert again.headers["ETag"] == tag.removeprefix("W/")
    assert again.headers["x-ratelimit-used"] == first.headers["x-ratelimit-used"] == "1"
    scene.lab.label(NAME, 1, "new", actor="bob")
    changed = await scene.ask("GET", "issues", headers={"If-None-Match": tag})
    assert (changed.status, changed.headers["x-ratelimit-used"]) == (200, "2")


async def test_etags_are_bound_to_the_token_and_to_accept(scene: Scene) -> None:
    tag = (await scene.ask("GET", "issues")).headers["ETag"]
    for by, accept in (("reader", "*/*"), ("ada", "application/vnd.github+json")):
        answer = await scene.ask("GET", "issues", by=by, headers={"If-None-Match": tag, "Accept": accept})
        assert answer.status == 200


async def test_the_limit_is_counted_per_account_and_refuses(scene: Scene) -> None:
    scene.lab.world.quotas[CORE].limit = 3
    await scene.ask("GET", "issues")
    await scene.ask("GET", "issues", by="reader")
    free = (await scene.get("/rate_limit"))["rate"]
    assert (free["used"], free["remaining"]) == (2, 1)
    await scene.ask("GET", "issues")
    refused = await scene.ask("GET", "issues")
    assert (refused.status, refused.headers["x-ratelimit-remaining"]) == (403, "0")
    assert refused.body["message"].startswith("API rate limit exceeded")
    assert (await scene.ask("GET", "issues", by="octo")).status == 200
    scene.lab.clock.advance(HOUR)
    assert (await scene.ask("GET", "issues")).status == 200


async def test_graphql_has_an_hourly_limit_of_its_own(scene: Scene) -> None:
    scene.lab.world.quotas[GRAPHQL].limit = 1
    query = {"query": 'query Q { node(id: "nobody") { id } }'}
    first = await scene.ask("POST", "/graphql", query)
    assert (first.headers["x-ratelimit-resource"], first.headers["x-ratelimit-remaining"]) == ("graphql", "0")
    refused = await scene.ask("POST", "/graphql", query)
    assert (refused.status, list(refused.body)) == (200, ["errors"])
    assert refused.body["errors"][0]["type"] == "RATE_LIMIT"
    told = (await scene.get("/rate_limit"))["resources"]
    assert (told["graphql"]["remaining"], told["core"]["used"]) == (0, 0)


async def test_graphql_answers_while_the_hour_of_rest_is_used_up(scene: Scene) -> None:
    scene.lab.world.quotas[CORE].limit = 0
    assert (await scene.ask("GET", "issues")).status == 403
    answer = await scene.ask("POST", "/graphql", {"query": 'query Q { node(id: "nobody") { id } }'})
    assert (answer.status, answer.headers["x-ratelimit-remaining"]) == (200, "4999")
    assert "RATE_LIMIT" not in str(answer.body)


async def test_the_date_follows_the_labs_clock(scene: Scene) -> None:
    before = (await scene.ask("GET", "issues")).headers["Date"]
    scene.lab.clock.advance(7 * 24 * HOUR)
    after = await scene.ask("GET", "issues")
    assert before[:16] != after.headers["Date"][:16]
    assert after.headers["x-github-request-id"].startswith("LAB:")


async def test_a_body_that_is_no_json_is_refused_and_judged(scene: Scene, judge: Judge) -> None:
    url = f"{scene.lab.url}/repos/{NAME}/git/refs"
    sent = {"Authorization": f"Bearer {scene.tokens['ada']}"}
    before = len(scene.lab.exchanges)
    async with scene.http.post(url, data=b"{broken", headers=sent) as answer:
        assert (answer.status, (await answer.json())["message"]) == (400, "Problems parsing JSON")
    (exchange,) = list(scene.lab.exchanges)[before:]
    assert exchange.request_body == b"{broken"
    assert "the body is not JSON" in judge.complaints[0]
    judge.complaints.clear()
