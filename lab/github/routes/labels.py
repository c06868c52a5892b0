"""The labels of a repository and those on its issues and pull requests."""

from __future__ import annotations

from lab.github.http.call import THREADS, ApiCall, Operations, Reply, created
from lab.github.http.refusals import invalid
from lab.github.wire import threads as wire
from lab.github.world.issues import IssueRecord
from lab.github.world.labels import UNKNOWN_COLOR

routes = Operations()


@routes.get("/labels", *THREADS)
async def list_labels(call: ApiCall) -> Reply:
    """Every label that is defined, by name."""
    return call.list(wire.label, call.repository.labels.values())


@routes.write("POST", "/labels", *THREADS)
async def create_label(call: ApiCall) -> Reply:
    """Define a label."""
    color = call.optional_text("Label", "color") or UNKNOWN_COLOR
    description = call.optional_text("Label", "description")
    label = call.repository.labels.create(call.text("Label", "name"), color, description)
    return created(call.show(wire.label, label))


@routes.get("/labels/{name}", *THREADS)
async def get_label(call: ApiCall) -> Reply:
    """One definition."""
    return Reply(body=call.show(wire.label, call.repository.labels.require(call.match["name"])))


@routes.write("PATCH", "/labels/{name}", *THREADS)
async def update_label(call: ApiCall) -> Reply:
    """Rename, recolour or redescribe; threads keep the label under its new name."""
    old = call.repository.labels.require(call.match["name"])
    new_name, color = call.optional_text("Label", "new_name"), call.optional_text("Label", "color")
    description = call.optional_text("Label", "description")
    label = call.repository.labels.change(old.name, new_name, color, description)
    call.repository.issues.label_renamed(old.name, label.name)
    return Reply(body=call.show(wire.label, label))


@routes.write("DELETE", "/labels/{name}", *THREADS)
async def delete_label(call: ApiCall) -> Reply:
    """Take a definition away, and the label off every thread."""
    label = call.repository.labels.remove(call.match["name"])
    call.repository.issues.label_renamed(label.name, None)
    return Reply(204)


@routes.get("/issues/{issue_number}/labels", *THREADS)
async def list_issue_labels(call: ApiCall) -> Reply:
    """The labels of a thread."""
    return _show_labels(call, call.repository.issues.require(call.number("issue_number"), call.stale))


@routes.write("POST", "/issues/{issue_number}/labels", *THREADS)
async def add_issue_labels(call: ApiCall) -> Reply:
    """Add labels; the answer is the whole set."""
    number = call.issue().number
    return _show_labels(call, call.repository.issues.add_labels(number, _read_names(call), call.login))


@routes.write("PUT", "/issues/{issue_number}/labels", *THREADS)
async def set_issue_labels(call: ApiCall) -> Reply:
    """Replace the whole set."""
    number = call.issue().number
    return _show_labels(call, call.repository.issues.set_labels(number, _read_names(call), call.login))


@routes.write("DELETE", "/issues/{issue_number}/labels/{name}", *THREADS)
async def remove_issue_label(call: ApiCall) -> Reply:
    """Take one label off; the answer is what is left, or 404 when it was not on."""
    number = call.issue().number
    return _show_labels(call, call.repository.issues.remove_label(number, call.match["name"], call.login))


def _read_names(call: ApiCall) -> list[str]:
    """The names in the body: an object with `labels`, or (GitHub takes it too) a bare list."""
    names = call.body if isinstance(call.body, list) else call.names("Label", "labels")
    if names is None or not all(isinstance(name, str) for name in names):
        raise invalid("Label", "labels")
    return names


def _show_labels(call: ApiCall, issue: IssueRecord) -> Reply:
    return Reply(body=call.show(wire.labels_of, issue))
