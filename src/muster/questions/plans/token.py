"""A plan's token: a digest of everything that the plan rests on, and enough beside it to say later what has changed.

An input has a name for people and a revision: what was there, or what came of it. Which inputs a plan has is decided
where they are read; docs/decisions/0250 says which and why. A token is good for whoever may see the same.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import TYPE_CHECKING, Final

import msgspec

from muster.values.json import Json, JsonMapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_VERSION: Final = "p1"
_DIGEST: Final = 16  # bytes
_SHORT: Final = 3  # bytes of a name or a revision, to tell what has changed; only the digest decides whether
_MOST_TOLD: Final = 40  # inputs of which the token says more than the digest
_SORTED: Final = msgspec.json.Encoder(order="sorted")
_VOLATILE: Final = ("resourceVersion", "managedFields", "selfLink")
_STATUS: Final = "status"


class Input(msgspec.Struct, frozen=True, array_like=True):
    """Something that a plan rests on."""

    what: str
    revision: str


def digest_of(*values: Json) -> str:
    """The same for the same JSON."""
    return hashlib.blake2b(_SORTED.encode(values), digest_size=_DIGEST).hexdigest()


def revision_of(obj: JsonMapping | None, *, with_status: bool) -> str:
    """What of an object a plan rests on: which one it is, and all that somebody wrote, with whose fields are whose.

    Its resourceVersion also moves with every heartbeat and with what controllers say of it; times of owners move
    without anything else.
    """
    if obj is None:
        return ""
    metadata = {name: value for name, value in obj["metadata"].items() if name not in _VOLATILE}
    left = {name: value for name, value in obj.items() if name not in ("metadata", _STATUS, "apiVersion")}
    owners = [
        [each.get("manager"), each.get("operation"), each.get("fieldsV1")]
        for each in obj["metadata"].get("managedFields", ())
        if with_status or each.get("subresource") != _STATUS
    ]
    return digest_of(metadata, left, owners, obj.get(_STATUS) if with_status else None)


def token_of(inputs: Iterable[Input]) -> str:
    """The token of a plan that rests on these."""
    known = sorted(inputs, key=lambda each: (each.what, each.revision))
    whole = hashlib.blake2b(_SORTED.encode(known), digest_size=_DIGEST).digest()
    parts = b"".join(_short(each.what) + _short(each.revision) for each in known) if len(known) <= _MOST_TOLD else b""
    return f"{_VERSION}.{_text(whole)}.{_text(parts)}"


def changes_since(token: str, inputs: Sequence[Input]) -> tuple[str, ...]:
    """What is different from the plan with this token, for people; nothing if it is the same plan."""
    if token == token_of(inputs):
        return ()
    parts = _parts(token)
    if parts is None:
        return ("it is no token of a plan: `muster plan` prints one",)
    then = {parts[at : at + _SHORT]: parts[at + _SHORT : at + 2 * _SHORT] for at in range(0, len(parts), 2 * _SHORT)}
    found = [f"{each.what} has changed" for each in inputs if then.get(_short(each.what), b"") != _short(each.revision)]
    gone = then.keys() - {_short(each.what) for each in inputs}
    if not then:
        return (f"something of the {len(inputs)} objects and decisions that the plan rests on has changed",)
    if gone:
        found.append(f"{len(gone)} of what the plan rested on {'is' if len(gone) == 1 else 'are'} not part of it now")
    return tuple(found) or ("something that the plan rests on has changed",)


def _parts(token: str) -> bytes | None:
    pieces = token.split(".")
    if len(pieces) != 3 or pieces[0] != _VERSION:
        return None
    try:
        whole, parts = (base64.b64decode(each + "=" * (-len(each) % 4), b"-_", validate=True) for each in pieces[1:])
    except (binascii.Error, ValueError):
        return None
    return parts if len(whole) == _DIGEST and len(parts) % (2 * _SHORT) == 0 else None


def _short(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=_SHORT).digest()


def _text(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")
