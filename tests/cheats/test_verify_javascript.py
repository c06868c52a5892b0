"""`verify` on JavaScript projects: honest work is confirmed, what is not as claimed is named, with vitest and jest."""

from __future__ import annotations

from pathlib import Path

import node_corpus
import pytest
from node_tools import command, offer, project, tools
from verify_scene import examined


@pytest.mark.parametrize(
    ("runner", "claim"),
    [("vitest", "honest"), ("jest", "honest"), ("jest", "red by its import alone"), ("vitest", "not green")],
)
async def test_a_claim_is_examined(tmp_path: Path, runner: str, claim: str, capsys: pytest.CaptureFixture[str]) -> None:
    good = {**node_corpus.honest(runner), **node_corpus.code(runner, node_corpus.WORKS)}
    red = node_corpus.red(runner, "")
    change, what = {
        "honest": (good, {}),
        "red by its import alone": (
            {**good, **red["is red by its import alone"][0]},
            {"weak": node_corpus.DAMAGED},
        ),
        "not green": ({**good, **node_corpus.code(runner, node_corpus.EMPTY)}, {"green": "search"}),
    }[claim]
    modules = tools()
    offer(modules, tmp_path)
    files = {path: text for path, text in change.items() if text is not None}
    code, found = await examined(tmp_path, project(runner), files, capsys=capsys, test_command=command(runner, modules))
    assert code == (0 if claim == "honest" else 1), found
    assert found.keys() >= what.keys()
    for name, word in what.items():
        assert any(word in sentence for sentence in found[name]), found
