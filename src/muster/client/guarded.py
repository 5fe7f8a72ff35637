"""The client that controllers get: it sends no change that does not name the version it was decided from.

A leader that has slept finds its lease gone and its versions old: the fence stops what has not been sent, and the
server refuses what has. Only creations name no version: there is nothing yet that they could be older than.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api.parts import Node, Part
from muster.api.reading import Reader
from muster.client.client import JSON, Client
from muster.values.faults import Fault
from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.client.replies import Reply


class _Version(Part, frozen=True):
    resource_version: str = ""


class _Versioned(Node, frozen=True):
    """A body as far as it says what it was decided from."""

    metadata: _Version = _Version()
    preconditions: _Version = _Version()


_VERSIONS: Final = Reader(_Versioned)


class VersionMissingError(ValueError):
    """A write without the version that it was decided from: a mistake of ours, found before it is sent."""


class GuardedClient(Client):
    """Give it the fence of the lease that its writes are decided under; without one, only versions are asked for."""

    async def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: Json = None,
        content_type: str = JSON,
        accept: str = JSON,
        waits_for_others: bool = True,
    ) -> Reply:
        if method not in ("GET", "POST") and not _version(method, body):
            raise VersionMissingError(f"{method} {path}: it does not name the version that it was decided from")
        return await super().request(
            method,
            path,
            params=params,
            body=body,
            content_type=content_type,
            accept=accept,
            waits_for_others=waits_for_others,
        )


def _version(method: str, body: Json) -> str:
    """The version in a change or replacement, or among the preconditions of a deletion."""
    found = _VERSIONS.fitted(body)
    if isinstance(found, Fault):
        return ""
    holder = found.obj.preconditions if method == "DELETE" else found.obj.metadata
    return holder.resource_version
