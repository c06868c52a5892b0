"""The entry script of mini-swe-agent: one task from standard input, its messages as JSON lines on standard output.

The program's own Python runs it, apart from the engine, of which it imports nothing. The loop, its limits and the shell
are mini-swe-agent's; the requests to the server, the tools and the end of a run are decided here. Nothing that a
command prints ends a run: mini-swe-agent would end it by the first line of any output, and a file can hold that line.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

PLACE = Path(sys.argv[1]).parents[1]
"""Directory of the packages, beside the program: they are below an environment's `lib`, or here."""

if (PLACE / "minisweagent").is_dir():
    sys.path.insert(0, str(PLACE))

import requests
from jinja2 import Template
from minisweagent import __version__
from minisweagent.agents.default import DefaultAgent
from minisweagent.environments.local import LocalEnvironment
from minisweagent.exceptions import FormatError, Submitted
from minisweagent.models.openrouter_model import OpenRouterModel

ANSWER = "structured_output"
"""The tool by which a structured answer is given."""

SHOWN = 20_000
"""Characters of one output that the model sees; one reading of a file gives no more."""

LINE_SHOWN = 2_000
"""Characters of one line that a reading gives."""

CONNECT_SECONDS, ANSWER_SECONDS = 30, 3600
"""Timeouts, in seconds, of connecting and of the answer; the engine's own limits are shorter."""

