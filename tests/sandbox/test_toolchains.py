"""Toolchains from Debian's packages in bubblewrap: each finds its own settings there."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sandbox.cell import Cell
from shared.sandbox.bubblewrap_sandbox import FileSystemView

SETTINGS = Path("/etc/maven/settings.xml")

PHP_TEST = """<?php
class SumTest extends PHPUnit\\Framework\\TestCase {
    public function testSum(): void { $this->assertSame(3, mb_strlen("a\u00e4b")); }
}
"""

WORKS = {
    "phpunit": (("phpunit", "--no-configuration", "SumTest.php"), "OK (1 test, 1 assertion)"),
    "mvn": (("mvn", "--version"), "Maven home: /usr/share/maven"),
    "gradle": (("gradle", "--version"), "Groovy:"),
    "javac": (("javac", "-version"), "javac "),
    "ruby": (("ruby", "-rminitest", "-e", "puts Minitest::VERSION"), "5."),
    "rspec": (("rspec", "--version"), "rspec-core"),
    "bats": (("bats", "--version"), "Bats "),
    "go": (("go", "vet", "sum.go"), ""),
    "perl": (("perl", "-MTest::More", "-e", "ok(1); done_testing"), "ok 1"),
    "node": (("node", "-e", "require('node:test'); console.log('found')"), "found"),
}
"""Program -> a command that needs more than its binary, and what it says."""


@pytest.mark.parametrize("program", WORKS)
async def test_a_toolchain_of_the_system_works(sealed: Cell, program: str) -> None:
    command, said = WORKS[program]
    if shutil.which(program, path="/usr/bin:/bin") is None:
        pytest.skip(f"{program} is not installed")
    (sealed.tree / "SumTest.php").write_text(PHP_TEST)
    (sealed.tree / "sum.go").write_text("package sum\n\nfunc Sum(a, b int) int { return a + b }\n")
    start = f'cd "{sealed.tree}" && HOME="$PWD" exec "$@"'
    ran = await sealed.with_view(FileSystemView((sealed.tree,)), "/bin/sh", "-c", start, "sh", *command)
    assert (ran.code, ran.limit) == (0, None), ran.text
    assert said in ran.text


@pytest.mark.skipif(not SETTINGS.exists(), reason="Maven of Debian is not installed")
async def test_settings_with_passwords_are_not_there(sealed: Cell) -> None:
    look = "import os, sys; print(*map(os.path.exists, sys.argv[1:]))"
    ran = await sealed.run(look, SETTINGS, SETTINGS.with_name("m2.conf"))
    assert (ran.code, ran.text.strip()) == (0, "False True")
