"""Plans: the schema by which a backend answers, and the strict reading of its answer (pure)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from shared.retry.answer_retry import Unusable
from shared.specification import Size, SpecificationKind
from shared.text import clean, one_line, redact
from shared.text.markdown import open_fence

M = TypeVar("M", bound=BaseModel)

ANSWER_LIMIT = 200_000
"""Maximum number of characters in an answer."""

PLAN_LIMIT = 24_000
"""Characters of a plan as JSON: it is posted twice in one comment of at most 65,536, for people and for programs."""

FAULTS_SHOWN = 20


class UnfitAnswer(Unusable):
    """An answer that does not fit its schema, or contradicts itself; its faults are cut to a length for a prompt."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__([one_line(fault, 300) for fault in faults[:FAULTS_SHOWN]])


def _line(text: str) -> str:
    """Return the text as one line; raises `ValueError` if it says nothing."""
    line = _optional(text)
    if not line:
        raise ValueError("says nothing")
    return line


def _optional(text: str) -> str:
    return " ".join(redact(clean(text), ()).split())


def _prose(text: str) -> str:
    """Return Markdown that leaves no code fence open; raises `ValueError` if it says nothing."""
    prose = redact(clean(text), ()).strip()
    if not prose:
        raise ValueError("says nothing")
    return f"{prose}\n{fence}" if (fence := open_fence(prose)) else prose


Key = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$")]
Title = Annotated[str, Field(max_length=200), AfterValidator(_line)]
Line = Annotated[str, Field(max_length=500), AfterValidator(_line)]
Remark = Annotated[str, Field(max_length=500), AfterValidator(_optional)]
Prose = Annotated[str, Field(max_length=4000), AfterValidator(_prose)]
Lines = Annotated[tuple[Line, ...], Field(max_length=30)]
Keys = Annotated[tuple[Key, ...], Field(max_length=20)]


class StrictModel(BaseModel):
    """A frozen part of an answer; unknown keys and wrong types are refused."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False)


class PlanStep(StrictModel):
    """One step of the work; `depends_on` are the ids of others."""

    id: Key
    title: Title
    files: Lines = ()
    depends_on: Keys = ()


class Ambiguity(StrictModel):
    """Something unclear and what depends on it; a blocking one is a question that a person answers first."""

    question: Line
    assumption: Remark = ""
    impact: Remark = ""
    blocking: bool = False


class Option(StrictModel):
    """One way to do it."""

    title: Title
    tradeoff: Line
    chosen: bool = False


class PlannedSpecification(StrictModel):
    """One specification issue to be; `depends_on` are the keys of others."""

    key: Key
    title: Title
    kind: SpecificationKind = SpecificationKind.FEATURE
    size: Size | None = None
    goal: Prose
    criteria: Annotated[tuple[Line, ...], Field(min_length=1, max_length=30)]
    files: Lines = ()
    may_change: Lines = ()
    out_of_scope: Lines = ()
    depends_on: Keys = ()


class Plan(StrictModel):
    """The way from a story to specifications. What is posted and created comes from here alone."""

    summary: Prose
    complexity: Literal["low", "medium", "high"]
    estimate_hours: Annotated[float, Field(ge=0, le=1000)]
    steps: Annotated[tuple[PlanStep, ...], Field(min_length=1, max_length=7)]
    ambiguities: Annotated[tuple[Ambiguity, ...], Field(max_length=20)] = ()
    options: Annotated[tuple[Option, ...], Field(max_length=6)] = ()
    specifications: Annotated[tuple[PlannedSpecification, ...], Field(min_length=1, max_length=20)]

    @property
    def questions(self) -> tuple[Ambiguity, ...]:
        """Questions that a person has to answer first."""
        return tuple(one for one in self.ambiguities if one.blocking)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Assumptions where the story does not say, one sentence or two for each."""
        return tuple(f"{one.question} {one.assumption}" for one in self.ambiguities if one.assumption)

    @property
    def ordered(self) -> tuple[tuple[int, PlannedSpecification], ...]:
        """The specifications with their numbers (from 1, as listed), each after those it depends on."""
        numbered = {one.key: (number, one) for number, one in enumerate(self.specifications, 1)}
        graph = {one.key: one.depends_on for one in self.specifications}
        return tuple(numbered[key] for key in TopologicalSorter(graph).static_order())


