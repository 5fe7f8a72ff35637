"""File-based catalogs, blob by blob."""

from __future__ import annotations

from typing import Any

from muster.resolution import CatalogBuilder, catalog_from_blobs

PACKAGE = {"schema": "olm.package", "name": "a", "defaultChannel": "stable"}
BUNDLE: dict[str, Any] = {
    "schema": "olm.bundle",
    "name": "a.v1",
    "package": "a",
    "properties": [
        {"type": "olm.package", "value": {"packageName": "a", "version": "1.0.0"}},
        {"type": "olm.bundle.object", "value": {"data": "e30="}},
    ],
    "relatedImages": [{"name": "x", "image": "y"}],
}
CHANNEL = {
    "schema": "olm.channel",
    "package": "a",
    "name": "stable",
    "entries": [{"name": "a.v1", "skipRange": "<1.0.0"}],
}


def faults(*blobs: Any) -> list[str]:
    return [str(fault) for fault in catalog_from_blobs("cat", blobs).faults]


def test_a_catalog_is_indexed_without_its_payloads() -> None:
    catalog = catalog_from_blobs("cat", [CHANNEL, BUNDLE, PACKAGE, {"schema": "something.else"}])
    (entry,) = catalog.entries
    assert (entry.name, entry.channel, entry.in_default_channel, entry.skip_range) == ("a.v1", "stable", True, "<1.0.0")
    assert [each.type for each in entry.bundle.properties()] == ["olm.package"]
    assert catalog.faults == ()
    assert (catalog.channels("a"), catalog.default_channel("a")) == (["stable"], "stable")


def test_what_cannot_be_used_is_reported_and_the_rest_goes_on() -> None:
    other = {**BUNDLE, "properties": []}
    assert faults(PACKAGE, CHANNEL, BUNDLE, other) == [
        "blob 3: bundle a.v1 of package a is there twice, with different contents"
    ]
    assert faults(PACKAGE, CHANNEL) == ["blob 1: channel stable of package a lists a.v1, which no bundle is"]
    assert faults(PACKAGE, BUNDLE) == ["blob 1: bundle a.v1 is in no channel of package a"]
    assert faults({"name": "x"}) == ["blob 0: a blob without a schema"]
    twice = {**CHANNEL, "entries": [{"name": "a.v1"}, {"name": "a.v1"}]}
    assert faults(BUNDLE, twice) == ["blob 1: channel stable of package a lists a.v1 more than once"]
    assert faults(CHANNEL, BUNDLE, {**CHANNEL, "entries": [{"name": "a.v1"}]}) == [
        "blob 2: channel stable of package a is there twice, with different entries"
    ]
    assert "unreadable blob" in faults({"schema": "olm.bundle", "name": 3})[0]
    assert "unreadable entries" in faults({**CHANNEL, "entries": [{"name": 3}]})[0]
    assert "default channels stable and x" in faults(PACKAGE, {**PACKAGE, "defaultChannel": "x"})[0]


def test_two_equal_bundles_are_one() -> None:
    assert faults(PACKAGE, CHANNEL, BUNDLE, BUNDLE) == []


def test_a_broken_channel_takes_out_its_entries_only() -> None:
    heads = {"schema": "olm.channel", "package": "a", "name": "two", "entries": [{"name": "a.v1"}, {"name": "a.v2"}]}
    catalog = catalog_from_blobs("cat", [PACKAGE, CHANNEL, heads, BUNDLE, {**BUNDLE, "name": "a.v2"}])
    assert [(entry.name, entry.channel) for entry in catalog.entries[: catalog.ordered]] == [("a.v1", "stable")]
    assert list(catalog.broken) == [("a", "two")]


def test_deprecations_are_kept() -> None:
    blob = {
        "schema": "olm.deprecations",
        "package": "a",
        "entries": [
            {"reference": {"schema": "olm.package"}, "message": "use b"},
            {"reference": {"schema": "olm.bundle", "name": "a.v1"}, "message": "old"},
        ],
    }
    assert catalog_from_blobs("cat", [blob]).deprecations == {("a",): "use b", ("a", "olm.bundle", "a.v1"): "old"}


def test_text_and_objects_are_taken() -> None:
    builder = CatalogBuilder("cat")
    builder.add_text(b"{", "f:1")
    builder.add_object({1j: 2}, "f:2")
    assert [fault.where for fault in builder.faults] == ["f:1", "f:2"]
