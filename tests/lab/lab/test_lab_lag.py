"""Replicas that lag: the first reads after a change do not know of it, whoever asks again does, by a seed."""

from __future__ import annotations

from pathlib import Path

from judge import Judge
from lab_scene import Scene, scene_at

from lab.github.fault_injection.lag import CAUGHT_UP_SECONDS, How


async def answers(scene: Scene, path: str, times: int = 4) -> list[int]:
    return [(await scene.ask("GET", path)).status for _ in range(times)]


async def made(scene: Scene, share: float = 1.0, seed: int = 1) -> int:
    scene.lab.lag.begin(seed, share=share)
    return int((await scene.ask("POST", "issues", {"title": "Hello"})).body["number"])


async def test_a_new_issue_is_there_at_the_second_or_third_look(scene: Scene) -> None:
    number = await made(scene)
    first, *rest = await answers(scene, f"issues/{number}")
    assert first == 404
    assert rest[-1] == 200
    assert scene.lab.lag.counts[How.NOT_FOUND] in {1, 2}


async def test_without_a_share_and_some_seconds_later_everything_is_there(scene: Scene) -> None:
    assert await answers(scene, f"issues/{await made(scene, share=0)}") == [200] * 4
    number = await made(scene)
    scene.lab.clock.advance(CAUGHT_UP_SECONDS)
    assert await answers(scene, f"issues/{number}") == [200] * 4


async def test_a_label_change_is_followed_by_an_older_copy_with_its_own_tag(scene: Scene) -> None:
    number = await made(scene, share=0)
    scene.lab.lag.begin(3, share=1)
    before = await scene.ask("GET", f"issues/{number}")
    await scene.ask("POST", f"issues/{number}/labels", {"labels": ["bug"]})
    late = await scene.ask("GET", f"issues/{number}")
    assert late.body["labels"] == []
    assert late.headers["ETag"] == before.headers["ETag"]
    looks = [await scene.ask("GET", f"issues/{number}") for _ in range(3)]
    assert [one["name"] for one in looks[-1].body["labels"]] == ["bug"]


async def test_a_pushed_commit_is_unknown_to_the_checks_at_first(scene: Scene) -> None:
    scene.lab.lag.begin(5, share=1)
    sha = await scene.commit("work", {"a.txt": "a"})
    seen = [(await scene.ask("GET", f"commits/{sha}/check-runs")) for _ in range(4)]
    assert seen[-1].status == 200
    assert scene.lab.lag.counts.total() in {1, 2}


async def test_the_same_seed_lags_in_the_same_way(tmp_path: Path) -> None:
    told = []
    for name in ("one", "two"):
        async with scene_at(tmp_path / name, Judge()) as scene:
            numbers = [await made(scene, share=0.5, seed=11)] + [await made_more(scene) for _ in range(5)]
            told.append([await answers(scene, f"issues/{number}", 3) for number in numbers])
    assert told[0] == told[1]
    assert {status for row in told[0] for status in row} == {200, 404}


async def made_more(scene: Scene) -> int:
    return int((await scene.ask("POST", "issues", {"title": "Hello"})).body["number"])


async def test_it_is_set_over_http(scene: Scene) -> None:
    headers = {"Authorization": f"Bearer {scene.lab.admin_token}"}
    url = f"{scene.lab.url}/_lab/lag"
    async with scene.http.post(url, json={"seed": 2, "share": 1.0}, headers=headers) as answer:
        assert answer.status == 204
    number = await made_more(scene)
    assert (await answers(scene, f"issues/{number}", 1)) == [404]
    async with scene.http.post(url, json={"speed": 2}, headers=headers) as answer:
        assert answer.status == 422


async def test_a_label_change_by_graphql_is_late_in_rest_too(scene: Scene) -> None:
    number = await made(scene, share=0)
    await scene.ask("POST", f"issues/{number}/labels", {"labels": ["bug"]})
    issue = (await scene.ask("GET", f"issues/{number}")).body
    scene.lab.lag.begin(3, share=1)
    await scene.ask("GET", f"issues/{number}")
    change = "mutation Unlabel($item: ID!, $off: [ID!]!) { removeLabelsFromLabelable("
    query = f"{change}input: {{labelableId: $item, labelIds: $off}}) {{ clientMutationId }} }}"
    variables = {"item": issue["node_id"], "off": [issue["labels"][0]["node_id"]]}
    done = await scene.ask("POST", "/graphql", {"query": query, "variables": variables})
    assert "errors" not in done.body
    looks = [(await scene.ask("GET", f"issues/{number}")).body["labels"] for _ in range(4)]
    assert len(looks[0]) == 1
    assert looks[-1] == []
