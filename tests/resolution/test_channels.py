"""Order in a channel, and update edges."""

from __future__ import annotations

import pytest

from muster.resolution.channels import BrokenChannelError, sorted_channel, updates
from tests.resolution.builders import an_entry, bundle


def entries(**replaces: str) -> list:  # type: ignore[type-arg] # of entries
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
    assert fault in broken.value.fault


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
