"""The check of a replayed recording: as often red as it was, wherever the replay lies."""

from __future__ import annotations

from pathlib import Path

from console.demo.replay import red_once
from shared.process import run


async def test_the_check_is_red_as_often_as_it_was_and_then_green(tmp_path: Path) -> None:
    place = tmp_path / "o'brien's place"
    place.mkdir()
    check = f"{red_once(place / 'ci-0')}{red_once(place / 'ci-1')}true"
    codes = [(await run(("/bin/sh", "-c", check), cwd=tmp_path, env={"PATH": "/usr/bin:/bin"})).code for _ in range(4)]
    assert codes == [1, 1, 0, 0]
    assert sorted(path.name for path in place.iterdir()) == ["ci-0", "ci-1"]
