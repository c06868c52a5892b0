"""`/retry backend=NAME` with two backends in one configuration: after the scripted one the real Claude Code goes on."""

from __future__ import annotations

from engine import OWNER, REPOSITORY, Engine
from worker_scene import TESTS, WRONG, calls, fence, pulls, status

from cli.coding import TOKEN, program
from lab.model.script import Script
from lab.model_server import ModelServer
from shared.scheduling.items import Result
from shared.workflow import Role

WRITES = {
    "name": "Write",
    "input": {"file_path": "{cwd}/directory/greeting.py", "content": "greet = 'Hello, {}'.format\n"},
}
MODEL = [{"for": "This is attempt 1 of", "turns": [{"say": "I greet.", "tools": [WRITES]}, {"say": "Done."}]}]


async def test_a_person_has_another_backend_go_on_from_the_same_tests(engine: Engine) -> None:
    engine.script(TESTS + WRONG)
    engine.repository_settings |= {"max_attempts": 1}
    async with ModelServer(Script.read(MODEL)) as server:
        engine.variables = {"ANTHROPIC_API_KEY": TOKEN, "ANTHROPIC_BASE_URL": server.url}
        engine.more_settings = {
            "claude_cli": str(program("claude", "0.2.187").resolve()),
            "roles": {"debugger": {"backend": "claude"}},
            "phases": {"diagnose": "generalist"},
        }
        number = engine.ready("Greet people")
        async with engine.agent(Role.WORKER) as worker:
            await engine.until(lambda: bool(worker.ended), worker)
            assert [one.result for one in worker.ended] == [Result.FAILED]
        red = (await fence(engine, number)).work_head
        assert server.journal == [], "the other backend was asked for nothing"
        engine.lab.comment(REPOSITORY, number, "/retry backend=claude", author=OWNER)
        async with engine.agent(Role.WORKER, state="machine-2") as other:
            await engine.in_time(lambda: bool(other.ended), other, seconds=90)
            assert [one.result for one in other.ended] == [Result.HANDED_OVER]
        assert len(server.journal) >= 2
        assert server.unscripted == []
    assert (await fence(engine, number)).backend == "claude"
    assert "and claude" in status(engine, number)
    assert calls(engine, "write_tests") == 1, "the tests are those that were written before"
    bare = engine.lab.at(REPOSITORY).bare
    assert red in {one.sha for one in await bare.log(None, pulls(engine)[0].head_sha, 4)}
