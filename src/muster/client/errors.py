"""What can go wrong on the way to an API server, and its refusals as errors."""

from __future__ import annotations

import msgspec

from muster.errors import ApiError, MusterError
from muster.values.json import Json

_LONGEST_WAIT = 10


class UnreachableError(MusterError):
    """No answer from the server: it is not running, not there, or the connection broke."""

    def __init__(self, server: str, cause: str) -> None:
        self.server = server
        self.cause = cause
        super().__init__(server, cause)

    def __str__(self) -> str:
        return f"no answer from {self.server}: {self.cause}. Is the server running? (`muster hub run` starts a hub)"


class CredentialsError(UnreachableError):
    """The credentials have ended or are refused, and new ones cannot be had."""

    def __str__(self) -> str:
        return f"no credentials for {self.server}: {self.cause}"


def refusal(code: int, body: bytes) -> ApiError:
    """The error that an answer with this code and body means. Servers and proxies also answer with plain text."""
    try:
        status: Json = msgspec.json.decode(body)
    except msgspec.DecodeError:
        status = None
    if isinstance(status, dict) and status.get("kind") == "Status":
        details = status.get("details")
        about = {name: str(details.get(name, "")) for name in ("kind", "name")} if isinstance(details, dict) else {}
        return ApiError(code, str(status.get("reason", "")), str(status.get("message", "")), **about)
    text = body[:500].decode("utf-8", "replace").strip() or f"the server answered with code {code}"
    return ApiError(code, "", text)


def retry_after(code: int, header: str) -> float | None:
    """Seconds after which the server wants the same request again; None when it does not, or not soon."""
    if code not in (429, 503) or not header.isdecimal():
        return None
    seconds = float(header)
    return max(seconds, 0.1) if seconds <= _LONGEST_WAIT else None
