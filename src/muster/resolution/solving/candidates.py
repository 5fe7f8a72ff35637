"""Who may meet a want or a requirement, and in which order they are preferred.

For a want: entries of its package and channel, default channel first, head first; once something is installed only
direct updates of it, and the installed bundle itself last.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from muster.reasons import Code, Reason, Subject
from muster.resolution.catalog.catalog import ChannelKey, Fault
from muster.resolution.catalog.channels import sorted_channel, updates
from muster.values.semver import InvalidVersionError
from muster.values.semver_range import VersionRange, parse_range

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from muster.resolution.catalog.bundles import Bundle, CatalogKey, Entry
    from muster.resolution.catalog.catalog import Catalog
    from muster.resolution.request import Request, Want


@dataclass(frozen=True, slots=True)
class WantCandidates:
    """What may meet a want; when nothing can, why."""

    entries: tuple[Entry, ...] = ()
    impossible: Reason | None = None
    may_stay: bool = True  # whether the installed bundle meets the want as well
    faults: tuple[Fault, ...] = ()


def catalog_order(catalogs: Sequence[Catalog], asking: CatalogKey | None, namespace: str) -> list[Catalog]:
    """The asking bundle's own catalog first, then by priority, the namespace that is resolved, and name."""
    return sorted(
        catalogs,
        key=lambda each: (
            each.key != asking,
            -each.priority,
            each.key.namespace != namespace,
            each.key.name,
            each.key.namespace,
        ),
    )


def installed_candidates(present: Sequence[Entry], *, upstream: bool) -> list[Entry]:
    """Installed bundles in order. Upstream orders them like a channel without edges, and stumbles over two."""
    if not upstream:
        return sorted(present, key=lambda entry: entry.name)
    sources: dict[tuple[str, str], Entry] = {}
    for entry in present:
        sources.setdefault((entry.package, entry.owner), entry)
    found: list[Entry] = []
    for package, members in groupby(sorted(sources.values(), key=lambda entry: entry.package), lambda e: e.package):
        found += sorted_channel(list(members), package, "")
    return found


