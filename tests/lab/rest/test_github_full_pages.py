"""Lists that fill a page while they are polled: what comes after a full page is seen at the next look."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sized
from dataclasses import dataclass
from pathlib import Path

import pytest
from github_bench import NAME, Bench, bench
from github_script import Plan, lease, scripted

from lab.github.world.checks import AnnotationRecord
from lab.github.world.issues import MOST_LABELS
from lab.github.world.pulls import DiffPlace, PullRecord
from shared.github import branch_rules
from shared.github.checks import Checks
from shared.github.client import GitHub
from shared.github.comments import Comments
from shared.github.inbox import Inbox
from shared.github.issues import Issues
from shared.github.label_board import LabelBoard, WantedLabels
from shared.github.pulls import Pulls
from shared.github.reviews import Reviews
from shared.workflow import Stage
from shared.workflow.labels import Labels

SIZES = (98, 99, 100, 101, 102, 198, 199, 200, 201)
SHA = "refs/heads/main"
PULL = 1
PLACE = DiffPlace("a.py", 1, "RIGHT", "@@ -1 +1 @@", "one", 1)


@dataclass
class Growing:
    """The lab with a pull request `PULL`, and a list of each kind that one more entry can be put into."""

    bench: Bench
    sha: str

    def pull(self) -> PullRecord:
        repository = self.bench.lab.at(NAME)
        thread = repository.issues.open("engine", "A change", "", is_pull=True)
        record = repository.pulls.open(thread, ("work", self.sha), ("main", self.sha), draft=False)
        if record.number != PULL:
            repository.issues.close(record.number, "engine")
        return record

    def comment(self) -> None:
        self.bench.lab.comment(NAME, PULL, "more", author="ada")

    def event(self) -> None:
        issues = self.bench.lab.at(NAME).issues
        issues.record(PULL, "labeled", "ada", {"name": "status:ready", "color": "ededed"})

    def review(self) -> None:
        self.bench.lab.at(NAME).pulls.review(PULL, "ada", "COMMENTED", "well", self.sha)

    def remark(self) -> None:
        pulls = self.bench.lab.at(NAME).pulls
        review = next(iter(pulls.reviews.values()), None) or pulls.review(PULL, "ada", "COMMENTED", "", self.sha)
        pulls.remark(review, PLACE, "here")

    def label(self) -> None:
        labels = self.bench.lab.at(NAME).labels
        labels.create(f"label {len(labels.values())}", "ededed", None)

    def check(self) -> None:
        checks = self.bench.lab.at(NAME).checks
        checks.start(self.sha, f"job {len(checks.checks)}")

    def status(self) -> None:
        checks = self.bench.lab.at(NAME).checks
        checks.say(self.sha, f"context {len(checks.statuses)}", "success", description="", creator="ada")

    def suite(self) -> None:
        checks = self.bench.lab.at(NAME).checks
        run = checks.suite(self.sha, "main", f"app-{len(checks.runs)}")
        checks.runs.change(run.id, conclusion="startup_failure")

    def remark_of_check(self) -> None:
        checks = self.bench.lab.at(NAME).checks
        found = next(iter(checks.checks.values()), None) or checks.start(self.sha, "job")
        more = AnnotationRecord("a.py", 1, 1, "failure", "", f"wrong {len(found.annotations)}")
        checks.checks.change(found.id, annotations=(*found.annotations, more))

    def issue(self) -> None:
        self.bench.lab.issue(NAME, "An issue", author="engine", labels=("status:ready",))

    def blocker(self) -> None:
        lab = self.bench.lab
        lab.block(NAME, PULL, by=lab.issue(NAME, "First this", author="ada").number, actor="ada")

    def label_of_item(self) -> None:
        here = self.bench.lab.at(NAME)
        name = f"label {len(here.labels.values())}"
        here.labels.create(name, "ededed", None)
        here.issues.add_labels(PULL, (name,), "ada")

    @property
    def check_run_id(self) -> int:
        return next(iter(self.bench.lab.at(NAME).checks.checks.values())).id


Grow = Callable[[Growing], object]
Read = Callable[[GitHub, Growing], Awaitable[Sized]]

LISTS: dict[str, tuple[Grow, Read]] = {
    "comments": (Growing.comment, lambda github, _: Comments(github, NAME).thread(PULL)),
    "events": (Growing.event, lambda github, _: Issues(github, NAME).label_events(PULL)),
    "reviews": (Growing.review, lambda github, _: Reviews(github, NAME).of(PULL)),
    "review comments": (Growing.remark, lambda github, _: Reviews(github, NAME).comments(PULL)),
    "labels": (Growing.label, lambda github, _: LabelBoard(github, NAME, Labels())._defined_labels()),
    "check runs": (Growing.check, lambda github, here: Checks(github, NAME).of(here.sha)),
    "statuses": (Growing.status, lambda github, here: Checks(github, NAME).of(here.sha)),
    "check suites": (Growing.suite, lambda github, here: Checks(github, NAME).unstarted(here.sha)),
    "annotations": (Growing.remark_of_check, lambda github, here: Checks(github, NAME).annotations(here.check_run_id)),
    "labelled issues": (Growing.issue, lambda github, _: Issues(github, NAME).labelled("status:ready")),
    "created issues": (Growing.issue, lambda github, here: _created(github, here)),
    "pull requests": (Growing.pull, lambda github, _: Pulls(github, NAME).of_branch("work")),
    "blockers": (Growing.blocker, lambda github, _: Issues(github, NAME).blocked_by(PULL)),
    "labels of an item": (
        Growing.label_of_item,
        lambda github, _: _labels_of_item(github),
    ),
}

MOST = {"labels of an item": MOST_LABELS}
"""Lists that GitHub itself does not let grow beyond a page."""


async def _labels_of_item(github: GitHub) -> Sized:
    labels, _ = await LabelBoard(github, NAME, Labels())._labels_before(WantedLabels(PULL, Stage.READY))
    return labels


async def _created(github: GitHub, here: Growing) -> Sized:
    await github.get("/rate_limit")
    found = await Issues(github, NAME).created_by("engine", github.server_time.replace(year=2020))
    return [issue for issue in found if not issue.is_pull_request]


@pytest.mark.parametrize("kind", LISTS)
async def test_an_entry_behind_a_full_page_is_seen_at_the_next_look(kind: str, tmp_path: Path) -> None:
    grow, read = LISTS[kind]
    async with bench(tmp_path) as b:
        tip = await b.lab.at(NAME).bare.sha(SHA)
        assert tip is not None
        here, github = Growing(b, tip), b.client("engine")
        here.pull()
        known = 1 if kind == "pull requests" else 0
        for size in [one for one in SIZES if one <= MOST.get(kind, one)]:
            for _ in range(size - known):
                grow(here)
            known = size
            assert len(await read(github, here)) == size
            before = b.charged
            assert len(await read(github, here)) == size
            free = b.charged - before if kind != "created issues" else 0  # its reader asks for the time too
            assert free == 0, "what has not changed is confirmed by 304s alone, the look behind a full page too"


async def test_issues_that_fill_a_page_between_two_looks_are_all_known(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        here = Growing(b, "")
        inbox = Inbox(Issues(b.client("engine"), NAME), ["status:ready"], b.clock)
        for size in SIZES:
            while len(b.lab.at(NAME).issues.records.values()) < size:
                here.issue()
            assert len(await inbox.look()) == size


async def test_threads_of_reviews_that_fill_a_page_are_all_found(tmp_path: Path) -> None:
    """GraphQL has cursors instead of pages, and no answer of it is kept."""
    async with bench(tmp_path) as b:
        tip = await b.lab.at(NAME).bare.sha(SHA)
        assert tip is not None
        here, github = Growing(b, tip), b.client("engine")
        reviews = Reviews(github, NAME)
        here.pull()
        inline = b.lab.at(NAME).pulls.inline
        for size in SIZES:
            while len(inline.values()) < size:
                here.remark()
            newest = max(one.id for one in await reviews.comments(PULL))
            assert await reviews.resolve(PULL, [newest], lease(b.clock)) == 1
            assert all(one.resolved for one in inline.values() if one.id == newest)


@pytest.mark.parametrize("size", SIZES)
async def test_a_rule_behind_a_full_page_counts(size: int) -> None:
    """The lab has no branch with so many rules; pages without tags are read anew each time."""
    rules = [{"type": "creation"}] * (size - 1) + [{"type": "merge_queue"}]
    pages = [Plan(body=rules[at : at + 100]) for at in range(0, size, 100)] + [Plan(body=[])] * (size % 100 == 0)
    unprotected = Plan(404, {"message": "Branch not protected"})
    async with scripted(*pages, *pages, unprotected) as (github, _):
        assert len(await branch_rules.rules(github, "o/r", "main")) == size
        assert (await Checks(github, "o/r").merge_rules("main")).queue


async def test_the_count_of_a_list_proves_its_end() -> None:
    full = {"total_count": 100, "check_runs": [{"id": number} for number in range(100)]}
    async with scripted(Plan(body=full)) as (github, _):
        assert len(await github.pages("/x")) == 100


async def test_a_server_that_gives_the_same_page_for_every_number_is_asked_once_more_only() -> None:
    same = Plan(body=[{"id": number} for number in range(100)], headers={"ETag": '"same"'})
    async with scripted(same, same) as (github, script):
        assert len(await github.pages("/x", direction="asc")) == 100
    assert script.calls == ["GET /x?per_page=100&direction=asc", "GET /x?per_page=100&direction=asc&page=2"]
