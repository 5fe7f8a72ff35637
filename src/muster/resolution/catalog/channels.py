"""The order inside a channel, and the edges along which installed bundles are updated.

Version numbers play no part: a channel is ordered by who replaces whom, from its head, the one entry that nothing
replaces or skips. The words of its faults are upstream's, because catalog authors search the web for them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from muster.errors import MusterError
from muster.reasons import Code, Reason, Subject, sentence
from muster.values.semver import InvalidVersionError
from muster.values.semver_range import VersionRange, parse_range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.resolution.catalog.bundles import Entry


class BrokenChannelError(MusterError):
    """A channel whose entries have no single order."""

    def __init__(self, reason: Reason) -> None:
        self.reason = reason
        super().__init__()

    def __str__(self) -> str:
        return sentence(self.reason)


def sorted_channel(entries: Sequence[Entry], package: str = "", channel: str = "") -> list[Entry]:
    """The entries of one channel, head first, without those that another one skips."""
    if not entries:
        return []
    subject = Subject(package=package, channel=channel)
    # By identity: two catalogs may have an entry of one name each, and only the last is found by it.
    by_name = {entry.name: entry for entry in entries}
    replaced: set[Entry] = set()
    replaces: dict[Entry, Entry] = {}
    skipped: set[str] = set()
    for entry in entries:
        if entry.replaces and entry.replaces in by_name:
            replaces[entry] = by_name[entry.replaces]
            replaced.add(replaces[entry])
        present = [name for name in entry.skips if name in by_name]
        replaced.update(by_name[name] for name in present)
        skipped.update(present)
    heads = [entry for entry in entries if entry not in replaced]
    if not heads:
        raise BrokenChannelError(Reason(Code.CHANNEL_WITHOUT_HEAD, subject))
    chains = [_chain(head, replaces, skipped, subject) for head in heads]
    if len(chains) > 1:
        shown = tuple(_shown(chain) for chain in chains)
        raise BrokenChannelError(Reason(Code.CHANNEL_WITH_SEVERAL_HEADS, subject, {"chains": shown}))
    return chains[0]


def _chain(head: Entry, replaces: dict[Entry, Entry], skipped: set[str], subject: Subject) -> list[Entry]:
    """From the head along `replaces`. An entry that is skipped is left out; the chain goes on behind it."""
    chain: list[Entry] = []
    seen: set[Entry] = set()
    current = head
    while True:
        seen.add(current)
        if current.name not in skipped:
            chain.append(current)
        following = replaces.get(current)
        if following is None:
            return chain
        if following in seen:
            raise BrokenChannelError(Reason(Code.CHANNEL_CYCLE, subject).about(bundle=head.name))
        current = following


def _shown(chain: Sequence[Entry]) -> str:
    if not chain:
        return "[]"
    return chain[0].name if len(chain) == 1 else f"{chain[0].name}...{chain[-1].name}"


@lru_cache(maxsize=4096)
def _skip_range(text: str) -> VersionRange | None:
    """An unreadable skipRange updates nothing, as upstream has it."""
    try:
        return parse_range(text)
    except InvalidVersionError:
        return None


def updates(entry: Entry, current: Entry) -> bool:
    """Whether installing the entry is one step from the current bundle."""
    if entry.replaces == current.name or current.name in entry.skips:
        return True
    if not entry.skip_range or current.bundle.version is None:
        return False
    skipped = _skip_range(entry.skip_range)
    return skipped is not None and current.bundle.version in skipped
