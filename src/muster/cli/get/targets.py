"""What `muster get` was asked for: `KIND`, `KIND,KIND`, `KIND NAME…` or `KIND/NAME…`. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from muster.errors import InvalidObjectError

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Target:
    """One kind, and the names of it that are wanted; none for all."""

    kind: str
    names: tuple[str, ...] = ()


def targets(resource: str, names: Sequence[str]) -> list[Target]:
    """In the order in which they were asked for. Raises InvalidObjectError.

    >>> targets("placement/a", ["managedcluster/b"])
    [Target(kind='placement', names=('a',)), Target(kind='managedcluster', names=('b',))]
    """
    words = [resource, *names]
    if any("/" in word for word in words):
        return _by_slash(words)
    kinds = [kind.strip() for kind in resource.split(",")]
    if not all(kinds):
        raise InvalidObjectError("", f"there is an empty kind in {resource!r}")
    return [Target(kind, tuple(names)) for kind in dict.fromkeys(kinds)]


def _by_slash(words: Sequence[str]) -> list[Target]:
    found: dict[str, list[str]] = {}
    for word in words:
        kind, slash, name = word.partition("/")
        if not slash or not kind or not name or "/" in name or "," in kind:
            raise InvalidObjectError("", f"{word!r} is not KIND/NAME; say KIND NAME…, or KIND/NAME for each")
        found.setdefault(kind, []).append(name)
    return [Target(kind, tuple(names)) for kind, names in found.items()]
