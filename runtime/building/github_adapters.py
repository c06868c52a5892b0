"""The adapters of one repository on GitHub, built once GitHub has said that the repository can be used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from config.repository import RepositorySettings
from runtime.building.sign_in import SignedIn
from runtime.telemetry.observed_hub import ObservedChecks, ObservedLabels, ObservedReviews
from shared.errors import Misconfigured
from shared.github.attachments import Attachments
from shared.github.checks import Checks
from shared.github.client import GitHub
from shared.github.comments import Comments
from shared.github.issues import Issues
from shared.github.label_board import LabelBoard
from shared.github.people import People
from shared.github.points import Points
from shared.github.pulls import Pulls
from shared.github.reviews import Reviews
from shared.models import Account, Repository
from shared.telemetry.event_recorder import EventRecorder
from shared.workflow import Role
from shared.workflow.labels import Labels


@dataclass(frozen=True)
class GitHubAdapters:
    """One repository on GitHub, as one account sees it."""

    account: Account
    repository: Repository
    names: Labels
    issues: Issues
    comments: Comments
    labels: LabelBoard
    pulls: Pulls
    reviews: Reviews
    checks: Checks
    people: People
    attachments: Attachments
    server_time: Callable[[], datetime]
    """Returns GitHub's time by its last answer."""
    points: Points
    """GitHub's points of a minute, which say how often the repository may be polled."""


async def github_adapters(role: Role, me: SignedIn, configured: RepositorySettings) -> GitHubAdapters:
    """Return the adapters of one repository; raises `Misconfigured` for an archived one, and what reading it raises."""
    github, name, names = me.github, configured.name, configured.labels.names()
    people = People(github, name)
    repository = await people.repository()
    if repository.archived:
        raise Misconfigured(f"{name} is archived: nothing can be changed there. Remove it from the configuration.")
    return GitHubAdapters(
        account=me.account,
        repository=repository,
        names=names,
        issues=Issues(github, name),
        comments=Comments(github, name, items="pulls" if role is Role.REVIEWER else "issues"),
        labels=LabelBoard(github, name, names),
        pulls=Pulls(github, name),
        reviews=Reviews(github, name),
        checks=Checks(github, name),
        people=people,
        attachments=Attachments(github),
        server_time=lambda: github.server_time,
        points=me.pace.pacing.points,
    )


def observed_adapters(seen: GitHubAdapters, github: GitHub, event_recorder: EventRecorder) -> GitHubAdapters:
    """Return the adapters of one repository; changes through them, and news of CI, are recorded as events."""
    name = event_recorder.repository
    return replace(
        seen,
        labels=ObservedLabels(github, name, seen.names, event_recorder),
        reviews=ObservedReviews(github, name, event_recorder),
        checks=ObservedChecks(github, name, event_recorder),
    )
