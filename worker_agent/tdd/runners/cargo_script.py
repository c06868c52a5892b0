"""The shell script that calls cargo: it builds, lists the built targets, and runs each target with its name before it.

Cargo runs each test binary behind `$runner`, which writes the binary's path, lets it report as JSON (an unstable option
of the harness, allowed for the binary alone), and writes its exit code. If a target cannot be built, the others run.
Cargo detects changed files by their times: all are new, so that nothing built from another checkout counts as fresh.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

DOCTESTS = "doctests"
"""The name of the documentation's tests in place of a binary's path."""


@dataclass(frozen=True, slots=True)
class CargoCall:
    """The parts of a call of `cargo test`.

    `cargo` is the program with the words before `test`. `chosen` are the targets of a selection, one after another;
    empty for all that `targets` names. `doctests` is None if they are left out, else the words that choose them.
    """

    cargo: Sequence[str]
    options: Sequence[str] = ()
    packages: Sequence[str] = ()
    targets: Sequence[str] = ()
    arguments: Sequence[str] = ()
    chosen: Sequence[Sequence[str]] = ()
    doctests: Sequence[str] | None = None
    without_harness: Collection[str] = field(default_factory=tuple)


_RUN = (
    r"""[ -z "$CLOCK_LIBRARY" ] || export LD_PRELOAD="$CLOCK_LIBRARY"; """
    r"""printf '\n{"target":"%s"}\n' "$1"; case "${1##*/}" in CUSTOM) "$@"; code=$?;; """
    r"""*) said=$(mktemp); """
    r"""RUSTC_BOOTSTRAP=1 "$@" -Z unstable-options --format json --report-time 2>"$said"; code=$?; """
    r"""cat "$said" >&2; grep -a "has overflowed its stack" "$said"; rm -f "$said";; esac; """
    r"""printf '\n{"target":"%s","code":%s}\n' "$1" $code; exit $code"""
)

# A shifted clock is for the tests alone: the compiler waits for ever with libfaketime in it.
_BEGIN = """export CLOCK_LIBRARY="$LD_PRELOAD"; unset LD_PRELOAD
exec 3>"$0"; printf '%s\\n' "$1" >&3; failed=0
cargo() { {CARGO} "$@"; }
find . -name .git -prune -o -type f -exec touch -c {} +
host=$(cargo -vV | sed -n 's/^host: //p')
runner="target.$host.runner="{RUNNER}
run() { cargo test --no-fail-fast --message-format json --config "$runner" {OPTIONS} "$@" >&3 || failed=1; }
"""

_WHOLE = """if cargo test --no-run --message-format json {OPTIONS} {PACKAGES} {TARGETS} >"$0.built"; then
cat "$0.built" >&3; {RUN_WHOLE}
else
failed=1; keep="--keep-going"
case "$(cargo build -h)" in
*--keep-going*unstable*) export RUSTC_BOOTSTRAP=1; keep="-Z unstable-options --keep-going";;
esac
cargo build --tests $keep --message-format json {OPTIONS} {PACKAGES} >"$0.built"; cat "$0.built" >&3
{GOOD} <"$0.built" | sort -u | while read -r kind name package; do
case "$package" in *" "*) package=${package%% *};; esac
case "$kind" in
test|bin|example) run -p "$package" "--$kind" "$name" {ARGUMENTS};;
bench) ;;
*) run -p "$package" --lib {ARGUMENTS};;
esac </dev/null; done; fi
"""

_GOOD = (
    r's/.*"package_id":"\([^"]*\)".*"target":{"kind":\["\([^"]*\)".*"name":"\([^"]*\)","src_path".*'
    r'"profile":{[^}]*"test":true}.*"executable":"[^"]*".*/\2 \3 \1/p'
)

_DOCUMENTED = """printf '\\n{"target":"doctests"}\\n' >&3
cargo test --doc --no-fail-fast {OPTIONS} {PACKAGES} -- {WORDS} >&3 2>"$0.doc"; code=$?
cat "$0.doc" >&2
if grep -q "no library targets found" "$0.doc"; then code=0; elif [ $code -ne 0 ]; then failed=1; fi
printf '\\n{"target":"doctests","code":%s}\\n' $code >&3
"""


def script(call: CargoCall) -> str:
    """Return the script for `/bin/sh -c`: `$0` is the report, `$1` its first line. It ends with 1 on any failure."""
    custom = "|".join(f"{name.replace('-', '[-_]')}-*" for name in sorted(call.without_harness)) or "''"
    runner = json.dumps(["/bin/sh", "-c", _RUN.replace("CUSTOM", custom), "sh"])
    arguments = shlex.join(["--", *call.arguments])
    parts = [_BEGIN]
    if call.chosen:
        parts += [f"run {shlex.join(target)} {arguments}\n" for target in call.chosen]
    elif tuple(call.targets) != ("--doc",):
        parts.append(_WHOLE)
    if call.doctests is not None:
        parts.append(_DOCUMENTED)
    filled = {
        "CARGO": shlex.join(["command", *call.cargo] if call.cargo[0] == "cargo" else call.cargo),
        "RUNNER": shlex.quote(runner),
        "RUN_WHOLE": "run {PACKAGES} {TARGETS} {ARGUMENTS}",
        "GOOD": f"sed -n {shlex.quote(_GOOD)}",
        "OPTIONS": shlex.join(call.options),
        "PACKAGES": shlex.join(call.packages),
        "TARGETS": shlex.join(call.targets),
        "ARGUMENTS": arguments,
        "WORDS": shlex.join([*call.arguments, *(call.doctests or ())]),
    }
    text = "".join(parts)
    for word, value in filled.items():
        text = text.replace(f"{{{word}}}", value)
    return f"{text}exit $failed\n"