class Wanting:
    """Finds the candidates of wants in the catalogs that can be used."""

    def __init__(self, request: Request, catalogs: Sequence[Catalog], existing: Catalog) -> None:
        self._upstream = request.upstream
        self._namespace = request.namespaces[0]
        self._catalogs = catalogs
        self._existing = existing

    def candidates(self, want: Want, current: Entry | None) -> WantCandidates:
        wanted = _range(want.version_range)
        if isinstance(wanted, str):
            told = {"want": want.name, "range": want.version_range, "message": wanted}
            return WantCandidates(impossible=Reason(Code.RANGE_INVALID, _subject(want), told))
        key = want.catalog_key
        catalogs = [each for each in self._catalogs if key is None or self._is(each, want)]
        if self._upstream and key is None:
            catalogs.append(self._existing)  # a subscription that names no catalog looks at what is installed as well
        catalogs = catalog_order(catalogs, None, "" if self._upstream else self._namespace)
        starting = want.starting if current is None else ""
        found = self._filtered(want, catalogs, starting)
        if isinstance(found, Reason):
            return WantCandidates(impossible=found)
        ordered, faults = self._ordered(found, catalogs, starting)
        if current is not None:
            ordered = [entry for entry in ordered if updates(entry, current)]
        if self._upstream:
            ordered = _with_namesakes(ordered, found)
        fitting = [entry for entry in ordered if wanted is None or _within(entry.bundle, wanted)]
        may_stay = current is not None and (wanted is None or _within(current.bundle, wanted))
        if not fitting and not may_stay:
            return WantCandidates(
                impossible=self._nothing_left(want, ordered, faults, current), may_stay=False, faults=tuple(faults)
            )
        return WantCandidates(tuple(fitting), None, may_stay, tuple(faults))

    def _is(self, catalog: Catalog, want: Want) -> bool:
        if self._upstream or want.catalog_namespace:
            return catalog.key == want.catalog_key
        return catalog.key.name == want.catalog

    def _filtered(self, want: Want, catalogs: Sequence[Catalog], starting: str) -> list[Entry] | Reason:
        """The entries the want speaks of, or the first filter that leaves none."""
        subject, told = _subject(want), {"want": want.name}
        if not any(catalog.entries for catalog in catalogs):
            if not self._upstream and not want.catalog:
                return Reason(Code.CATALOGS_EMPTY)
            named = {"catalog": want.catalog, "namespace": want.catalog_namespace}
            return Reason(Code.CATALOG_HAS_NONE, subject, told | named)
        found: list[Entry] = []
        for catalog in catalogs:
            numbers = catalog.by_package.get(want.package, ())
            found += [catalog.entries[n] for n in (numbers if self._upstream else catalog.preferred(numbers))]
        if not found:
            return Reason(Code.PACKAGE_NOT_FOUND, subject, told)
        found = [entry for entry in found if not want.channel or entry.channel == want.channel]
        if not found:
            return Reason(Code.CHANNEL_NOT_FOUND, subject, told)
        if starting:
            found = [entry for entry in found if self._begins(entry, starting)]
            if not found:
                return Reason(Code.START_NOT_FOUND, subject, told | {"start": starting})
        return found

    def _begins(self, entry: Entry, starting: str) -> bool:
        """Upstream takes a bundle's name only; we take a version as well."""
        return entry.name == starting or (not self._upstream and entry.bundle.version_text == starting)

    def _ordered(
        self, found: Sequence[Entry], catalogs: Sequence[Catalog], starting: str
    ) -> tuple[list[Entry], list[Fault]]:
        if self._upstream:
            return _upstream_order(found), []
        if starting:
            return list(found), []  # even one that another skips may be asked for by name
        by_key = {catalog.key: catalog for catalog in catalogs}
        faults: dict[Fault, None] = {}
        ordered: list[Entry] = []
        for entry in found:
            catalog = by_key[entry.catalog]
            broken = catalog.broken.get(ChannelKey(entry.package, entry.channel))
            if broken is not None:
                faults[catalog.channel_fault(ChannelKey(entry.package, entry.channel), broken)] = None
            elif catalog.is_candidate(entry):
                ordered.append(entry)
        return ordered, list(faults)

    def _nothing_left(
        self, want: Want, ordered: Sequence[Entry], faults: Sequence[Fault], current: Entry | None
    ) -> Reason:
        subject, told = _subject(want), {"range": want.version_range}
        if not ordered and faults:
            return Reason(Code.CHANNEL_BROKEN, subject, parts=(faults[0].reason,))
        if current is not None:
            present = {"version": current.bundle.version_text}
            return Reason(Code.NO_UPDATE_IN_RANGE, subject, told | present).about(bundle=current.name)
        return Reason(Code.NO_VERSION_IN_RANGE, subject, told)


def _subject(want: Want) -> Subject:
    return Subject(package=want.package, channel=want.channel)


def _range(text: str) -> VersionRange | str | None:
    """The range, None for any version, or why the text is no range."""
    if not text:
        return None
    try:
        return parse_range(text)
    except InvalidVersionError as error:
        return str(error)


def _within(bundle: Bundle, wanted: VersionRange) -> bool:
    return any(version in wanted for version in bundle.versions)


def _with_namesakes(ordered: Sequence[Entry], found: Sequence[Entry]) -> list[Entry]:
    """Upstream looks its candidates up again by name, and so finds one in every channel that has it, skipped or not."""
    return [
        each
        for entry in ordered
        for each in (entry, *(other for other in found if other.name == entry.name and other is not entry))
    ]


def _upstream_order(found: Iterable[Entry]) -> list[Entry]:
    """Default channel first, then by channel; entries of one channel name form one channel, even of two catalogs."""
    ordered: list[Entry] = []
    ranked = sorted(found, key=lambda entry: (not entry.in_default_channel, entry.channel))
    for channel, members in groupby(ranked, lambda entry: entry.channel):
        entries = list(members)
        ordered += sorted_channel(entries, entries[0].package, channel)
    return ordered
