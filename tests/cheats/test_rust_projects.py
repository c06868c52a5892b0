"""Rust's real toolchain on a small package: an honest cycle, what cannot be built, what crashes, and cheats."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from rust_corpus import BASE, CODE, INLINE_TEST, NEW, NOT_BUILT, PASSED, TEST
from toolchain import Checkout, failing, needed, outcomes

from worker_agent.tdd.runners.cargo_runner import CargoRunner
from worker_agent.tdd.runners.runner import Selection
from worker_agent.tdd.runners.test_run import CaseOutcome, FailureKind


@pytest.fixture
def package(tmp_path: Path) -> Checkout:
    needed("cargo", "rustc")
    made = Checkout(tmp_path, CargoRunner(), "cargo test")
    made.write(BASE)
    return made


async def test_an_honest_cycle_with_an_integration_test(package: Checkout) -> None:
    base = await package.run()
    assert (base.finished, base.code, outcomes(base)) == (True, 0, PASSED)

    red = await package.run({NEW: TEST})
    assert red.finished
    assert set(red.broken_files) == {NEW}
    assert red.broken_files[NEW].kind is FailureKind.FIRST_PARTY_IMPORT
    assert red.broken_files[NEW].first_line == "error[E0432]: unresolved import `small_shop::discount`"
    assert red.passed == base.passed, "every other target runs"

    green = await package.run({"src/lib.rs": BASE["src/lib.rs"] + CODE})
    assert green.finished
    assert green.passed - base.passed == {f"{NEW}::takes_a_part_off"}

    damaged = {"src/lib.rs": BASE["src/lib.rs"] + CODE.replace("price - ", "price + ")}
    run = await package.run(damaged, Selection(frozenset({NEW})))
    assert failing(run) == {f"{NEW}::takes_a_part_off"}
    result = run.results[f"{NEW}::takes_a_part_off"]
    assert (result.kind, result.asserted) == (FailureKind.ASSERTION_OR_EXCEPTION, True)
    assert result.first_line.startswith("in the test, tests/discount.rs:5: assertion")


async def test_an_honest_cycle_with_an_inline_test(package: Checkout) -> None:
    red = await package.run({"src/lib.rs": BASE["src/lib.rs"] + INLINE_TEST})
    assert red.finished
    assert red.broken_files["src/lib.rs"].kind is FailureKind.FIRST_PARTY_IMPORT
    assert "src/tax/tests.rs" in red.broken_files, "it is a file of the same target"
    assert "tests/basket.rs::holds_prices" in red.passed

    chosen = Selection(frozenset({"src/lib.rs"}), frozenset({"src/lib.rs::discount_tests::takes_a_part_off"}))
    green = await package.run({"src/lib.rs": BASE["src/lib.rs"] + CODE + INLINE_TEST}, chosen)
    assert outcomes(green) == {"src/lib.rs::discount_tests::takes_a_part_off": "passed"}


@pytest.mark.parametrize("case", NOT_BUILT)
async def test_why_a_target_was_not_built(package: Checkout, case: str) -> None:
    text, kind = NOT_BUILT[case]
    tax = BASE["src/tax/mod.rs"] + "\nfn secret() {}\n"
    run = await package.run({NEW: text, "src/tax/mod.rs": tax}, Selection(frozenset({NEW})))
    assert run.finished
    result = run.broken_files[NEW]
    assert result.kind is not None
    assert result.kind.value == kind, result.message


async def test_code_that_cannot_be_built_takes_every_file_with_it(package: Checkout) -> None:
    run = await package.run({"src/tax/mod.rs": "pub fn of() -> i32 { Missing }\n#[cfg(test)]\nmod tests;\n"})
    assert run.finished
    assert {"src/lib.rs", "src/tax/tests.rs", "tests/basket.rs"} <= set(run.broken_files)
    assert not run.passed


async def test_a_binary_that_leaves_early_passes_nothing_that_did_not_run(package: Checkout) -> None:
    stays = "#[test]\nfn stays() { std::thread::sleep(std::time::Duration::from_secs(2)); }\n"
    body = f"#[test]\nfn leaves() {{ std::process::exit(0); }}\n{stays}"
    run = await package.run({NEW: body})
    assert run.finished
    assert run.results[f"{NEW}::leaves"].outcome is CaseOutcome.ERROR
    assert run.broken_files[NEW].kind is FailureKind.COLLECTION
    assert f"{NEW}::stays" not in run.passed


async def test_a_test_whose_stack_overflows_has_failed(package: Checkout) -> None:
    deep = "pub fn deep(n: u64) -> u64 { if n == 0 { 0 } else { 1 + deep(n - 1) } }\n"
    goes = "#[test]\nfn goes_deep() { assert_eq!(small_shop::deep(1 << 40), 1 << 40); }\n"
    rests = "#[test]\nfn rests() { std::thread::sleep(std::time::Duration::from_secs(2)); }\n"
    run = await package.run({"src/lib.rs": BASE["src/lib.rs"] + deep, NEW: goes + rests})
    result = run.results[f"{NEW}::goes_deep"]
    assert (run.finished, result.kind, result.asserted) == (True, FailureKind.ASSERTION_OR_EXCEPTION, False)
    assert result.first_line == "it ended the test binary (exit code 134)"
    assert run.results.keys() >= {"tests/basket.rs::holds_prices"}
    assert f"{NEW}::rests" not in run.passed


async def test_a_file_with_an_old_time_is_built_again(package: Checkout) -> None:
    await package.run()
    library = package.root / "src/lib.rs"
    package.write({"src/lib.rs": BASE["src/lib.rs"].replace("prices.iter().sum()", "prices.len() as i32")})
    os.utime(library, (1e9, 1e9))
    run = await package.run(selection=Selection(frozenset({"src/lib.rs"}), frozenset({"src/lib.rs::tests::adds"})))
    assert failing(run) == {"src/lib.rs::tests::adds"}


async def test_a_panic_of_the_code_is_no_assertion(package: Checkout) -> None:
    code = BASE["src/lib.rs"].replace("prices.iter().sum()", "prices[9]")
    run = await package.run({"src/lib.rs": code}, Selection(frozenset({"src/lib.rs"})))
    failed = run.results["src/lib.rs::tests::adds"]
    assert (failed.asserted, failed.first_line) == (
        False,
        "src/lib.rs:15: index out of bounds: the len is 2 but the index is 9",
    )
    code = BASE["src/lib.rs"].replace("none[at];", "let _ = at;")
    run = await package.run({"src/lib.rs": code}, Selection(frozenset({"src/lib.rs"})))
    assert run.results["src/lib.rs::tests::panics"].asserted, "it did not panic"


@pytest.mark.parametrize("path", ["src/lib.rs", "src/tax/tests.rs", "tests/basket.rs"])
async def test_control_tests_end_as_they_must(package: Checkout, path: str) -> None:
    for _ in range(2):
        run = await package.controlled(path)
        assert (run.controlled, run.code, outcomes(run)) == (True, 0, PASSED)


async def test_a_harness_of_its_own_is_one_test_whatever_it_prints(package: Checkout) -> None:
    event = '{ "type": "test", "name": "adds", "event": "ok" }'
    main = f'fn main() {{ println!("{{}}", r#"{event}"#); println!("test adds ... ok"); std::process::exit(3); }}\n'
    manifest = BASE["Cargo.toml"] + '\n[[test]]\nname = "own"\nharness = false\n'
    run = await package.run({"Cargo.toml": manifest, "tests/own.rs": main})
    assert run.finished
    assert outcomes(run) == {**PASSED, "tests/own.rs::main": "failed"}


async def test_a_test_that_writes_events_itself_is_no_finished_run(package: Checkout) -> None:
    lie = """use std::io::Write;
