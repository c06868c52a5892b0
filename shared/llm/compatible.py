"""The server of backends that speak OpenAI's chat completions: any that a person names, with its key."""

from __future__ import annotations

from shared.errors import Misconfigured, MissingCredentials
from shared.llm.backend import Environment
from shared.llm.endpoint import Endpoint

KEY, URL = "OPENAI_COMPATIBLE_API_KEY", "OPENAI_COMPATIBLE_BASE_URL"
"""Variables of a person's environment; Codex has its own, so that both can be used beside each other."""

COMPANY = "the model server"


def server(environment: Environment, backend: str) -> Endpoint:
    """Return the server and its key; raise `MissingCredentials`, and `Misconfigured` if no server is named.

    The address is the part before `/chat/completions`; without any path it is the part before `/v1`.
    """
    key, url = (environment.get(name, "").strip() for name in (KEY, URL))
    if not key:
        raise MissingCredentials(
            f"The {backend} backend has no key: set {KEY} to that of a server that speaks OpenAI's chat completions "
            f"(any word where it asks for none), and {URL} to its address."
        )
    if not url:
        raise Misconfigured(f"The {backend} backend has no server: set {URL}, as in https://openrouter.ai/api/v1.")
    return Endpoint(url.rstrip("/"), key)
