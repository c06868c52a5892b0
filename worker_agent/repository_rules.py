"""The rules for one item: the operator's configuration, overlaid with the repository's own rules.

The rules are those of the commit that the item began on: a change of them holds for items that begin after it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from config.repository import RepositorySettings
from config.repository_file import FILE, NO_RULES, overlaid, read_rules
from shared.git import objects
from shared.git.workspace import Workspace
from shared.llm.role_router import RoleOverride
from worker_agent.policy import CodePolicy, code_policy


@dataclass(frozen=True, slots=True)
class ItemRules:
    """The rules for writing and running the tests and code of one item."""

    code: CodePolicy = field(default_factory=CodePolicy)
    setup_command: str | None = None
    conventions: tuple[str, ...] = ()
    """Files whose content coders are told besides the usual ones."""
    ladder: tuple[tuple[str, str], ...] | None = None
    """Backend and model of each step, empty for the usual ones; None: the operator's ladder."""
    labels: tuple[str, ...] = ()
    """Labels of its pull request."""
    limits: RoleOverride = field(default_factory=RoleOverride)
    """Limits of a run, where they are lower than the operator's."""


class RepositoryRuleReader:
    """Reads the rules of one repository."""

    def __init__(self, configured: RepositorySettings, backends: Collection[str]) -> None:
        """`backends` are those that the operator has configured for this repository."""
        self._configured = configured
        self._backends = backends

    def of(self, content: bytes | None) -> ItemRules:
        """Return the rules for this content of the file; None if there is no file. Raises `Misconfigured`."""
        rules = read_rules(content, self._backends) if content is not None and self._configured.own_rules else NO_RULES
        settings = overlaid(self._configured, rules)
        ladder = tuple((one.backend or "", one.model or "") for one in rules.ladder)
        seconds = None if rules.run_timeout_minutes is None else 60 * rules.run_timeout_minutes
        return ItemRules(
            code_policy(settings),
            settings.setup_command,
            rules.conventions,
            ladder if "ladder" in rules.model_fields_set else None,
            settings.pr_labels,
            RoleOverride(max_turns=rules.max_turns, deadline_seconds=seconds),
        )


async def settings_at(
    space: Workspace, base: str, configured: RepositorySettings, backends: Collection[str]
) -> RepositorySettings:
    """Return a repository's settings, overlaid with its own rules in the commit `base`. Raises `Misconfigured`."""
    content = (await objects.existing(space.git, base, (FILE,))).get(FILE) if configured.own_rules else None
    return configured if content is None else overlaid(configured, read_rules(content, backends))
