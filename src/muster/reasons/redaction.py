"""What a reader may not see is taken out of reasons: names of clusters, and what objects hold. Works on values.

Whoever decides what a user may see (the hub) says so with a `Reader`. What is written where everybody in a namespace
reads it (conditions, histories, events) is `bare`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from muster.reasons.reason import NOTHING
from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from muster.reasons.reason import Held, Parameter, Reason

HIDDEN: Final = "(hidden)"
_MOST_LISTED: Final = 100  # names and parts
_LONGEST_BARE: Final = 200  # characters of an expression or requirement
_IN_NAMES: Final = b"abcdefghijklmnopqrstuvwxyz0123456789-."
_OTHERS_TO_SPACES: Final = bytes(byte if byte in _IN_NAMES else 32 for byte in range(256))
_OUR_WORDS: Final = frozenset({"error", "noun", "of", "tie"})  # parameters that are words out of fixed lists


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads: somebody who may get all clusters, or all but `hidden`. `known`: words that he has read elsewhere."""

    all_clusters: bool
    hidden: Collection[str] = frozenset()
    known: Collection[str] = frozenset()

    def may_be_told(self, value: Parameter | Held) -> bool:
        """Whether a value is no name of a cluster that this reader may not get, and has none in it."""
        if self.all_clusters or not isinstance(value, str):
            return True
        return not any(word in self.hidden and word not in self.known for word in words_of(value))


EVERYTHING: Final = Reader(all_clusters=True)


def redacted(reason: Reason, reader: Reader, cluster: str = "") -> Reason:
    """The reason as this reader may see it. `cluster`: the one that it is about, if the reason itself does not say.

    What one cluster holds is for those who may get it, what is said of many together for those who may get all.
    """
    if reader.all_clusters:
        return reason
    of = reason.subject.cluster or cluster
    may_read = bool(of) and of not in reader.hidden
    subject = reason.subject
    if subject.cluster in reader.hidden:
        subject = msgspec.structs.replace(subject, cluster="")
    values = {name: value for name, value in reason.values.items() if may_read and reader.may_be_told(value)}
    return msgspec.structs.replace(
        reason,
        subject=subject,
        parameters={
            name: value if name in _OUR_WORDS else _told(value, reader) for name, value in reason.parameters.items()
        },
        values=values,
        clusters={role: name for role, name in reason.clusters.items() if name not in reader.hidden},
        parts=tuple(redacted(each, reader, of) for each in reason.parts),
    )


def _told(value: Parameter, reader: Reader) -> Parameter:
    if isinstance(value, tuple):
        return tuple(each if reader.may_be_told(each) else HIDDEN for each in value)
    return value if reader.may_be_told(value) else HIDDEN


def bare(reason: Reason, longest: int = _LONGEST_BARE) -> Reason:
    """The reason for everybody: without anything that an object holds, and short."""
    unnamed = msgspec.structs.replace(
        reason.subject,
        cluster="",
        requirement=_cut(reason.subject.requirement, longest),
        expression=_cut(reason.subject.expression, longest),
    )
    parts = tuple(bare(each, longest) for each in reason.parts)
    return msgspec.structs.replace(reason, subject=unnamed, values={}, clusters={}, parts=parts)


def bounded(reason: Reason, longest: int) -> Reason:
    """The reason with every text cut to so many characters, and every list to the first hundred."""
    return msgspec.structs.replace(
        reason,
        subject=NOTHING if reason.subject is NOTHING else _shortened(reason.subject, longest),
        parameters={name: _cut_any(value, longest) for name, value in reason.parameters.items()},
        values={_cut(name, longest): _cut_any(value, longest) for name, value in reason.values.items()},
        parts=tuple(bounded(each, longest) for each in reason.parts[:_MOST_LISTED]),
    )


def names_told(reason: Reason) -> Iterator[str]:
    """Whatever in a reason is, or may be, the name of a cluster."""
    if reason.subject.cluster:
        yield reason.subject.cluster
    yield from reason.clusters.values()
    for value in (*reason.values.values(), *reason.parameters.values()):
        for text in value if isinstance(value, tuple) else (value,):
            yield from words_of(text) if isinstance(text, str) else ()
    for each in reason.parts:
        yield from names_told(each)


def words_of(value: str) -> Iterator[str]:
    """The parts of a value that could be names of objects. Specs are searched too, and may have megabytes."""
    for word in value.encode("utf-8", "replace").translate(_OTHERS_TO_SPACES).split():
        yield word.strip(b"-.").decode("ascii")


def _shortened(subject: Json, longest: int) -> Json:
    texts = {name: _cut(getattr(subject, name), longest) for name in ("requirement", "expression")}
    return msgspec.structs.replace(subject, **texts)


def _cut_any(value: Json, longest: int) -> Json:
    if isinstance(value, tuple):
        return tuple(_cut(each, longest) for each in value[:_MOST_LISTED])
    return _cut(value, longest) if isinstance(value, str) else value


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}…"