OBSERVATION = """\
{%- set text = output.output -%}
{%- if output.exception_info %}{{ output.exception_info }}
{% endif -%}
{%- if output.returncode %}exit code {{ output.returncode }}
{% endif -%}
{%- if text | length <= SHOWN %}{{ text }}{% else %}{{ text[:HALF] }}
[{{ text | length - SHOWN }} characters are left out here]
{{ text[-HALF:] }}{% endif -%}
""".replace("SHOWN", str(SHOWN)).replace("HALF", str(SHOWN // 2))

UNFIT = """\
{%- if finish_reason == "length" -%}
Your answer met the server's limit of length before it called a tool. Say less, and call a tool.
{%- else -%}
{{ error }}
{%- endif -%}
"""


class Failed(Exception):
    """A request that failed; a further try may help. `status` is None where nothing, or nonsense, was answered."""

    def __init__(self, message: str, status: int | None = None, kind: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind


class Refused(Failed):
    """A request that the server has refused for good."""


class Model(OpenRouterModel):
    """Chat completions of the server that the order names, with the tools of the call."""

    abort_exceptions = (Refused, KeyboardInterrupt)

    def __init__(self, order: Mapping[str, Any]) -> None:
        super().__init__(model_name=order["model"], observation_template=OBSERVATION, format_error_template=UNFIT)
        self._api_url = f"{order['url']}/chat/completions"
        self._api_key = order["token"]
        self._tools = order["tools"]
        self._wants = order["answer"]
        self._session = requests.Session()
        self._session.trust_env = False  # no proxy and no .netrc

    def _query(self, messages: list[dict[str, Any]], **_: Any) -> dict[str, Any]:
        tools = {"tools": self._tools} if self._tools else {}
        stream = {"stream": True, "stream_options": {"include_usage": True}}
        body = json.dumps({"model": self.config.model_name, "messages": messages, **tools, **stream}).encode()
        headers = {"Authorization": f"Bearer {self._api_key}", "Content-Type": "application/json"}
        more: dict[str, Any] = {
            "headers": headers,
            "timeout": (CONNECT_SECONDS, ANSWER_SECONDS),
            "allow_redirects": False,
        }
        try:
            with self._session.post(self._api_url, body, stream=True, **more) as answer:
                return _completion(answer)
        except (requests.exceptions.RequestException, ValueError) as error:
            raise Failed(f"the answer of the model server could not be read ({type(error).__name__})") from None
        except (AttributeError, KeyError, TypeError, IndexError):
            raise Failed("the answer of the model server is no chat completion") from None

    def _calculate_cost(self, response: Mapping[str, Any]) -> dict[str, float]:
        return {"cost": 0.0}  # the model proxy knows it

    def _parse_actions(self, response: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the tools to call; raise `Submitted` for an answer that ends the run, and `FormatError`."""
        choice = response["choices"][0]
        reason, message = choice.get("finish_reason"), choice["message"]
        calls = message.get("tool_calls") or []
        if message.get("refusal") or reason == "content_filter":
            raise _end_error("Declined", str(message.get("refusal") or "the server's filter"), response=response)
        if calls:
            return [_action(call) for call in calls]
        if not self._wants and reason != "length" and (text := _text(message)).strip():
            raise _end_error("Submitted", text, response=response)
        wanted = f"Your answer has to be given by the tool {ANSWER}." if self._wants else "You have said nothing."
        raise _format_error(self._render(wanted, reason), _text(message))

    def _render(self, error: str, reason: str | None) -> str:
        return str(Template(self.config.format_error_template).render(error=error, finish_reason=reason))


class Tools(LocalEnvironment):
    """The tools of the model: run commands in the work tree, or only read it, and give its answer."""

    def __init__(self, order: Mapping[str, Any]) -> None:
        self._root = Path.cwd().resolve()
        pagers = {"PAGER": "cat", "GIT_PAGER": "cat", "MANPAGER": "cat"}
        super().__init__(cwd=str(self._root), timeout=order["command_seconds"], env=pagers)
        self._known = {tool["function"]["name"] for tool in order["tools"]}

    def execute(self, action: Mapping[str, Any], cwd: str = "") -> dict[str, Any]:
        """Call one tool; raise `Submitted` for the answer."""
        name, given = action["tool"], action["given"]
        match name if name in self._known else None, given:
            case "bash", {"command": str(command)}:
                return dict(super().execute({"command": command}))
            case "read_file", {"path": str(path)}:
                return self._read_lines(path, given.get("offset"))
            case "structured_output", _:
                raise _end_error("Submitted", json.dumps(given), answer=given)
            case None, _:
                return _tool_result(f"There is no tool '{name}' in this call.", code=1)
            case _:
                return _tool_result(f"The arguments do not fit the tool '{name}'.", code=1)

    def _check_finished(self, output: Mapping[str, Any]) -> None:
        """Do nothing: no output of a command ends the run."""

    def _read_lines(self, path: str, offset: object) -> dict[str, Any]:
        """Return lines of a file, or the names in a directory, of the work tree and nowhere else."""
        first = offset if isinstance(offset, int) and offset > 1 else 1
        try:
            place = (self._root / path).resolve()
            if not place.is_relative_to(self._root):
                return _tool_result("Only what lies in the working directory can be read.", code=1)
            if place.is_dir():
                return _tool_result("\n".join(sorted(f"{one.name}{'/' * one.is_dir()}" for one in place.iterdir())))
            if not place.is_file():
                return _tool_result(f"There is no file '{path}'.", code=1)
            with place.open(encoding="utf-8", errors="replace") as file:
                return _tool_result("".join(_numbered_lines(file, first)))
        except (OSError, ValueError) as error:
            return _tool_result(f"'{path}' cannot be read: {error}", code=1)


class Agent(DefaultAgent):
    """The loop of mini-swe-agent, which prints each message as it comes."""

    def add_messages(self, *messages: dict[str, Any]) -> list[dict[str, Any]]:
        """Print the messages, and keep them."""
        for message in messages:
            _print_event(_event(message))
        return list(super().add_messages(*messages))

    def handle_uncaught_exception(self, error: Exception) -> list[dict[str, Any]]:
        """Print the reason for the end, without a traceback."""
        facts = {"status": getattr(error, "status", None), "kind": getattr(error, "kind", "")}
        return self.add_messages(
            {"role": "exit", "content": str(error), "extra": {"exit_status": type(error).__name__, **facts}}
        )


REPLACED = {
    OpenRouterModel: ("_query", "_calculate_cost", "_parse_actions"),
    LocalEnvironment: ("execute", "_check_finished"),
    DefaultAgent: ("add_messages", "handle_uncaught_exception"),
}
"""Methods overridden here: a version that calls them by other names would use its own rules."""


def main() -> int:
    """Make one run, or print the version; return the exit code."""
    if sys.argv[2:] == ["--version"]:
        lacking = [name for base, names in REPLACED.items() for name in names if not hasattr(base, name)]
        said = f" without {', '.join(lacking)}" if lacking else ""
        sys.stdout.write(f"mini-swe-agent {__version__}{said}\n")
        return 0
    order = json.load(sys.stdin.buffer)
    _print_event({"type": "run", "version": __version__, "model": order["model"]})
    limits = {"step_limit": order["turns"], "cost_limit": 0.0, "max_consecutive_format_errors": 3}
    templates = {"system_template": "{{ instructions }}", "instance_template": "{{ task }}"}
    agent = Agent(Model(order), Tools(order), **templates, **limits)
    try:
        agent.run(order["task"], instructions=order["instructions"])
    except Exception:  # it was told
        return 1
    return 0


def _completion(answer: Any) -> dict[str, Any]:
    """Return a whole answer, joined if it is a stream; raise `Failed` for a refusal and for one that breaks off."""
    if answer.status_code != 200:
        raise _failure(answer)
    if "text/event-stream" in answer.headers.get("content-type", ""):
        found = _join_stream(answer.iter_lines())
    else:
        found = answer.json()
    choice = found["choices"][0]
    choice["message"] = {key: value for key, value in choice["message"].items() if value is not None}
    return dict(found)


def _join_stream(lines: Iterable[bytes]) -> dict[str, Any]:
    """Join the events of a stream to an answer; raise `Failed` if it has no end."""
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    calls: dict[int, dict[str, Any]] = {}
    choice = {"message": message, "finish_reason": None}
    found: dict[str, Any] = {"choices": [choice]}
    for line in lines:
        if not line.startswith(b"data:") or line[5:].strip() == b"[DONE]":
            continue
        chunk = json.loads(line[5:])
        if error := chunk.get("error"):
            raise Failed(str(error.get("message") if isinstance(error, dict) else error))
        found |= {key: chunk[key] for key in ("model", "usage") if chunk.get(key)}
        for part in chunk.get("choices") or ():
            choice["finish_reason"] = part.get("finish_reason") or choice["finish_reason"]
            _add(message, calls, part.get("delta") or {})
    if choice["finish_reason"] is None:
        raise Failed("the answer of the model server broke off")
    if calls:
        message["tool_calls"] = list(calls.values())
    return found


def _add(message: dict[str, Any], calls: dict[int, dict[str, Any]], delta: Mapping[str, Any]) -> None:
    """Append one piece: texts grow, and so do the arguments of tool calls."""
    for key, value in delta.items():
        if key == "tool_calls":
            for piece in value or ():
                _call(calls, piece)
        elif key != "role" and isinstance(value, str | list):
            message[key] = message[key] + value if message.get(key) else value


def _call(calls: dict[int, dict[str, Any]], piece: Mapping[str, Any]) -> None:
    """Append one piece of a tool call; a server that numbers none gives each whole."""
    empty = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
    known = calls.setdefault(piece.get("index", len(calls)), empty)
    told = piece.get("function") or {}
    known["id"] = known["id"] or piece.get("id") or ""
    known["function"]["name"] = known["function"]["name"] or told.get("name") or ""
    known["function"]["arguments"] += told.get("arguments") or ""


def _failure(answer: Any) -> Failed:
    """Return the error for a status: `Failed` if it may pass, as of a server in trouble, else `Refused`."""
    try:
        error = answer.json()["error"]
        message, kind = str(error["message"]), str(error.get("code") or error.get("type") or "")
    except (ValueError, KeyError, TypeError, AttributeError):
        message, kind = answer.text[:500] or str(answer.reason), ""
    passing = answer.status_code >= 500 or answer.status_code in {408, 409, 425, 429}
    return (Failed if passing else Refused)(message, answer.status_code, kind)


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"text": content}]
    return "".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))


def _action(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return one tool call; raise `FormatError` if its arguments are no JSON, which no server wants back."""
    asked = call.get("function") or {}
    try:
        given = json.loads(asked.get("arguments") or "{}")
    except ValueError:
        raise _format_error(f"The arguments of the tool '{asked.get('name')}' are no JSON.", "") from None
    known = given if isinstance(given, dict) else {}
    return {"tool": str(asked.get("name")), "given": known, "tool_call_id": call.get("id")}


def _format_error(content: str, said: str) -> Exception:
    extra = {"interrupt_type": "FormatError", "said": said}
    error: Exception = FormatError({"role": "user", "content": content, "extra": extra})
    return error


def _end_error(status: str, text: str, **facts: Any) -> Exception:
    extra = {"exit_status": status, "submission": text, **facts}
    error: Exception = Submitted({"role": "exit", "content": text, "extra": extra})
    return error


def _numbered_lines(lines: Iterable[str], first: int) -> Iterator[str]:
    """Yield the lines that fit into one output, and the offset at which to continue."""
    room = SHOWN - 100
    for number, line in enumerate(islice(lines, first - 1, None), first):
        shown = line if len(line) <= LINE_SHOWN else f"{line[:LINE_SHOWN]} [the line is longer]\n"
        room -= len(shown) + 10
        if room < 0:
            yield f"[it goes on: offset {number}]\n"
            return
        yield f"{number}\t{shown}"


def _tool_result(text: str, code: int = 0) -> dict[str, Any]:
    return {"output": text, "returncode": code, "exception_info": ""}


def _event(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message without duplicates: without the unshortened output and the whole answer."""
    extra = message.get("extra", {})
    answer = extra.get("response") or {}
    kept = ("exit_status", "answer", "status", "kind", "interrupt_type", "said", "returncode")
    facts = {key: extra[key] for key in kept if extra.get(key) is not None}
    told = {key: message[key] for key in ("role", "content", "tool_calls", "tool_call_id") if key in message}
    usage = {"usage": answer["usage"], "model": answer.get("model")} if answer.get("usage") else {}
    return {"type": "message", **told, **facts, **usage}


def _print_event(event: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
