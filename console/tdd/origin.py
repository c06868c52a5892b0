"""The remote `origin` as a repository on GitHub: its URL in every usual form, and which API serves it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from config.repository import repository_name
from runtime.building.sign_in import git_server
from shared.errors import Misconfigured

_SCP = re.compile(r"(?:[^@/:\s]+@)?(?P<host>[^@/:\s]+):(?!//)(?P<path>.+)")
"""As `git@github.com:owner/repo.git`."""

_SSH_OVER_HTTPS = {"ssh.github.com": "github.com", "altssh.github.com": "github.com"}
"""GitHub answers SSH on port 443 under another name (https://docs.github.com/en/authentication)."""

_DEFAULT_PORTS = {"https": 443, "http": 80}
"""Of web servers; a URL that names them means the same without."""

_PUBLIC = "https://api.github.com"


@dataclass(frozen=True, slots=True)
class Origin:
    """Host (with a port where it is a web server's) and full name of a repository."""

    host: str
    name: str


def parse(url: str) -> Origin:
    """What an HTTPS or SSH URL names; raises `Misconfigured` for every other remote, without showing a password."""
    found = _of_url(url) if "://" in url else _of_scp(url)
    shown = re.sub(r"//[^@/]*@", "//", url)
    if found is None:
        raise Misconfigured(f"The remote origin ({shown}) is no repository on a GitHub server: work with --local.")
    host, path = found
    try:
        name = repository_name(path.strip("/").removesuffix(".git"))
    except ValueError:
        raise Misconfigured(f"The remote origin ({shown}) names no owner/repo: work with --local.") from None
    return Origin(_SSH_OVER_HTTPS.get(host, host), name)


def api_of(origin: Origin, configured: str) -> str:
    """The API's root for an origin: the configured one if it serves that host, else GitHub's public one."""
    for api in (configured, _PUBLIC):
        if urlsplit(git_server(api)).netloc.casefold() == origin.host.casefold():
            return api
    raise Misconfigured(
        f"origin is on {origin.host}, and github.api_url is {configured}: set github.api_url to that server's API "
        f"(https://{origin.host}/api/v3), or work with --local."
    )


def _of_url(url: str) -> tuple[str, str] | None:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    host = (parts.hostname or "").casefold()
    if not host or parts.scheme not in {"https", "http", "ssh", "git+ssh"}:
        return None
    web = port not in {None, _DEFAULT_PORTS.get(parts.scheme)} and parts.scheme in _DEFAULT_PORTS
    return (f"{host}:{port}" if web else host), parts.path


def _of_scp(url: str) -> tuple[str, str] | None:
    found = _SCP.fullmatch(url)
    return None if found is None else (found["host"].casefold(), found["path"])
