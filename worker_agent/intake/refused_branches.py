"""Rules by which the git server refuses every work branch: they are met when a branch is pushed, after it was paid for.

Rulesets for all branches ask for signed commits, pull requests or names, or let nobody create a branch. Whoever may
bypass them is shown the same rules, so that only a refusal tells. Then nothing else is begun for a while.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping

import structlog

from shared.git.failures import PushRefused
from shared.lock.claim import Intent
from shared.scheduling.agent_contract import Skip
from shared.text import one_line
from shared.workflow import Stage
from worker_agent.decide import NextStep

log = structlog.get_logger()

FIRST_SECONDS = 3600.0
"""Seconds without a new start after the first refusal; doubled with each in a row."""

MOST_SECONDS = 24 * 3600.0
"""Most seconds without a new start."""

LOOK_SECONDS = 600.0
"""Most seconds until the next look: a branch may be accepted before the time is over."""

REASON_CHARS = 300

_RULES = ("gh006", "gh013", "protected branch", "rule violations", "protected ref")
"""GitHub's words for a refusal by the rules of a branch."""

_OF_ONE_CHANGE = ("secret", "file", "merge queue", "merge commits")
"""Words of rules that another change may meet."""


class RefusedBranches:
    """The refusals of one repository's work branches in a row; forgotten with the process."""

    def __init__(self, repository: str, shown: MutableMapping[str, str], boot: Callable[[], float]) -> None:
        """`shown` maps repositories where nothing begins to reasons, for metrics and `status`; `boot` is boot time."""
        self._repository = repository
        self._shown = shown
        self._boot = boot
        self._refused: dict[int, None] = {}
        self._until = 0.0

    def note(self, number: int, refused: PushRefused) -> None:
        """Note that the branch of issue `number` was refused; ignored if that may be due to its change."""
        told = str(refused).partition("\n")[0]  # without the place of the kept patch
        said = told.casefold()
        if not any(words in said for words in _RULES) or any(words in said for words in _OF_ONE_CHANGE):
            return
        self._refused[number] = None
        pause = min(FIRST_SECONDS * 2 ** (len(self._refused) - 1), MOST_SECONDS)
        self._until = self._boot() + pause
        reason = f"the rules of its branches refuse the engine's: {one_line(told, REASON_CHARS)}"
        self._shown[self._repository] = reason
        step = f"let the engine's account bypass them, or except `auto/**`; then `/retry` on #{number}"
        log.error("branches_refused", outcome="skipped", repo=self._repository, error=reason, next_step=step)

    def end(self) -> None:
        """Note that a branch was pushed."""
        if self._refused:
            self._refused.clear()
            self._shown.pop(self._repository, None)
            log.info("branches_accepted", outcome="completed", repo=self._repository)

    def skip(self, number: int, intent: Intent) -> Skip | None:
        """Return why a start is put off; None for an issue that was refused, which a person has go on."""
        left = self._until - self._boot()
        starts = intent.stage is Stage.IMPLEMENTING and intent.phase == NextStep.RED
        if not self._refused or number in self._refused or not starts or left <= 0:
            return None
        reason = self._shown.get(self._repository, "its branches are refused")
        return Skip(f"nothing can be begun here: {reason}", min(left, LOOK_SECONDS))
