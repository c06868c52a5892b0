"""Maven and Gradle of Debian on small projects: an honest cycle, what cannot be compiled, what crashes, and cheats."""

from __future__ import annotations

from pathlib import Path

import pytest
from java_corpus import (
    DISCOUNT,
    DISCOUNT_CODE,
    FAKE,
    GRADLE,
    GRADLE_PASSED,
    GRADLE_TEST,
    MAVEN,
    NEW,
    PASSED,
    POM,
    PRICE_TEST,
    TAX_TEST,
    TEST,
    new_test,
)
from toolchain import Checkout, failing, needed, outcomes

from worker_agent.tdd.runners.maven_runner import GradleRunner, MavenRunner
from worker_agent.tdd.runners.runner import Selection
from worker_agent.tdd.runners.test_run import FailureKind
from worker_agent.tdd.setup.installed import package_stores

REPOSITORY = Path("/usr/share/maven-repo")
"""The directory in which Debian keeps Maven's plugins and JUnit."""


@pytest.fixture
def maven(tmp_path: Path) -> Checkout:
    needed("mvn", "javac")
    if not (REPOSITORY / "org/junit/jupiter/junit-jupiter/5.9.2").is_dir():
        pytest.skip("Debian's junit5 and libsurefire-java are needed")
    made = Checkout(tmp_path, MavenRunner(), f"mvn -q -Dmaven.repo.local={REPOSITORY} test")
    made.write(MAVEN)
    return made


@pytest.fixture
def gradle(tmp_path: Path) -> Checkout:
    needed("gradle", "javac")
    if not Path("/usr/share/java/junit4.jar").exists():
        pytest.skip("Debian's junit4 is needed")
    made = Checkout(tmp_path, GradleRunner(), "gradle --console=plain test")
    made.write(GRADLE)
    return made


async def test_an_honest_cycle_with_maven(maven: Checkout) -> None:
    base = await maven.run()
    assert (base.finished, base.code, outcomes(base)) == (True, 0, PASSED)

    red = await maven.run({NEW: TEST})
    assert red.finished
    assert set(red.broken_files) == {NEW, PRICE_TEST, TAX_TEST}, "the module is compiled as a whole"
    assert red.broken_files[NEW].kind is FailureKind.FIRST_PARTY_IMPORT
    assert red.broken_files[NEW].first_line == f"{NEW}:7: cannot find symbol"

    green = await maven.run({DISCOUNT: DISCOUNT_CODE})
    assert green.finished
    assert green.passed - base.passed == {f"{NEW}::DiscountTest::takesAPartOff"}

    damaged = {DISCOUNT: DISCOUNT_CODE.replace("price - ", "price + ")}
    run = await maven.run(damaged, Selection(frozenset({NEW})))
    assert (run.finished, run.code, outcomes(run)) == (True, 1, {f"{NEW}::DiscountTest::takesAPartOff": "failed"})
    result = run.results[f"{NEW}::DiscountTest::takesAPartOff"]
    assert (result.kind, result.asserted) == (FailureKind.ASSERTION_OR_EXCEPTION, True)
    assert result.first_line == "org.opentest4j.AssertionFailedError: expected: <90> but was: <110>"

    chosen = Selection(frozenset({PRICE_TEST}), frozenset({f"{PRICE_TEST}::PriceTest::rows[2]"}))
    assert set(outcomes(await maven.run(selection=chosen))) == {
        f"{PRICE_TEST}::PriceTest::rows[1]",
        f"{PRICE_TEST}::PriceTest::rows[2]",
    }


async def test_maven_finds_what_was_set_up_in_a_directory_with_blanks(maven: Checkout, tmp_path: Path) -> None:
    packages = tmp_path / 'it\'s of "two words"'
    packages.mkdir()
    (packages / "maven").symlink_to(REPOSITORY)
    maven.command, maven.environment = "mvn test", {**maven.environment, **package_stores(packages)}
    run = await maven.run()
    assert (run.finished, run.code, outcomes(run)) == (True, 0, PASSED), run.output_tail


async def test_control_tests_end_as_they_must_with_maven(maven: Checkout) -> None:
    for path in (PRICE_TEST, TAX_TEST):
        run = await maven.controlled(path)
        assert (run.controlled, run.code, outcomes(run)) == (True, 0, PASSED)


async def test_a_report_file_of_a_test_is_no_result(maven: Checkout) -> None:
    text = FAKE.replace("\n", "").replace('"', '\\"')
    body = f'@Test public void writes() throws Exception {{ Files.writeString(Path.of("{{}}"), "{text}"); }}'
    body = body.replace("{}", "target/surefire-reports/TEST-shop.FakeTest.xml")
    run = await maven.run({NEW: new_test(body, "import java.nio.file.Files;\nimport java.nio.file.Path;")})
    assert not run.finished
    assert "Maven counts" in run.output_tail


async def test_a_jvm_that_leaves_is_no_finished_run(maven: Checkout) -> None:
    run = await maven.run({NEW: new_test("@Test public void leaves() { System.exit(0); }")})
    assert not run.finished


async def test_modules_are_tested_although_one_that_they_need_has_failing_tests(maven: Checkout) -> None:
    modules = "<packaging>pom</packaging><modules><module>shop</module><module>till</module></modules>"
    need = "<dependency><groupId>example</groupId><artifactId>shop</artifactId><version>1</version></dependency>"
    gone: dict[str, str | None] = dict.fromkeys(MAVEN)
    shop = {f"shop/{path}": text for path, text in MAVEN.items()}
    shop[f"shop/{PRICE_TEST}"] = MAVEN[PRICE_TEST].replace("assertEquals(3,", "assertEquals(4,")
    till = "till/src/test/java/till/TillTest.java"
    counts = "@Test public void counts() { org.junit.jupiter.api.Assertions.assertEquals(1, shop.Price.total(1)); }"
    test = new_test(counts).replace("DiscountTest", "TillTest").replace("package shop", "package till")
    files = {
        "pom.xml": POM.format(name="all", more=modules, needs=""),
        "till/pom.xml": POM.format(name="till", more="", needs=need),
        till: test,
    }
    run = await maven.run({**gone, **shop, **files})
    assert (run.finished, run.code) == (True, 1)
    assert failing(run) == {f"shop/{PRICE_TEST}::PriceTest::adds"}
    assert f"{till}::TillTest::counts" in run.passed

    run = await maven.run({till: test.replace("shop.Price.total(1)", "shop.Missing.total(1)")})
    assert set(run.broken_files) == {till}
    assert run.broken_files[till].kind is FailureKind.FIRST_PARTY_IMPORT


async def test_an_honest_cycle_with_gradle(gradle: Checkout) -> None:
    base = await gradle.run()
    assert (base.finished, base.code, outcomes(base)) == (True, 0, GRADLE_PASSED)

    red = await gradle.run({NEW: GRADLE_TEST})
    assert (red.finished, red.code) == (True, 1)
    assert red.broken_files[NEW].kind is FailureKind.FIRST_PARTY_IMPORT

    chosen = Selection(frozenset({NEW, TAX_TEST}), frozenset({f"{NEW}::DiscountTest::takesAPartOff"}))
    green = await gradle.run({DISCOUNT: DISCOUNT_CODE}, chosen)
    assert set(outcomes(green)) == {f"{NEW}::DiscountTest::takesAPartOff", f"{TAX_TEST}::TaxTest::isAFifth"}

    run = await gradle.controlled(PRICE_TEST)
    assert (run.controlled, run.code) == (True, 0)
    assert run.passed == base.passed | {f"{NEW}::DiscountTest::takesAPartOff"}
