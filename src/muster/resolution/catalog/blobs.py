"""File-based catalogs, blob by blob: olm.package, olm.channel, olm.bundle and olm.deprecations become a Catalog.

Blobs come as JSON text or as mappings, in any order. Only what the resolver looks at is decoded; a blob that cannot be
used is reported with where it was found, and everything else goes on. Reading files is the caller's matter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from muster.reasons import Code, Reason, Subject
from muster.resolution.catalog.bundles import DEFAULT_NAMESPACE, Bundle, CatalogKey, Entry, make_bundle
from muster.resolution.catalog.catalog import Fault, index_catalog
from muster.resolution.catalog.properties import MOST_NESTED, PACKAGE, PAYLOADS, Property, nests_too_deep, package_of
from muster.values.json import Json, JsonMapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from muster.reasons import Parameter
    from muster.resolution.catalog.catalog import Catalog


class _RawProperty(msgspec.Struct):
    type: str = ""
    value: msgspec.Raw = msgspec.Raw(b"null")


class _ChannelEntry(msgspec.Struct, rename="camel"):
    name: str = ""
    replaces: str | None = ""
    skips: list[str] | None = None
    skip_range: str | None = ""


class _Blob(msgspec.Struct, rename="camel"):
    """The fields of all four schemas; what a schema does not have stays empty."""

    schema: str = ""
    name: str = ""
    package: str = ""
    default_channel: str = ""
    entries: msgspec.Raw = msgspec.Raw(b"[]")
    properties: list[_RawProperty] | None = None


class _Reference(msgspec.Struct):
    schema: str = ""
    name: str = ""


class _Deprecation(msgspec.Struct):
    reference: _Reference = msgspec.field(default_factory=_Reference)
    message: str = ""


_blob = msgspec.json.Decoder(_Blob)
_channel_entries = msgspec.json.Decoder(list[_ChannelEntry])
_deprecation_entries = msgspec.json.Decoder(list[_Deprecation])
_value = msgspec.json.Decoder()
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class _Channel:
    package: str
    name: str
    entries: tuple[_ChannelEntry, ...]
    where: str


@dataclass
class CatalogBuilder:
    """Collects blobs; `build` makes the Catalog of them."""

    name: str
    namespace: str = DEFAULT_NAMESPACE
    priority: int = 0
    faults: list[Fault] = field(default_factory=list)
    blobs: int = 0
    _defaults: dict[str, str] = field(default_factory=dict)
    _channels: dict[tuple[str, str], _Channel] = field(default_factory=dict)
    _bundles: dict[tuple[str, str], Bundle] = field(default_factory=dict)
    _contradictory: set[tuple[str, ...]] = field(default_factory=set)
    _deprecations: dict[tuple[str, ...], str] = field(default_factory=dict)
    _places: dict[tuple[str, str], str] = field(default_factory=dict)

    def fault(self, where: str, reason: Reason) -> None:
        self.faults.append(Fault(where, reason))

    def add_object(self, blob: Json, where: str = "") -> None:
        """A blob that was read from YAML, or made in a program."""
        try:
            text = _encode(blob)
        except (TypeError, ValueError) as error:
            self.fault(where, Reason(Code.BLOB_NOT_JSON, parameters={"message": str(error)}))
            return
        except RecursionError:
            self.fault(where, Reason(Code.BLOB_NOT_JSON, parameters={"message": "it nests too deeply, or in itself"}))
            return
        self.add_text(text, where)

    def add_text(self, text: bytes | memoryview, where: str = "") -> None:
        """A blob as JSON text."""
        try:
            blob = _blob.decode(text)
        except (msgspec.DecodeError, RecursionError) as error:
            self.fault(where, Reason(Code.BLOB_UNREADABLE, parameters={"message": str(error)}))
            return
        self.blobs += 1
        match blob.schema:
            case "olm.package":
                self._add_package(blob, where)
            case "olm.channel":
                self._add_channel(blob, where)
            case "olm.bundle":
                self._add_bundle(blob, where)
            case "olm.deprecations":
                self._add_deprecations(blob, where)
            case "":
                self.fault(where, Reason(Code.BLOB_WITHOUT_SCHEMA))
            case _:
                pass  # other schemas are allowed and mean nothing here

    def add_bundle(self, bundle: Bundle, channels: Mapping[str, JsonMapping], where: str = "") -> None:
        """A bundle with its own edges, as bundle directories have them: channel -> replaces, skips, skipRange."""
        self._keep(bundle, where)
        for name, edge in channels.items():
            entry = _ChannelEntry(bundle.name, edge.get("replaces"), edge.get("skips"), edge.get("skipRange"))
            known = self._channels.get((bundle.package, name))
            entries = (*known.entries, entry) if known else (entry,)
            self._channels[bundle.package, name] = _Channel(bundle.package, name, entries, where)

    @property
    def places(self) -> Mapping[tuple[str, str], str]:
        """Where each bundle, by package and name, was read, and each channel, by package and `channel NAME`."""
        channels = {(key[0], f"channel {key[1]}"): channel.where for key, channel in self._channels.items()}
        return self._places | channels

    def set_default_channel(self, package: str, channel: str) -> None:
        self._defaults.setdefault(package, channel)

    def build(self) -> Catalog:
        key = CatalogKey(self.name, self.namespace)
        entries: list[Entry] = []
        used: set[tuple[str, str]] = set()
        for channel in self._channels.values():
            entries += self._entries(channel, key, used)
        for package, name in sorted(self._bundles.keys() - used):
            self.fault(
                self._places.get((package, name), ""),
                Reason(Code.BUNDLE_WITHOUT_CHANNEL, Subject(package=package, bundle=name)),
            )
        return index_catalog(
            key,
            entries,
            priority=self.priority,
            faults=sorted(self.faults, key=str),
            deprecations=self._deprecations,
            places=self.places,
        )

    def _entries(self, channel: _Channel, key: CatalogKey, used: set[tuple[str, str]]) -> Iterable[Entry]:
        used.update((channel.package, each.name) for each in channel.entries)
        if ("channel", channel.package, channel.name) in self._contradictory:
            return
        default = self._defaults.get(channel.package) == channel.name
        for each in channel.entries:
            found = self._bundles.get((channel.package, each.name))
            if ("bundle", channel.package, each.name) in self._contradictory:
                continue
            if found is None:
                subject = Subject(package=channel.package, channel=channel.name, bundle=each.name)
                self.fault(channel.where, Reason(Code.ENTRY_WITHOUT_BUNDLE, subject))
                continue
            yield Entry(
                found,
                key,
                channel.name,
                default,
                each.replaces if each.replaces is not None else "",
                tuple(each.skips) if each.skips is not None else (),
                each.skip_range if each.skip_range is not None else "",
            )

    def _add_package(self, blob: _Blob, where: str) -> None:
        known = self._defaults.setdefault(blob.name, blob.default_channel)
        if known != blob.default_channel:
            channels = {"first": known, "second": blob.default_channel}
            self.fault(where, Reason(Code.PACKAGE_TWICE, Subject(package=blob.name), channels))
            self._defaults[blob.name] = min(known, blob.default_channel)

    def _add_channel(self, blob: _Blob, where: str) -> None:
        subject = Subject(package=blob.package, channel=blob.name)
        try:
            entries = tuple(_channel_entries.decode(blob.entries))
        except msgspec.DecodeError as error:
            self.fault(where, Reason(Code.ENTRIES_UNREADABLE, subject, {"message": str(error)}))
            return
        names = [each.name for each in entries]
        if len(set(names)) < len(names):
            twice = tuple(sorted({name for name in names if names.count(name) > 1}))
            self.fault(where, Reason(Code.ENTRIES_TWICE, subject, {"entries": twice}))
            self._contradictory.add(("channel", blob.package, blob.name))
        key = (blob.package, blob.name)
        if key in self._channels and self._channels[key].entries != entries:
            self.fault(where, Reason(Code.CHANNEL_TWICE, subject))
            self._contradictory.add(("channel", *key))
            return
        self._channels[key] = _Channel(blob.package, blob.name, entries, where)

    def _add_bundle(self, blob: _Blob, where: str) -> None:
        properties: list[Property] = []
        for place, raw in enumerate(blob.properties if blob.properties is not None else ()):
            if raw.type in PAYLOADS:
                continue
            if (value := _property_value(raw)) is None:
                subject = Subject(package=blob.package, bundle=blob.name)
                limit: dict[str, Parameter] = {"property": raw.type, "most": MOST_NESTED}
                self.fault(f"{where}#/properties/{place}/value", Reason(Code.VALUE_TOO_DEEP, subject, limit))
                self._contradictory.add(("bundle", blob.package, blob.name))
                return
            properties.append(value)
        said = [package_of(each.value) for each in properties if each.type == PACKAGE]
        version = next((each.version for each in said if each is not None and each.name == blob.package), "")
        if not version:
            version = next((each.version for each in said if each is not None), "")
        self._keep(make_bundle(blob.name, blob.package, version, properties), where)

    def _keep(self, bundle: Bundle, where: str) -> None:
        """Of two bundles of one name with different contents neither is used: which is meant cannot be known."""
        key = (bundle.package, bundle.name)
        known = self._bundles.setdefault(key, bundle)
        if known is not bundle and known.text != bundle.text:
            self.fault(where, Reason(Code.BUNDLE_TWICE, Subject(package=bundle.package, bundle=bundle.name)))
            self._contradictory.add(("bundle", *key))
        self._places.setdefault(key, where)

    def _add_deprecations(self, blob: _Blob, where: str) -> None:
        try:
            entries = _deprecation_entries.decode(blob.entries)
        except msgspec.DecodeError as error:
            subject = Subject(package=blob.package)
            self.fault(where, Reason(Code.DEPRECATIONS_UNREADABLE, subject, {"message": str(error)}))
            return
        for each in entries:
            reference = each.reference
            key = (
                (blob.package,)
                if reference.schema == "olm.package"
                else (blob.package, reference.schema, reference.name)
            )
            self._deprecations[key] = each.message


def _property_value(raw: _RawProperty) -> Property | None:
    """The property, decoded; None if its value nests too deeply. Few have so many brackets that it must be walked."""
    text = bytes(raw.value)
    try:
        value = _value.decode(text)
    except RecursionError:
        return None
    if text.count(b"[") + text.count(b"{") > MOST_NESTED and nests_too_deep(value):
        return None
    return Property(raw.type, value)


def catalog_from_blobs(
    name: str, blobs: Iterable[JsonMapping], *, namespace: str = DEFAULT_NAMESPACE, priority: int = 0
) -> Catalog:
    """A catalog from mappings, for programs and tests."""
    builder = CatalogBuilder(name, namespace, priority)
    for place, blob in enumerate(blobs):
        builder.add_object(blob, f"blob {place}")
    return builder.build()
