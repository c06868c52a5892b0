"""Labels: the only writer of stage labels, the flags beside them, and their definitions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass

from shared.github import wire
from shared.github.address import segment
from shared.github.client import GitHub
from shared.github.errors import NotFound, Refused
from shared.github.item_changes import ItemChange, ItemChanges
from shared.lock.write_permit import OperatorPermit, WritePermit
from shared.workflow import UNLABELLED, Stage
from shared.workflow.labels import Flag, Labels, folded

LOOKS: dict[Stage | Flag, tuple[str, str]] = {
    Stage.PLANNING: ("c5def5", "The planner is at work"),
    Stage.AWAITING_APPROVAL: ("fbca04", "Waits for an answer or /approve"),
    Stage.SPECIFIED: ("bfdadc", "Its specification issues exist"),
    Stage.READY: ("0e8a16", "Free for a worker to take"),
    Stage.IMPLEMENTING: ("1d76db", "A worker writes tests and code, and runs them"),
    Stage.TESTING: ("5319e7", "The tests pass here; CI is watched"),
    Stage.REVIEWING: ("d4c5f9", "Ready for review"),
    Stage.IN_REVIEW: ("bfd4f2", "A reviewer is at work"),
    Stage.APPROVED: ("0e8a16", "The review approves this commit"),
    Stage.CHANGES_REQUESTED: ("f9d0c4", "The review asks for changes"),
    Stage.CI_FAILED: ("b60205", "CI failed repeatedly; needs a maintainer"),
    Stage.FAILED: ("b60205", "Failed; needs a maintainer"),
    Flag.MANUAL_INTERVENTION: ("d93f0b", "Needs a maintainer"),
    Flag.HAD_CONFLICT: ("e99695", "Contains a resolved merge conflict; a maintainer merges"),
    Flag.SPEC_REVIEW_NEEDED: ("e99695", "The specification needs another look"),
    Flag.BUDGET_EXCEEDED: ("e99695", "The budget was used up"),
    Flag.PROBLEMATIC_TEST: ("e99695", "A new test does not prove its criterion"),
    Flag.NEEDS_ANSWER: ("fbca04", "Questions are open"),
    Flag.PAUSED: ("cccccc", "Paused while this is set"),
}
"""Colour and description of each label."""

STORY_LOOK = ("a2eeef", "A user story, for the planner")


@dataclass(frozen=True, slots=True)
class WantedLabels:
    """The stage and flags that an item's labels are to show; `known` are its labels as just read, None for unread.

    A stage without a label leaves the stage labels as they are. `other_labels` are labels of any other name that are
    set too. `instead_of` is a label that must still be there when the stage is set: a person who takes it off orders to
    stop.
    """

    number: int
    stage: Stage
    known: frozenset[str] | None = None
    flags_on: tuple[Flag, ...] = ()
    flags_off: tuple[Flag, ...] = ()
    other_labels: tuple[str, ...] = ()
    instead_of: str = ""


class LabelBoard(ItemChanges):
    """The stage and flags that the labels of a repository's items show, and the other changes of these items."""

    def __init__(self, github: GitHub, repository: str, names: Labels) -> None:
        super().__init__(github, repository)
        self._names = names

    async def show(
        self,
        number: int,
        stage: Stage,
        permit: WritePermit,
        *,
        known: frozenset[str] | None = None,
        flags_on: Collection[Flag] = (),
        flags_off: Collection[Flag] = (),
    ) -> frozenset[str]:
        """Call `show_all` for one item; return all its labels then."""
        wanted = WantedLabels(number, stage, known, tuple(flags_on), tuple(flags_off))
        return (await self.show_all([wanted], permit))[0]

    async def show_all(self, wanted: Sequence[WantedLabels], permit: WritePermit) -> tuple[frozenset[str], ...]:
        """Make the stages the only stage labels of their items and set flags; return all labels of each then.

        Adds first, reads the reply (the whole set), then removes: a person's label added in between survives, and a
        crash in between leaves two stages rather than none. Items are changed in their order. For items with known
        labels, nothing is sent that is so already, and the rest is one request where GraphQL can be had. If the label
        is gone `instead_of` which a stage was to be set, ours is removed again and all others stay.
        """
        planned = [self._plan(item) for item in wanted]
        shown = []
        async with aclosing(self.begun_in_turn([change for change, _ in planned], permit)) as begun:
            for item, (change, unwanted) in zip(wanted, planned, strict=True):
                done = await anext(begun)
                added, current = done if done is not None else await self._labels_before(item)
                if change.on and item.instead_of and item.instead_of.casefold() not in folded(added):
                    unwanted = folded([self._names.of(item.stage)])
                # Flags first: an unfinished change is found by the stage left.
                for name in self._names.engine_labels(current):
                    if name.casefold() in unwanted:
                        await self.remove(item.number, name, permit)
                        current -= {name}
                shown.append(current)
        return tuple(shown)

    async def _labels_before(self, item: WantedLabels) -> tuple[frozenset[str], frozenset[str]]:
        """Return the labels of an item of which nothing was changed, twice as `begun_in_turn` does."""
        labels = item.known
        if labels is None:
            labels = wire.read(wire.label_names, await self._github.pages(f"{self._root}/issues/{item.number}/labels"))
        return labels, labels

    def _plan(self, wanted: WantedLabels) -> tuple[ItemChange, frozenset[str]]:
        """Return the change known to be needed, and our labels that must not be there in the end (folded)."""
        labelled = wanted.stage not in UNLABELLED
        on: tuple[Stage | Flag, ...] = (wanted.stage, *wanted.flags_on) if labelled else wanted.flags_on
        names = [*(self._names.of(what) for what in on), *wanted.other_labels]
        others = [s for s in Stage if s not in UNLABELLED] if labelled else []
        off: tuple[Stage | Flag, ...] = (*others, *wanted.flags_off)
        unwanted = folded(self._names.of(what) for what in off) - folded(names)
        known = wanted.known or frozenset()
        missing = [name for name in names if name.casefold() not in folded(known)]
        gone = [name for name in self._names.engine_labels(known) if name.casefold() in unwanted]
        return ItemChange(wanted.number, on=tuple(missing), off=tuple(gone)), unwanted

    async def is_defined(self, stage: Stage) -> bool:
        """Return whether the repository defines a stage's label."""
        try:
            await self._github.get(f"{self._root}/labels/{segment(self._names.of(stage))}")
        except NotFound:
            return False
        return True

    async def defined(self) -> tuple[str, ...]:
        """Return the engine's labels that the repository defines, as they are spelled there."""
        ours = folded(self._looks()) - {self._names.story.casefold()}
        return tuple(name for name in await self._defined_labels() if name.casefold() in ours)

    async def undefine(self, names: Collection[str], permit: OperatorPermit) -> None:
        """Remove labels from the repository, and so from every item that carries them; gone already is fine."""
        for name in names:
            with suppress(NotFound):
                await self._github.write("DELETE", f"{self._root}/labels/{segment(name)}", None, permit)

    async def missing(self) -> tuple[str, ...]:
        """Return the engine's labels that the repository does not define."""
        existing = folded(await self._defined_labels())
        return tuple(name for name in self._looks() if name.casefold() not in existing)

    async def outdated_looks(self) -> tuple[str, ...]:
        """Return the engine's labels that are defined with another colour or description than its own."""
        defined = {name.casefold(): look for name, look in (await self._defined_labels()).items()}
        looks = self._looks()
        return tuple(name for name in looks if defined.get(name.casefold(), looks[name]) != looks[name])

    async def create(self, names: Collection[str], permit: OperatorPermit) -> None:
        """Define some of the engine's labels; one that exists by now keeps its looks."""
        for name in names:
            try:
                await self._github.write("POST", f"{self._root}/labels", {"name": name, **self._fields(name)}, permit)
            except Refused as refused:
                if not refused.says("already_exists", "already exists"):
                    raise

    async def repaint(self, names: Collection[str], permit: OperatorPermit) -> None:
        """Give some of the engine's labels the engine's own colour and description."""
        for name in names:
            await self._github.write("PATCH", f"{self._root}/labels/{segment(name)}", self._fields(name), permit)

    async def create_all(self, permit: OperatorPermit) -> tuple[str, ...]:
        """Define every label that the repository lacks; those that exist keep their looks. Returns the new names."""
        created = await self.missing()
        await self.create(created, permit)
        return created

    def _looks(self) -> dict[str, tuple[str, str]]:
        return {self._names.of(name): look for name, look in LOOKS.items()} | {self._names.story: STORY_LOOK}

    def _fields(self, name: str) -> dict[str, str]:
        colour, description = self._looks()[name]
        return {"color": colour, "description": description}

    async def _defined_labels(self) -> dict[str, tuple[str, str]]:
        return dict(wire.each(wire.label_look, await self._github.pages(f"{self._root}/labels")))
