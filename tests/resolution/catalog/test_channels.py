"""Order in a channel, and update edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from muster.resolution.catalog.channels import BrokenChannelError, sorted_channel, updates
from muster.resolution.request import Dialect
from muster.resolution.resolve import Refused, resolve
from tests.resolution.builders import a_catalog, an_entry, bundle, needs, resolved, wanting

if TYPE_CHECKING:
    from muster.resolution.catalog.bundles import Entry


def entries(**replaces: str) -> list[Entry]:
    return [an_entry(bundle("p", name=name, replaces=other)) for name, other in replaces.items()]


def test_the_head_comes_first_whatever_the_versions() -> None:
    assert [entry.name for entry in sorted_channel(entries(b="", a="b", c="a"))] == ["c", "a", "b"]


def test_skipped_entries_are_left_out_and_the_chain_goes_on_behind_them() -> None:
    a = an_entry(bundle("p", name="a", replaces="b", skips=["b", "x"]))
    assert [entry.name for entry in sorted_channel([a, *entries(b="c", c="")])] == ["a", "c"]


@pytest.mark.parametrize(
    ("edges", "fault"),
    [
        ({"a": "b", "b": "a"}, "no channel heads"),
        ({"a": "b", "b": "c", "c": "b"}, 'a cycle exists in the chain of replacement beginning with "a"'),
        ({"a": "", "b": "c", "c": ""}, 'but 2 replacement chains were found in channel "ch" of package "p": a, b...c'),
    ],
)
def test_a_channel_without_a_single_order_is_broken(edges: dict[str, str], fault: str) -> None:
    with pytest.raises(BrokenChannelError) as broken:
        sorted_channel(entries(**edges), "p", "ch")
    assert fault in str(broken.value)


@pytest.mark.parametrize(
    ("edge", "expected"),
    [
        ({"replaces": "p.v1.0.0"}, True),
        ({"skips": ["p.v1.0.0"]}, True),
        ({"skip_range": "<2.0.0"}, True),
        ({"skip_range": ">1.0.0"}, False),
        ({"skip_range": "nonsense"}, False),
        ({}, False),
    ],
)
def test_three_kinds_of_edges_lead_to_an_update(edge: dict[str, object], expected: bool) -> None:
    assert updates(an_entry(bundle("p", "3.0.0", **edge)), an_entry(bundle("p", "1.0.0"))) is expected


# The default channel has two heads, as that of a package of the community's catalog does.
TWO_HEADS = (
    bundle("p", "1.1.2", channel="stable", replaces="p.v1.1.1"),
    bundle("p", "2.5.14", channel="stable", replaces="p.v2.5.13"),
    bundle("p", "1.1.2", channel="1.1.x", replaces="p.v1.1.1"),
    bundle("p", "2.3.6", channel="2.3.x", replaces="p.v2.3.5"),
    bundle("p", "2.3.7", channel="2.3.x"),
    bundle("p", "2.0.4", channel="dev-preview", replaces=""),
    bundle("p", "x", channel="a-without-a-version", replaces=""),
)


def test_where_the_default_channel_is_broken_the_newest_head_is_taken_not_the_first_name() -> None:
    assert resolved("p", catalog=a_catalog(*TWO_HEADS)) == ["p.v2.3.7"]


def test_a_requirement_too_is_met_by_the_newest_head_where_the_default_channel_is_broken() -> None:
    catalog = a_catalog(bundle("a", "1.0.0", needs("p", "<2.3.7")), *TWO_HEADS, bundle("q", "1.0.0"))
    assert resolved("a", catalog=catalog) == ["a.v1.0.0", "p.v2.3.6"]


def test_with_a_default_channel_that_works_a_newer_head_elsewhere_is_not_taken() -> None:
    catalog = a_catalog(bundle("p", "1.0.0"), bundle("p", "2.0.0", channel="fast"))
    assert resolved("p", catalog=catalog) == ["p.v1.0.0"]


def test_without_a_default_channel_the_channel_is_taken_by_name_as_upstream_does() -> None:
    catalog = a_catalog(bundle("p", "1.0.0", channel="1.x"), bundle("p", "2.0.0", channel="2.x"))
    assert resolved("p", catalog=catalog) == ["p.v1.0.0"]
    assert resolved("p", catalog=catalog, dialect=Dialect.OLM_V0, namespaces=("default",)) == ["p.v1.0.0"]


def test_upstream_fails_on_a_broken_default_channel() -> None:
    outcome = resolve(wanting("p", dialect=Dialect.OLM_V0)(a_catalog(*TWO_HEADS)))
    assert isinstance(outcome, Refused)
    assert 'replacement chains were found in channel "stable" of package "p"' in outcome.text
