"""A catalog, indexed: its entries in the order in which they are preferred, and who provides what.

Entries are numbered by preference: those in default channels first, then by package, channel and place in the channel,
head first. Entries that cannot be chosen anew (skipped ones, and all of a broken channel) come last; they are still
found by name. Built from blobs by `blobs.py`, or from entries.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from muster.reasons import sentence
from muster.resolution.catalog.channels import BrokenChannelError, sorted_channel
from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from muster.reasons import Reason
    from muster.resolution.catalog.bundles import Bundle, CatalogKey, Entry
    from muster.resolution.catalog.properties import Api

_NONE_DEPRECATED: Final[Mapping[tuple[str, ...], str]] = MappingProxyType({})
_NO_PLACES: Final[Mapping[tuple[str, str], str]] = MappingProxyType({})


class ChannelKey(NamedTuple):
    package: str
    channel: str


@dataclass(frozen=True, slots=True)
class Fault:
    """Something in a catalog that cannot be used: where, and what is wrong. Everything else goes on."""

    where: str
    reason: Reason

    @property
    def text(self) -> str:
        return sentence(self.reason)

    def __str__(self) -> str:
        return f"{self.where}: {self.text}" if self.where else self.text


@dataclass(frozen=True, slots=True)
class StandingIn:
    """Channels in place of a broken default one. The entries of one package that are in order are neighbours."""

    first: int  # the smallest of their numbers
    ranks: Mapping[str, int]  # by channel, newest head first


@dataclass(frozen=True, slots=True, eq=False)
class Catalog:
    """Entries with their indexes; every index lists numbers in ascending order."""

    key: CatalogKey
    priority: int
    entries: tuple[Entry, ...]
    ordered: int  # entries from this number on are not candidates for a new installation
    left_over: frozenset[Entry]  # those entries
    by_package: Mapping[str, Sequence[int]]
    by_api: Mapping[Api, Sequence[int]]
    by_label: Mapping[str, Sequence[int]]
    broken: Mapping[ChannelKey, BrokenChannelError]
    faults: tuple[Fault, ...] = ()
    unavailable: str = ""  # why the catalog as a whole cannot be used
    # Packages whose default channel is broken: their first number, and their other channels by newest head.
    standing_in: Mapping[str, StandingIn] = field(default_factory=dict)
    deprecations: Mapping[tuple[str, ...], str] = field(default_factory=dict)
    places: Mapping[tuple[str, str], str] = field(default_factory=dict)  # as the builder of catalogs has them

    def channel_fault(self, key: ChannelKey, broken: BrokenChannelError) -> Fault:
        """A fault of a channel, where it was read."""
        where = self.places.get((key.package, f"channel {key.channel}"), "")
        return Fault(where or f"catalog {self.key.name}", broken.reason)

    def is_candidate(self, entry: Entry) -> bool:
        return entry not in self.left_over

    def preferred(self, numbers: Sequence[int]) -> Sequence[int]:
        """The numbers in order of preference where a broken default channel fails nothing but itself.

        A default channel is what its author recommends. When it cannot be used the channel whose head is newest comes
        first, not the one whose name does: names put 1.1.x before 2.3.x.
        """
        return sorted(numbers, key=self._preference) if self.standing_in else numbers

    def _preference(self, number: int) -> tuple[int, int, int]:
        entry = self.entries[number]
        found = self.standing_in.get(entry.package) if number < self.ordered else None
        return (number, 0, number) if found is None else (found.first, found.ranks[entry.channel], number)

    def channels(self, package: str) -> list[str]:
        found = (self.entries[number] for number in self.by_package.get(package, ()))
        return sorted({entry.channel for entry in found if entry.package == package})

    def default_channel(self, package: str) -> str:
        found = (self.entries[number] for number in self.by_package.get(package, ()))
        return next((entry.channel for entry in found if entry.package == package and entry.in_default_channel), "")


def index_catalog(
    key: CatalogKey,
    entries: Iterable[Entry],
    *,
    priority: int = 0,
    faults: Iterable[Fault] = (),
    unavailable: str = "",
    deprecations: Mapping[tuple[str, ...], str] = _NONE_DEPRECATED,
    places: Mapping[tuple[str, str], str] = _NO_PLACES,
) -> Catalog:
    """Put the entries in order and index them. The order in which they come does not matter."""
    groups: dict[tuple[bool, str, str], list[Entry]] = defaultdict(list)
    for entry in entries:
        groups[not entry.in_default_channel, entry.package, entry.channel].append(entry)
    ranked: list[Entry] = []
    others: list[Entry] = []
    broken: dict[ChannelKey, BrokenChannelError] = {}
    defaults: dict[str, bool] = {}  # whether a default channel can be used
    heads: dict[str, list[tuple[int, Entry]]] = defaultdict(list)
    for (not_default, package, channel), members in sorted(groups.items()):
        members.sort(key=lambda entry: (entry.name, entry.replaces, entry.skips, entry.skip_range))
        try:
            chain = sorted_channel(members, package, channel)
        except BrokenChannelError as error:
            broken[ChannelKey(package, channel)] = error
            others += members
            if not not_default:
                defaults.setdefault(package, False)
            continue
        if not not_default:
            defaults[package] = True
        elif not defaults.get(package, True):
            heads[package].append((len(ranked), chain[0]))
        ranked += chain
        if len(chain) < len(members):
            kept = set(map(id, chain))
            others += [entry for entry in members if id(entry) not in kept]
    indexed = _indexed(key, (*ranked, *others), len(ranked))
    return replace(
        indexed,
        priority=priority,
        broken=broken,
        faults=tuple(faults),
        unavailable=unavailable,
        standing_in={package: _standing_in(found) for package, found in heads.items()},
        deprecations=deprecations,
        places=places,
    )


def _standing_in(heads: Sequence[tuple[int, Entry]]) -> StandingIn:
    """From the heads of a package's channels and their numbers, in the order of names, which decides between equals."""
    newest = sorted((head for _, head in heads), key=_version_key, reverse=True)
    return StandingIn(heads[0][0], {head.channel: place for place, head in enumerate(newest)})


def _version_key(entry: Entry) -> tuple[Json, ...]:
    return () if entry.bundle.version is None else entry.bundle.version.key


def index_in_order(key: CatalogKey, entries: Sequence[Entry]) -> Catalog:
    """The same for entries that have no channels: their order is their preference."""
    return _indexed(key, tuple(entries), len(entries))


def _indexed(key: CatalogKey, entries: tuple[Entry, ...], ordered: int) -> Catalog:
    by_package: dict[str, list[int]] = defaultdict(list)
    by_api: dict[Api, list[int]] = defaultdict(list)
    by_label: dict[str, list[int]] = defaultdict(list)
    for number, entry in enumerate(entries):
        bundle = entry.bundle
        for name in _packages(bundle):
            by_package[name].append(number)
        for api in dict.fromkeys(bundle.apis):
            by_api[api].append(number)
        for label in dict.fromkeys(bundle.labels):
            by_label[label].append(number)
    return Catalog(
        key=key,
        priority=0,
        entries=entries,
        ordered=ordered,
        left_over=frozenset(entries[ordered:]),
        by_package=dict(by_package),
        by_api=dict(by_api),
        by_label=dict(by_label),
        broken={},
    )


def _packages(bundle: Bundle) -> Iterable[str]:
    if len(bundle.packages) == 1 and bundle.packages[0].name == bundle.package:
        return (bundle.package,)
    return dict.fromkeys((bundle.package, *(said.name for said in bundle.packages)))
