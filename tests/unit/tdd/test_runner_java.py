"""Maven and Gradle: how they are called, and what recorded logs and files mean. The real ones: `tests/cheats`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from worker_agent.tdd.runners.control import Control
from worker_agent.tdd.runners.maven_runner import GradleRunner, MavenRunner
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.runner import Invocation, Selection
from worker_agent.tdd.runners.test_run import CaseOutcome, FailureKind
from worker_agent.tdd.setup.installed import package_stores

MAVEN, GRADLE = MavenRunner(), GradleRunner()
TEST = "src/test/java/shop/PriceTest.java"
FILES = {
    "pom.xml": "<project/>",
    "src/main/java/shop/Price.java": "package shop;\nclass Price {}\n",
    TEST: "package shop;\nclass PriceTest {}\n",
    "till/pom.xml": "<project/>",
    "till/src/test/kotlin/TillTest.kt": "class TillTest\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    for path, content in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content)
    return Project.of(tmp_path, FILES)


def words(project: Project, command: str, selection: Selection | None = None) -> tuple[str, ...]:
    return MAVEN.command(command, Invocation(Path("/report"), project, selection))[5:]


@pytest.mark.parametrize(
    ("root", "told"),
    [
        ("/srv/env/packages", {"MAVEN_OPTS": "-Dmaven.repo.local=/srv/env/packages/maven"}),
        ("/srv/my env", {"JAVA_TOOL_OPTIONS": "'-Dmaven.repo.local=/srv/my env/maven'"}),
        ("/srv/it's\tmine", {"JAVA_TOOL_OPTIONS": "'-Dmaven.repo.local=/srv/it'\"'\"'s\tmine/maven'"}),
    ],
)
def test_how_maven_finds_its_packages(root: str, told: dict[str, str]) -> None:
    stores = package_stores(Path(root))
    assert {name: value for name, value in stores.items() if name in {"MAVEN_OPTS", "JAVA_TOOL_OPTIONS"}} == told


def test_how_maven_is_called(project: Project) -> None:
    called = words(project, "./mvnw -q -ff -Pci test")
    assert called[:5] == ("./mvnw", "-Pci", "test", "-o", "-B")
    assert not any(word.startswith("-Dtest=") for word in called)


def test_a_selection_becomes_patterns(project: Project) -> None:
    chosen = Selection(frozenset({TEST}), frozenset({f"{TEST}::PriceTest::rows[1]", f"{TEST}::PriceTest::adds"}))
    assert words(project, "mvn test", chosen)[-1] == "-Dtest=shop/PriceTest*#adds*+rows*"
    nested = Selection(frozenset({TEST}), frozenset({f"{TEST}::PriceTest::Inner::deep"}))
    assert words(project, "mvn test", nested)[-1] == "-Dtest=shop/PriceTest*"
    module = Selection(frozenset({"till/src/test/kotlin/TillTest.kt"}))
    assert words(project, "mvn test", module)[-4:] == ("-Dtest=TillTest*", "-pl", "till", "-am")
    argv = GRADLE.command("./gradlew check", Invocation(Path("/report"), project, chosen))
    assert '["shop.PriceTest.adds*", "shop.PriceTest.rows*"].each' in argv[5]
    assert argv[6:8] == ("./gradlew", "check")


@pytest.mark.parametrize("words", ["--console=plain", "--console rich", "-q --console plain", "--scan"])
def test_gradle_is_given_one_console(words: str) -> None:
    argv = GRADLE.command(f"./gradlew check {words} --info", Invocation(Path("/report"), Project(Path("/w"))))
    called = argv[argv.index("./gradlew") :]
    assert called[:3] == ("./gradlew", "check", "--info")
    assert [word for word in called if word.startswith("--console")] == ["--console=plain"]


def test_what_is_no_call_of_it() -> None:
    assert not MAVEN.runs(("make", "mvn"))
    assert MAVEN.runs(("sh", "./mvnw", "verify"))
    assert not GRADLE.runs(("mvn", "test"))
    assert MAVEN.detect(FILES, lambda _: None) == "mvn test"
    assert GRADLE.detect({"settings.gradle.kts", "gradlew"}, lambda _: None) == "./gradlew test"


def test_where_tests_are() -> None:
    paths = (TEST, "src/test/resources/a.json", "src/main/java/shop/Price.java", "x/PriceIT.kt", "src/it/java/A.java")
    assert [path for path in paths if not MAVEN.is_test_file(path)] == ["src/main/java/shop/Price.java"]


CASES = """<testsuite name="shop.PriceTest">
<testcase name="adds" classname="shop.PriceTest"/>
<testcase name="errs" classname="shop.PriceTest"><error message="o is null" type="java.lang.NullPointerException"
>java.lang.NullPointerException: o is null
at shop.PriceTest.errs(PriceTest.java:9)</error></testcase>
<testcase name="rows{int, String}[1]" classname="shop.PriceTest"/>
<testcase name="rows(int, String)[2]" classname="shop.PriceTest"/>
<testcase name="fails" classname="shop.PriceTest"><failure message="sum ==&gt; expected: &lt;4&gt; but was: &lt;3&gt;"
 type="org.opentest4j.AssertionFailedError">org.opentest4j.AssertionFailedError: sum ==> expected: &lt;4&gt; but was