def schema() -> dict[str, Any]:
    """Return the JSON schema of a plan, for a backend."""
    return Plan.model_json_schema()


def dump(plan: Plan) -> str:
    """Return a plan as one line of JSON that no Markdown or HTML parser sees anything in."""
    data = plan.model_dump(mode="json")
    for one in data["specifications"]:
        if one["kind"] == SpecificationKind.FEATURE:
            del one["kind"]  # so an agent of a version that knows no kinds reads the plans that ask for none
        if one["size"] is None:
            del one["size"]
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("@", "\\u0040")


def sha256(text: str) -> str:
    """Return the hash by which a plan is named, over its `dump`."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def as_text(answer: Mapping[str, Any]) -> str:
    """Return a structured answer as JSON, for `read`; raises `UnfitAnswer` if it is nested too deeply."""
    try:
        return json.dumps(answer)
    except RecursionError:
        raise UnfitAnswer(["it is nested too deeply"]) from None


def read(text: str) -> Plan:
    """Return the plan that JSON spells, and nothing but JSON; raises `UnfitAnswer` with every fault found."""
    if len(text) > ANSWER_LIMIT:
        raise UnfitAnswer([f"it has {len(text):,} characters, {PLAN_LIMIT:,} are allowed"])
    plan = validated(Plan, text)
    faults = list(_contradictions(plan))
    if faults:
        raise UnfitAnswer(faults)
    return plan


def validated(model: type[M], text: str) -> M:
    """Return the answer that JSON spells, and nothing but JSON; raises `UnfitAnswer` with every fault of its shape."""
    _check_json(text)
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        places = ((".".join(map(str, one["loc"])), one["msg"]) for one in error.errors(include_url=False))
        raise UnfitAnswer([f"{place or 'the answer'}: {message}" for place, message in places]) from None


def _check_json(text: str) -> None:
    """Raise `UnfitAnswer` for what pydantic accepts or reports unclearly.

    That is duplicate keys, NaN, text around the JSON, and depth.
    """
    try:
        json.loads(text, object_pairs_hook=_refuse_repeated_keys, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        fault = f"it is not JSON and nothing else: {error.msg} at line {error.lineno}, column {error.colno}"
        raise UnfitAnswer([fault]) from None
    except RecursionError:
        raise UnfitAnswer(["it is nested too deeply"]) from None


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise UnfitAnswer([f"the key '{name}' stands twice in one object" for name in _repeated_names(names)])
    return dict(pairs)


def _refuse_constant(name: str) -> float:
    raise UnfitAnswer([f"{name} is not a number in JSON"])


def _contradictions(plan: Plan) -> Iterator[str]:
    length = len(dump(plan))
    if length > PLAN_LIMIT:
        yield f"it has {length:,} characters, {PLAN_LIMIT:,} are allowed: say less"
    yield from _graph_faults("step", [(one.id, one.depends_on) for one in plan.steps])
    yield from _graph_faults("specification", [(one.key, one.depends_on) for one in plan.specifications])


def _graph_faults(kind: str, nodes: Sequence[tuple[str, Sequence[str]]]) -> Iterator[str]:
    names = [name for name, _ in nodes]
    for name in _repeated_names(names):
        yield f"two {kind}s are called '{name}'"
    for name, depends_on in nodes:
        if name in depends_on:
            yield f"the {kind} '{name}' depends on itself"
        for unknown in sorted(set(depends_on) - set(names)):
            yield f"the {kind} '{name}' depends on '{unknown}', which does not exist"
    try:
        TopologicalSorter({name: set(depends_on) - {name} for name, depends_on in nodes}).prepare()
    except CycleError as error:
        circle = " -> ".join(reversed(error.args[1]))
        yield f"the {kind}s {circle} depend on each other in a circle"


def _repeated_names(names: Sequence[str]) -> list[str]:
    return sorted({name for name in names if names.count(name) > 1})
