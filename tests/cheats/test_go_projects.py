"""Go's real toolchain on a small module: an honest cycle, what cannot be built, what crashes, and cheats."""

from __future__ import annotations

from pathlib import Path

import pytest
from go_corpus import BASE, CODE, CRASHES, NEW, NOT_BUILT, PASSED, TEST, new_file
from toolchain import Checkout, failing, needed, outcomes

from worker_agent.tdd.runners.go_runner import GoRunner
from worker_agent.tdd.runners.runner import Selection
from worker_agent.tdd.runners.test_run import CaseOutcome, FailureKind


@pytest.fixture
def module(tmp_path: Path) -> Checkout:
    needed("go")
    made = Checkout(tmp_path, GoRunner(), "go test ./...")
    made.write(BASE)
    return made


async def test_an_honest_cycle(module: Checkout) -> None:
    base = await module.run()
    assert (base.finished, base.code, outcomes(base)) == (True, 0, PASSED)

    red = await module.run({NEW: TEST})
    assert red.finished
    assert set(red.broken_files) == {NEW, "price_test.go"}
    assert red.broken_files[NEW].kind is FailureKind.FIRST_PARTY_IMPORT
    assert "undefined: Discount" in red.broken_files[NEW].first_line
    assert red.passed == {"tax/tax_test.go::TestOf"}, "other packages run"

    green = await module.run(CODE)
    assert green.finished
    assert green.passed - base.passed == {f"{NEW}::TestDiscount"}

    damaged = await module.run({"discount.go": CODE["discount.go"].replace("price - ", "price + ")})
    assert failing(damaged) == {f"{NEW}::TestDiscount"}
    result = damaged.results[f"{NEW}::TestDiscount"]
    assert (result.kind, result.asserted) == (FailureKind.ASSERTION_OR_EXCEPTION, True)
    assert result.first_line == "discount_test.go:7: Discount() = 110"


@pytest.mark.parametrize("case", NOT_BUILT)
async def test_why_a_package_was_not_built(module: Checkout, case: str) -> None:
    function, imports, kind = NOT_BUILT[case]
    run = await module.run({NEW: new_file(function, imports)}, Selection(frozenset({NEW})))
    assert run.finished
    result = run.broken_files[NEW]
    assert result.kind is not None
    assert result.kind.value == kind, result.message


@pytest.mark.parametrize("case", CRASHES)
async def test_a_package_that_ends_early_passes_nothing_that_did_not_run(module: Checkout, case: str) -> None:
    body, kind, said = CRASHES[case]
    module.write({"zoo_test.go": 'package shop\n\nimport "testing"\n\nfunc TestLast(t *testing.T) {}\n'})
    run = await module.run(
        {NEW: new_file(f"func TestCrash(t *testing.T) {{ {body} }}", 'import "os"\nvar _ = os.Exit')}
    )
    crashed, last = run.results[f"{NEW}::TestCrash"], run.results["zoo_test.go::TestLast"]
    assert run.finished
    assert crashed.kind is not None
    assert (crashed.kind.value, crashed.first_line, crashed.asserted) == (kind, said, False)
    assert (last.outcome, last.kind) == (CaseOutcome.ERROR, FailureKind.OTHER)


async def test_a_selection_runs_its_files_and_tests_only(module: Checkout) -> None:
    chosen = Selection(frozenset({"price_test.go"}), frozenset({"price_test.go::TestTotal/none"}))
    assert set(outcomes(await module.run(selection=chosen))) == {
        "price_test.go::TestTotal",
        "price_test.go::TestTotal/none",
        "price_test.go::TestTotal/one_two",
    }
    assert set(outcomes(await module.run(selection=Selection(frozenset({"tax/tax_test.go"}))))) == {
        "tax/tax_test.go::TestOf"
    }


async def test_a_deadline_of_go_itself_is_a_timeout(module: Checkout) -> None:
    module.command = "go test -timeout 1s ."
    run = await module.run({NEW: new_file("func TestSlow(t *testing.T) { time.Sleep(1 << 40) }", 'import "time"')})
    assert run.results[f"{NEW}::TestSlow"].kind is FailureKind.TIMEOUT


@pytest.mark.parametrize("path", ["price_test.go", "tax/tax_test.go"])
async def test_control_tests_end_as_they_must(module: Checkout, path: str) -> None:
    for _ in range(3):
        run = await module.controlled(path)
        assert (run.controlled, run.code, outcomes(run)) == (True, 0, PASSED)


async def test_a_test_main_that_leaves_is_no_success(module: Checkout) -> None:
    main = new_file("func TestMain(m *testing.M) { os.Exit(0) }", 'import "os"')
    run = await module.run({"main_test.go": main})
    assert run.passed == {"tax/tax_test.go::TestOf"}
    assert run.results["price_test.go::TestTotal"].outcome is CaseOutcome.ERROR
    assert (await module.controlled("price_test.go")).controlled is not True


async def test_a_test_main_that_prints_what_go_prints_is_seen_by_the_control_tests(module: Checkout) -> None:
    names = "".join(f'"{name}",' for name in ("TestTotal", "TestSkipped", "ExampleTotal", "FuzzTotal"))
    body = f"""func TestMain(m *testing.M) {{
	for _, name := range []string{{{names}}} {{
		fmt.Printf("=== RUN   %s\\n--- PASS: %s (0.00s)\\n", name, name)
	}}
	fmt.Println("PASS")
	os.Exit(0)
}}"""
    run = await module.run({"main_test.go": new_file(body, 'import ("fmt"; "os")')})
    assert run.finished, "by itself it cannot be told from a run"
    assert (await module.controlled("price_test.go")).controlled is not True
