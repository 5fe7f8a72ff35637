"""What a request must show before anything is done for it: the right host, the right origin, a session.

A page of another site whose name resolves to this machine sends its own name as Host (DNS rebinding). A page of another
port of this machine counts as same-site and sends our cookie, but another Origin and not our header.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.console.sessions import Session, Sessions

SECRET_HEADER: Final = "X-Muster-Session"  # noqa: S105 - a name
_SAFE: Final = frozenset({"GET", "HEAD"})
LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not served."""

    code: int
    message: str


@dataclass(frozen=True, slots=True)
class Entrance:
    """The names that the console has, and its sessions."""

    origins: frozenset[str]
    cookie: str
    sessions: Sessions

    @property
    def _hosts(self) -> frozenset[str]:
        return frozenset(each.partition("://")[2] for each in self.origins)

    def wrong_host(self, headers: Mapping[str, str]) -> Refusal | None:
        """Every request: is it us whom the browser means?"""
        if headers.get("Host", "").lower() in self._hosts:
            return None
        return Refusal(421, f"this is not that host: open {min(self.origins)}")

    def wrong_origin(self, method: str, headers: Mapping[str, str]) -> Refusal | None:
        """Every request that does something or reads something: does a page of ours send it?

        Browsers send Origin with everything but plain reads, and Sec-Fetch-Site with all; programs may send neither,
        and have to know both secrets anyway.
        """
        origin = headers.get("Origin")
        site = headers.get("Sec-Fetch-Site", "same-origin")
        foreign = origin not in self.origins if origin is not None else method not in _SAFE
        if foreign or site != "same-origin":
            return Refusal(403, "only the console's own pages may ask this")
        return None

    def session(self, headers: Mapping[str, str], cookies: Mapping[str, str]) -> Session | Refusal:
        """Who asks: the cookie and the header, both."""
        found = self.sessions.find(cookies.get(self.cookie, ""), headers.get(SECRET_HEADER, ""))
        return found or Refusal(401, "no session: open the link that `muster console` prints, or log in again")


def loopback_origins(port: int) -> frozenset[str]:
    return frozenset(f"http://{host}:{port}" for host in LOOPBACK)
