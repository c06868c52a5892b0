"""The smallest project that the engine can work on: tests are shell scripts, so that running them costs nothing."""

from __future__ import annotations

from string import Template
from typing import Any

_CHECK = """\
#!/bin/sh
# Runs tests/test_*.sh and writes JUnit XML: the project's own test command.
{
  echo '<testsuite name="all">'
  for file in tests/test_*.sh; do
    if sh "$file" >/dev/null 2>&1
    then echo "<testcase file='$file' classname='shell' name='passes'/>"
    else echo "<testcase file='$file' classname='shell' name='passes'><failure message='exit $?'/></testcase>"
    fi
  done
  echo '</testsuite>'
} > report.xml
"""

FILES = {
    "README.md": "# Greetings\n",
    "check.sh": _CHECK,
    "tests/test_readme.sh": "test -f README.md\n",
    ".gitignore": "report.xml\n",
}
"""Path -> content."""

SETTINGS: dict[str, Any] = {
    "llm_backend": "scripted",
    "test_command": "sh check.sh",
    "test_report": "report.xml",
    "approval": "auto",
    "refactor": "off",
    "merge": "auto",
    "poll_interval": 0.5,
}
"""The engine's settings for it: everything to the merge, without a person."""

CI = "true"
"""Command of its CI."""

_SCRIPT = Template("""\
- call: plan
  for: greet $name
  answer:
    summary: A file with a greeting.
    complexity: low
    estimate_hours: 1
    steps:
      - {id: s1, title: Write a test, files: [tests/test_$name.sh], depends_on: []}
      - {id: s2, title: Write the greeting, files: [$name.txt], depends_on: [s1]}
      - {id: s3, title: Look at it, files: [$name.txt], depends_on: [s2]}
    ambiguities: []
    options:
      - {title: A file, tradeoff: Simple., chosen: true}
      - {title: A program, tradeoff: More to maintain., chosen: false}
    specifications:
      - key: $name
        title: Greet $name kindly
        goal: Whoever comes is greeted.
        criteria: ["$name.txt says hello."]
        files: [$name.txt, tests/test_$name.sh]
        kind: feature
        may_change: []
        out_of_scope: [Anything else.]
        depends_on: []

- call: write_tests
  for: greet $name
  text: One test.
  edits:
    - path: tests/test_$name.sh
      content: |
        grep -q hello $name.txt

- call: implement
  for: greet $name
  attempt: 1
  text: Done.
  edits:
    - path: $name.txt
      content: |
        hello, $name

- call: review
  for: greet $name
  round: 0
  answer:
    verdict: approved
    summary: It greets.
    findings: []
    criteria:
      - {id: AC1, met: true, note: test_$name}
    breaking_change: {breaks: false, why: ""}

- call: check_criteria
  for: greet $name
  answer:
    criteria:
      - {id: AC1, met: true, note: test_$name was red before}
""")


def title(name: str) -> str:
    """Return the title of the story or issue of that name; no title may be a part of another."""
    return f"Greet {name}"


def scenario(*names: str) -> str:
    """The coder's script for one issue per name, each right at once."""
    return "\n".join(_SCRIPT.substitute(name=name) for name in names)