at shop.PriceTest.fails(PriceTest.java:8)</failure></testcase>
<testcase name="later" classname="shop.PriceTest"><skipped message="off"/></testcase>
<testcase name="deep" classname="shop.PriceTest$Inner"/>
</testsuite>"""
SUMS = "[ERROR] Tests run: 7, Failures: 1, Errors: 1, Skipped: 1"


def maven(log: str, *files: str, selected: tuple[str, ...] = ()) -> bytes:
    parts = [f"=== report ./target/surefire-reports/TEST-{at}.xml\n{file}\n" for at, file in enumerate(files)]
    return (json.dumps({"selected": selected}) + f"\n{log}\n\n" + "".join(parts)).encode()


def test_surefires_files_become_tests_of_sources(project: Project) -> None:
    report = MAVEN.read(maven(SUMS, CASES), project)
    assert not report.problem
    lead = f"{TEST}::PriceTest"
    assert {MAVEN.identify(case)[0]: (case.outcome, MAVEN.asserted(case)) for case in report.cases} == {
        f"{lead}::adds": (CaseOutcome.PASSED, False),
        f"{lead}::errs": (CaseOutcome.ERROR, False),
        f"{lead}::rows[1]": (CaseOutcome.PASSED, False),
        f"{lead}::rows[2]": (CaseOutcome.PASSED, False),
        f"{lead}::fails": (CaseOutcome.FAILED, True),
        f"{lead}::later": (CaseOutcome.SKIPPED, False),
        f"{lead}::Inner::deep": (CaseOutcome.PASSED, False),
    }
    told = {case.name: MAVEN.explain(case).partition("\n")[0] for case in report.cases}
    assert told["errs"] == "java.lang.NullPointerException: o is null"
    assert (MAVEN.complete(1, report.cases, ""), MAVEN.complete(0, report.cases, "")) == (True, False)


@pytest.mark.parametrize(
    "log",
    ["", SUMS.replace("7", "6"), f"{SUMS}\n[ERROR] The forked VM terminated without properly saying goodbye."],
    ids=["no sums", "other sums", "the JVM left"],
)
def test_the_log_and_the_files_must_agree(project: Project, log: str) -> None:
    assert MAVEN.read(maven(log, CASES), project).problem


def compiled(project: Project, said: str, path: str = TEST) -> str:
    return f"[ERROR] COMPILATION ERROR : \n[INFO] ----\n[ERROR] {project.root}/{path}:[8,25] {said}\n[INFO] 1 error \n"


ERRORS = [
    ("cannot find symbol\n  symbol:   method sub(int)\n  location: class shop.Price", FailureKind.FIRST_PARTY_IMPORT),
    (
        "cannot find symbol\n  symbol:   variable Discount\n  location: class shop.PriceTest",
        FailureKind.FIRST_PARTY_IMPORT,
    ),
    ("cannot find symbol\n  symbol:   variable List\n  location: class shop.PriceTest", FailureKind.COLLECTION),
    ("cannot find symbol\n  symbol:   method no()\n  location: class java.lang.String", FailureKind.COLLECTION),
    ("cannot find symbol\n  symbol:   class Nothing\n  location: package java.util", FailureKind.COLLECTION),
    (
        "cannot find symbol\n  symbol:   variable f\n  location: variable p of type shop.Price",
        FailureKind.FIRST_PARTY_IMPORT,
    ),
    ("package shop.money does not exist", FailureKind.FIRST_PARTY_IMPORT),
    ("package com.nobody does not exist", FailureKind.THIRD_PARTY_IMPORT),
    (
        "constructor Price in class shop.Price cannot be applied to given types;\n  required: no",
        FailureKind.FIRST_PARTY_IMPORT,
    ),
    ("method valueOf in class String cannot be applied to given types;", FailureKind.COLLECTION),
    ("incompatible types: java.lang.String cannot be converted to int", FailureKind.COLLECTION),
    ("illegal start of type", FailureKind.SYNTAX),
    ("';' expected", FailureKind.SYNTAX),
]


@pytest.mark.parametrize(("said", "kind"), ERRORS, ids=[said.replace("\n", " ") for said, _ in ERRORS])
def test_why_a_module_was_not_compiled(project: Project, said: str, kind: FailureKind) -> None:
    report = MAVEN.read(maven(compiled(project, said)), project)
    (case,) = report.cases
    assert (MAVEN.identify(case), MAVEN.classify(case, project)) == ((TEST, TEST), kind)
    assert MAVEN.explain(case).startswith(f"{TEST}:8: {said.partition(chr(10))[0]}")


def test_code_that_does_not_compile_takes_the_modules_that_reported_nothing_with_it(project: Project) -> None:
    log = compiled(project, "';' expected", "src/main/java/shop/Price.java")
    both = {TEST, "till/src/test/kotlin/TillTest.kt"}
    assert {case.file for case in MAVEN.read(maven(log), project).cases} == both
    assert {case.file for case in MAVEN.read(maven(log, selected=(TEST,)), project).cases} == {TEST}


def event(**what: object) -> str:
    return json.dumps(what)


def gradle(project: Project, *lines: str) -> bytes:
    told = [
        event(type="shop.PriceTest", name="adds()", end="SUCCESS", place=str(project.root), text=""),
        event(
            type="shop.PriceTest",
            name="errs()",
            end="FAILURE",
            place=str(project.root),
            text="java.lang.NullPointerException\n\tat shop.PriceTest.errs(PriceTest.java:9)\n",
        ),
    ]
    return "\n".join(['{"selected": []}', event(begun=":test"), *told, *lines, ""]).encode()


def test_gradle_tells_each_test_itself(project: Project) -> None:
    report = GRADLE.read(gradle(project, event(ended=":test", count=2), ":test FAILED"), project)
    assert not report.problem
    assert {GRADLE.identify(case)[0]: (case.outcome, GRADLE.asserted(case)) for case in report.cases} == {
        f"{TEST}::PriceTest::adds": (CaseOutcome.PASSED, False),
        f"{TEST}::PriceTest::errs": (CaseOutcome.FAILED, False),
    }
    assert GRADLE.read(gradle(project), project).problem
    assert GRADLE.read(gradle(project, event(ended=":test", count=3)), project).problem


def test_gradle_shows_javacs_errors_behind_the_name_of_its_task(project: Project) -> None:
    place = f":compileTestJava{project.root}/{TEST}:7: error: cannot find symbol"
    log = [
        place,
        "    Discount.of(1);",
        "    ^",
        "  symbol:   variable Discount",
        "  location: class PriceTest",
        "1 error",
    ]
    report = GRADLE.read("\n".join(['{"selected": []}', *log, " FAILED"]).encode(), project)
    assert [(case.file, GRADLE.classify(case, project)) for case in report.cases] == [
        (TEST, FailureKind.FIRST_PARTY_IMPORT)
    ]


JUPITER = "package shop;\nimport org.junit.jupiter.api.Test;\nclass PriceTest {\n    @Test\n    void adds() {}\n}\n"


@pytest.mark.parametrize(
    ("content", "names", "said"),
    [
        (JUPITER, {"oneTwo", "twoThree"}, "@org.junit.jupiter.api.Test"),
        (JUPITER.replace("jupiter.api.", ""), {"oneTwo", "twoThree"}, "@org.junit.Test"),
        (
            "import junit.framework.TestCase;\npublic class PriceTest extends TestCase {}\n",
            {"testOneTwo", "testTwoThree"},
            "junit.framework.Assert.",
        ),
    ],
    ids=["JUnit 5", "JUnit 4", "JUnit 3"],
)
def test_control_tests_have_the_annotations_of_their_framework(content: str, names: set[str], said: str) -> None:
    control = MAVEN.control(TEST, content.encode(), ("one_two", "two_three", "three_four", "four_five"))
    assert isinstance(control, Control)
    assert control.passing == names
    assert said.encode() in control.content


@pytest.mark.parametrize(
    "content",
    [
        "class PriceTest {}",
        JUPITER.replace("class", "abstract class"),
        JUPITER.replace("PriceTest", "Other"),
        JUPITER[:-2],
    ],
    ids=["no framework", "abstract", "another class", "syntax"],
)
def test_no_control_tests_where_none_can_stand(content: str) -> None:
    assert MAVEN.control(TEST, content.encode(), ("one_two", "two_three", "three_four", "four_five")) is None