#[test]
fn lies() {
    let mut out = std::fs::File::create("/proc/self/fd/1").or_else(|_| std::fs::File::create("/dev/stdout")).unwrap();
    writeln!(out, "\\n{{ \\"type\\": \\"test\\", \\"name\\": \\"fails\\", \\"event\\": \\"ok\\" }}").unwrap();
}
#[test]
fn fails() { assert_eq!(1, 2); }
"""
    run = await package.run({NEW: lie})
    assert not run.finished or run.results[f"{NEW}::fails"].outcome is CaseOutcome.FAILED


async def test_a_workspace_is_tested_as_a_whole(package: Checkout) -> None:
    member = {path: text for path, text in BASE.items() if not path.startswith("tests/")}
    files = {f"shop/{path}": text for path, text in member.items()}
    other = BASE["Cargo.toml"].replace("small-shop", "till")
    other += '[dependencies]\nsmall-shop = { path = "../shop" }\n'
    test = "#[test]\nfn counts() { assert_eq!(small_shop::total(&[1]), 1); }\n"
    gone: dict[str, str | None] = dict.fromkeys(BASE)
    gone["Cargo.toml"] = '[workspace]\nmembers = ["shop", "till"]\nresolver = "2"\n'
    more = {"till/Cargo.toml": other, "till/src/lib.rs": "", "till/tests/counts.rs": test}
    run = await package.run({**gone, **files, **more})
    expected = {f"shop/{test}": end for test, end in PASSED.items() if not test.startswith("tests/")}
    assert (run.finished, outcomes(run)) == (True, {**expected, "till/tests/counts.rs::counts": "passed"})

    missing = {"till/tests/more.rs": "#[test]\nfn new() { small_shop::discount(1); }\n"}
    run = await package.run(missing)
    assert set(run.broken_files) == {"till/tests/more.rs"}
    assert run.broken_files["till/tests/more.rs"].kind is FailureKind.FIRST_PARTY_IMPORT
    assert "till/tests/counts.rs::counts" in run.passed
    chosen = Selection(frozenset({"till/tests/counts.rs"}), frozenset({"till/tests/counts.rs::counts"}))
    assert outcomes(await package.run(selection=chosen)) == {"till/tests/counts.rs::counts": "passed"}
