"""The faults that keep a task from beginning, all told at once, and its one effect on a repository: a branch."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from engine import OWNER, WRITES
from local_project import CODE, SPECIFICATION, TESTS, Project

from console.tdd import preflight, task_run
from console.tdd.checkout import Checkout, Diverged
from console.tdd.inputs import Findings, Unready, start, still_ours
from console.tdd.own_github import Stuck, check_stuck
from console.tdd.task import Records, State, Task, TddOptions
from lab.github.repositories.bare import Bare
from lab.github.server import Lab
from shared.errors import Misconfigured

EMPTY = ("commit", "--quiet", "--allow-empty", "-m", "Two")


@pytest.fixture
async def project(tmp_path: Path) -> Project:
    made = await Project.made(tmp_path)
    made.configured(TESTS + CODE)
    return made


async def at(project: Project, directory: Path | None = None) -> Checkout:
    return await Checkout.around(directory or project.top, project.variables())


async def look(project: Project, variables: Mapping[str, str] | None = None, **options: Any) -> preflight.Ready:
    asked = {"specification": project.outside / "SPEC.md", "config": project.outside / "config.yml", **options}
    return await preflight.ready(TddOptions(**asked), await at(project), variables or project.variables())


async def refused(project: Project, **options: Any) -> Unready:
    """Return the refusal of a task; assert that nothing was written."""
    before = await project.photograph()
    with pytest.raises(Unready) as caught:
        await look(project, **options)
    assert await project.photograph() == before
    assert not (project.top / ".workflow").exists()
    assert not (project.outside / "state").exists()
    return caught.value


async def test_everything_that_is_wrong_is_said_at_once(project: Project) -> None:
    project.text("SPEC.md", " \n")
    project.write("new.txt", "Not committed.\n")
    told = await refused(project, branch="trunk", llm="claude", base="nowhere")
    assert not told.credentials
    said = str(told)
    for part in ("SPEC.md is empty", "'trunk' is checked out", "no branch 'nowhere'", "ANTHROPIC_API_KEY"):
        assert part in said
    assert said.count("error: ") == len(told.errors) >= 4
    assert "new.txt" in said


async def test_a_missing_key_alone_is_a_matter_of_credentials(project: Project) -> None:
    program = project.text("claude", "#!/bin/sh\n")
    program.chmod(0o755)
    project.configured(TESTS, claude_cli=str(program))
    told = await refused(project, llm="claude")
    assert told.credentials
    assert len(told.errors) == 1


async def test_a_token_that_github_does_not_know_is_noticed_before_anything_is_paid_for(project: Project) -> None:
    async with Lab(project.outside / "real") as lab:
        await lab.repository("ada/greetings", {"README.md": "One.\n"}, default_branch="trunk")
        await project.git("remote", "add", "origin", lab.git_url("ada/greetings"))
        project.configured(TESTS, github={"api_url": lab.url})
        with pytest.raises(Unready, match="--local") as caught:
            await look(project, project.variables("ghp_nobody"))
        assert caught.value.credentials
        mine = project.variables(lab.token(OWNER, WRITES))
        ready = await look(project, mine)
        assert (ready.order.name, ready.order.pull_request) == ("ada/greetings", True)
        assert ready.pull_settings is not None
        await project.git("branch", "here")
        with pytest.raises(Unready, match="has no branch 'here'"):
            await look(project, mine, base="here")


@pytest.mark.parametrize(
    ("commands", "options", "sentence"),
    [
        ([("checkout", "--quiet", "--detach")], {}, "say with --base"),
        ([("branch", "tdd")], {}, "the branches 'tdd' and 'tdd/"),
        ([("branch", "a/b")], {"branch": "a"}, "the branches 'a/b' and 'a'"),
        ([], {"branch": "no..name"}, "no name for a branch"),
        ([], {"branch": "@{-1}"}, "no name for a branch"),
        ([], {"branch": "-d"}, "no name for a branch"),
        ([("branch", "old"), EMPTY, ("branch", "new")], {"base": "old", "branch": "new"}, "commits of its own"),
        ([("worktree", "add", "--quiet", "../other", "-b", "other")], {"branch": "other"}, "'other' is checked out"),
        ([("remote", "add", "origin", "/srv/git/x")], {}, "--local"),
        ([("remote", "add", "origin", "git@git.example:ada/x.git")], {}, "github.api_url"),
    ],
)
async def test_what_git_has_to_say(
    project: Project, commands: list[tuple[str, ...]], options: dict[str, Any], sentence: str
) -> None:
    for command in commands:
        await project.git(*command)
    assert sentence in str(await refused(project, **options))


async def test_a_detached_head_and_a_branch_that_moves_forward_are_fine(project: Project) -> None:
    await project.git("branch", "old")
    tip = await project.commit_empty("Two")
    await project.git("checkout", "--quiet", "--detach")
    ready = await look(project, base="trunk", branch="old", local=True)
    assert (ready.order.commit, ready.order.pull_request) == (tip, False)
    assert any("moved forward" in warning for warning in ready.warnings)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("# Title\n\nDepends on #41\n", "#41"), ("x" * 70_000, "65536"), ("\ufeff\n", "is empty")],
)
async def test_a_specification_that_cannot_be_worked_on(project: Project, text: str, sentence: str) -> None:
    project.text("SPEC.md", text)
    assert sentence in str(await refused(project))


async def test_a_program_that_is_not_there_is_noticed_before_anything_is_paid_for(project: Project) -> None:
    said = str(await refused(project, test_command="nowhere-to-be-found -m pytest"))
    assert "no program `nowhere-to-be-found`" in said
    assert "--test-command" in said
    assert "no program `python`" not in str(await refused(project, base="nowhere"))
    (project.top / "pyproject.toml").write_text("")
    known = json.loads((project.outside / "config.yml").read_text())
    del known["repositories"][0]["test_command"], known["repositories"][0]["test_report"]
    project.text("config.yml", json.dumps(known))
    empty = project.outside / "empty"
    empty.mkdir()
    (empty / "git").symlink_to(shutil.which("git") or "")
    with pytest.raises(Unready, match=r"no program `python` .* --test-command"):
        await look(project, {**project.variables(), "PATH": str(empty)})
    ready = await look(project, {**project.variables(), "PATH": str(empty)}, test_command="./run-tests")
    assert ready.order.test_command == "./run-tests"


async def test_outside_of_a_repository_and_in_a_shallow_one(project: Project) -> None:
    with pytest.raises(Misconfigured, match="no git work tree"):
        await at(project, project.outside)
    with pytest.raises(Misconfigured, match="without a work tree"):
        await at(project, project.top / ".git")
    options = TddOptions(project.text("SPEC.md", ""), llm="claude", config=project.outside / "config.yml")
    with pytest.raises(Unready, match=r"(?s)no tree here.*SPEC\.md is empty.*ANTHROPIC_API_KEY") as caught:
        await preflight.without_checkout(options, "There is no tree here.", project.variables())
    assert caught.value.errors[0] == "There is no tree here."
    project.text("SPEC.md", SPECIFICATION)
    await project.commit_empty("Two")
    await project.git("clone", "--quiet", "--depth=1", project.top.as_uri(), str(project.outside / "cut"))
    shallow = Project(project.outside / "cut", project.outside)
    await shallow.git("remote", "remove", "origin")
    assert "fetch --unshallow" in str(await refused(shallow))


async def test_records_are_hidden_in_a_linked_work_tree_too(project: Project) -> None:
    tree = project.outside / "linked tree"
    await project.git("worktree", "add", "--quiet", str(tree), "-b", "linked")
    linked = await at(project, tree)
    assert linked.top == tree
    (project.top / ".git/info/exclude").write_text("*.log")
    await linked.exclude()
    await linked.exclude()
    assert (project.top / ".git/info/exclude").read_text() == "*.log\n/.workflow/\n"
    (tree / ".workflow").mkdir()
    (tree / ".workflow/task-x.json").write_text("{}")
    assert await linked.uncommitted() == ()


async def test_what_is_not_committed_is_named_but_for_the_specification(project: Project) -> None:
    (project.top / "SPEC.md").write_text("# Greet\n")
    (project.top / "half done").mkdir()
    (project.top / "half done/a.txt").write_text("a")
    (project.top / "README.md").write_text("changed\n")
    found = Findings()
    await start(await at(project), None, found, project.top / "SPEC.md")
    (warning,) = found.warnings
    assert warning == "Not committed, so not part of the work, and left as it is: README.md, half done/."


async def test_a_branch_comes_in_new_or_forward_and_never_where_somebody_works(project: Project) -> None:
    here, bare = await at(project), await Bare.create(project.outside / "o'brien's.git", "a/b", "main", {})
    await here.copy(await project.git("rev-parse", "HEAD"), bare.path, "main")
    one = await project.git("rev-parse", "trunk")
    tree = (await bare.git.check("rev-parse", "main^{tree}")).text
    message = "Two (#1)\n\nIssue: #1\nAgent: worker\nPhase: red\nRound: 0\n"
    head = (await bare.git.check("commit-tree", tree, "-p", one, "-m", message, env=_SIGNED)).text
    new = await task_run.rewritten(bare, one, head)
    assert new == await task_run.rewritten(bare, one, head)
    shown = (await bare.git.check("show", "--no-patch", "--format=%an%n%B", new)).text
    assert shown.split("\n")[:5] == ["workflow-engine", "Two (1)", "", "Phase: red", "Round: 0"]
    before = await project.photograph()
    await here.receive(bare.path, task_run.RESULT, "result")
    await here.receive(bare.path, task_run.RESULT, "result")
    assert await project.git("rev-parse", "result") == new
    with pytest.raises(Diverged, match="'trunk' is checked out"):
        await here.receive(bare.path, task_run.RESULT, "trunk")
    aside = (await bare.git.check("commit-tree", tree, "-p", one, "-m", "Another", env=_SIGNED)).text
    await bare.update_ref("refs/heads/main", aside.strip())
    with pytest.raises(Diverged, match=r"'result' was left as it is.*git fetch") as refused:
        await here.receive(bare.path, "refs/heads/main", "result")
    command = shlex.split(str(refused.value).partition("Take it yourself: ")[2])
    assert command == ["git", "fetch", str(bare.path), "refs/heads/main:refs/heads/NAME"]
    assert await project.git("rev-parse", "result") == new
    assert await project.photograph(without=["result"]) == before


async def test_the_rename_of_a_branch_that_is_advised_can_be_copied_whatever_its_name(project: Project) -> None:
    name, found = "o'brien's;work", Findings()
    ours, theirs = [
        await project.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", word) for word in ("Ours", "Theirs")
    ]
    await project.git("branch", name, theirs)
    await still_ours(await at(project), name, ours, found)
    ((sentence, _),) = found.errors
    assert shlex.split(sentence.split("`")[1]) == ["git", "branch", "-m", name, "NAME"]


async def test_a_branch_that_holds_the_work_already_is_not_moved_wherever_it_is(project: Project) -> None:
    here, bare = await at(project), await Bare.create(project.outside / "bare.git", "a/b", "main", {})
    await here.copy(await project.git("rev-parse", "HEAD"), bare.path, "main")
    tree = (await bare.git.check("rev-parse", "main^{tree}")).text
    made = (await bare.git.check("commit-tree", tree, "-p", "main", "-m", "Two", env=_SIGNED)).text
    await bare.update_ref(task_run.RESULT, made.strip())
    await here.receive(bare.path, task_run.RESULT, "result")
    await project.git("checkout", "--quiet", "result")
    for step in ((), EMPTY, ("checkout", "--quiet", "trunk")):
        if step:
            await project.git(*step)
        before, tip = await project.photograph(), await here.tip("result")
        await here.receive(bare.path, task_run.RESULT, "result")
        assert await here.tip("result") == tip
        assert await project.photograph() == before
    assert await here.contains("refs/heads/result", made.strip())


_SIGNED = {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


async def test_a_record_is_replaced_as_a_whole_and_what_is_none_is_left_out(project: Project) -> None:
    records, ready = Records(project.top), await look(project)
    task = Task(ready.task_id, "2026-11-22T10:00:00+00:00", str(project.outside), ready.order)
    records.write(task)
    records.write(Task(task.id, task.created_at, task.place, task.order, State.DONE))
    assert [file.name for file in records.directory.iterdir()] == [f"task-{task.id}.json"]
    (records.directory / "task-other.json").write_text('{"id": "other"}')
    assert [one.state for one in records.all()] == [State.DONE]
    for unknown in ("other", "../x", "none"):
        with pytest.raises(Misconfigured):
            records.read(unknown)


async def test_a_lab_that_is_killed_knows_what_it_has_answered(tmp_path: Path) -> None:
    async with Lab(tmp_path / "github", durable=True) as lab:
        await lab.repository("ada/x", {"a": "1\n"})
        head = {"Authorization": f"Bearer {lab.token('ada', WRITES)}"}
        async with aiohttp.ClientSession(headers=head) as session:
            reply = await session.post(f"{lab.url}/repos/ada/x/issues", json={"title": "Told"})
            assert reply.status == 201
        async with Lab(tmp_path / "github") as again:  # the first one still runs: nothing was saved at an end
            assert again.at("ada/x").issues.require(1).title == "Told"


async def test_a_lab_that_is_killed_catches_up_with_its_branches(tmp_path: Path) -> None:
    async with Lab(tmp_path / "github", durable=True) as lab:
        repository = await lab.repository("ada/x", {"a": "1\n"})
        main = await repository.bare.sha("main")
        assert main is not None
        await repository.bare.update_ref("refs/heads/work", main)
        thread = repository.issues.open("ada", "Pull", "", is_pull=True)
        repository.pulls.open(thread, ("work", main), ("main", main), draft=False)
        lab.save()
        tree = (await repository.bare.git.check("rev-parse", "main^{tree}")).text
        pushed = (await repository.bare.git.check("commit-tree", tree, "-p", main, "-m", "2", env=_SIGNED)).text
        await repository.bare.git.check("update-ref", "refs/heads/work", pushed)  # killed before it was told
        async with Lab(tmp_path / "github") as again:
            (pull,) = again.at("ada/x").pulls.records.values()
            assert pull.head_sha == pushed
            with pytest.raises(Stuck, match="worker#1 is paused"):
                await check_stuck(again.at("ada/x"), ["worker#1 is paused"])


async def test_a_set_up_that_cannot_be_run_is_noticed_before_anything_is_paid_for(project: Project) -> None:
    said = str(await refused(project, setup_command="uv sync && npm ci"))
    assert "setup_command 'uv sync && npm ci' uses '&&', but it is run without a shell" in said


async def test_the_set_up_that_was_named_counts_in_place_of_the_configured_one(project: Project) -> None:
    ready = await look(project, setup_command="uv sync")
    assert ready.settings.repositories[0].setup_command == "uv sync"
    assert ready.order.setup_command == "uv sync"


@pytest.mark.parametrize(
    ("option", "options"),
    [("--test-command", TddOptions(test_command="")), ("--setup-command", TddOptions(setup_command=" "))],
)
def test_a_command_without_words_is_refused_by_the_name_of_its_option(option: str, options: TddOptions) -> None:
    with pytest.raises(Misconfigured, match=f"^{option}: must not be empty"):
        options.check()
