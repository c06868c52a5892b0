"""The configuration of a running daemon: read again when its file changes, kept when the new one cannot be used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import structlog
from pydantic import BaseModel, SecretStr

from config.settings import Settings
from config.state import replace_file
from shared.clock import Clock
from shared.errors import EngineError
from shared.text.redaction import redact

log = structlog.get_logger()

LAST_GOOD = "config.last-good.yml"
"""The file in the state directory with the configuration as it was last used, without the secrets in it."""

AT_START = ("state_dir", "webhook", "stop_seconds")
"""Keys that only a restart changes: where the agent's identity lies, a door that stays open, how long a stop takes."""

LOOK_SECONDS = 2.0
"""Seconds between two looks at the file; a change counts if two see the same: editors replace a file in steps."""


class Follower(Protocol):
    """A user of the configuration: `runtime.daemon.agent_lifecycle.AgentLifecycle`."""

    @property
    def latest_settings(self) -> Settings:
        """The settings that it uses, or will use as soon as the phases in work have ended."""
        ...

    @property
    def used(self) -> Settings | None:
        """The settings that it polls by just now."""
        ...

    def renew(self, settings: Settings) -> None:
        """Continue with these settings."""
        ...


class Configuration:
    """The settings in force, and their source. All followers share them: what one cannot use, none keeps."""

    def __init__(self, settings: Settings, read: Callable[[], Settings], file: Path | None) -> None:
        """Read settings by `read`, which may raise `Misconfigured`; `file` is what it reads, if there is one."""
        self.settings = settings
        self._followers: list[Follower] = []
        self._read, self._file = read, file
        self._latest, self._content = settings, _bytes(file)
        self._kept = self._content
        self._refused = ""

    def join(self, follower: Follower) -> None:
        """Add a follower."""
        if follower not in self._followers:
            self._followers.append(follower)

    def changed(self, *, anew: bool = False, flaw: Callable[[Settings], str] = lambda _: "") -> Settings | None:
        """Return the new settings; None if nothing has changed, or if they cannot be used, which is logged once.

        With `anew` unchanged ones are returned too: what they name, such as a file with a token, may hold something
        else now. `flaw` returns why new ones cannot be used, in one sentence; empty if they can, as far as anybody
        knows.
        """
        self._content = _bytes(self._file)
        try:
            found = self._read()
        except EngineError as error:
            self._say_refused(str(error))
            return None
        differing = [name for name in Settings.model_fields if getattr(found, name) != getattr(self._latest, name)]
        if late := [name for name in differing if name in AT_START]:
            log.warning("configuration_needs_restart", keys=late, outcome="skipped")
            found = found.model_copy(update={name: getattr(self._latest, name) for name in late})
        live = [name for name in differing if name not in late]
        if not live and not anew:
            self._refused = ""
            log.info("configuration_unchanged", outcome="skipped")
            return None
        if why := flaw(found):
            self._say_refused(why)
            return None
        log.info("configuration_read", changed=live, applies="as soon as the phases in work have ended")
        self._latest, self._kept = found, self._content
        return found

    def refuse(self, why: str, refused: Settings | None = None) -> None:
        """Refuse settings (None: the newest) that do not work after all: all followers return to what all last used.

        Newer ones that are on their way already are given their own chance.
        """
        self._say_refused(why)
        if refused is not None and refused is not self._latest:
            return
        self._latest, self._kept = self.settings, None
        for follower in self._followers:
            if follower.latest_settings is not self.settings:
                follower.renew(self.settings)

    def _say_refused(self, why: str) -> None:
        if why != self._refused:  # once for each reason
            self._refused = why
            log.error("configuration_refused", outcome="failed", error=why, still_used=str(self._last_good))

    def used(self, settings: Settings) -> None:
        """Note that they work for one follower. Once all use them they are in force, and their file is kept."""
        if any(follower.used is not settings for follower in self._followers):
            return
        self.settings, self._refused = settings, ""
        if self._kept is None or settings is not self._latest:
            return
        try:
            replace_file(self._last_good, redact(self._kept.decode("utf-8", "replace"), _secrets(settings)))
        except EngineError as error:  # it is there to compare with; nothing reads it
            log.warning("configuration_not_kept", error=str(error))

    @property
    def _last_good(self) -> Path:
        return self.settings.state_dir / LAST_GOOD

    async def watch(self, changed: Callable[[], None], clock: Clock) -> None:
        """Call `changed` whenever the file has changed, until cancelled; also behind links, as of a ConfigMap.

        It is read every few seconds, rather than waited for by the kernel's events: not every file system tells of
        changes, and a second thread would cost an idle agent more.
        """
        before = self._content
        while self._file is not None:
            await clock.sleep(LOOK_SECONDS)
            now = _bytes(self._file)
            if now is not None and now == before and now != self._content:
                changed()
            before = now


def _secrets(section: BaseModel) -> Iterator[str]:
    """Yield the values that the configuration itself holds, such as a mail server's URL with its password."""
    for _, value in section:
        if isinstance(value, SecretStr):
            yield value.get_secret_value()
        elif isinstance(value, BaseModel):
            yield from _secrets(value)


def _bytes(file: Path | None) -> bytes | None:
    """Return the content; None while the file is not there: many programs replace a file by removing it first."""
    try:
        return file.read_bytes() if file is not None else None
    except OSError:
        return None
