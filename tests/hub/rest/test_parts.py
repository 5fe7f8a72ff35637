"""Bodies in parts: the same bytes as if they had been made whole, and nothing large is copied."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from muster.hub.rest.parts import PART, Listing, packed
from muster.hub.rest.yaml_text import encode_yaml

TEXTS = some.text(alphabet="ab \n\t'\"-:#{}é\u2028", max_size=12)
VALUES = some.recursive(
    some.none() | some.booleans() | some.integers(-5, 5) | TEXTS,
    lambda below: some.lists(below, max_size=3) | some.dictionaries(TEXTS, below, max_size=3),
    max_leaves=8,
)
OBJECTS = some.lists(some.dictionaries(TEXTS, VALUES, max_size=3), max_size=4)
HEAD = {"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": "7", "continue": ""}}


@settings(max_examples=60)
@given(OBJECTS, some.sampled_from(["items", "rows"]))
def test_a_list_item_by_item_is_the_list_as_a_whole(objects: list[dict[str, Any]], member: str) -> None:
    def listing() -> Listing:
        return Listing(HEAD, member, (msgspec.json.encode(each) for each in objects))

    whole = {**HEAD, member: objects}
    encoded = msgspec.json.encode(whole)
    assert b"".join(listing().json()) == encoded + b"\n"
    assert b"".join(listing().indented()) == msgspec.json.format(encoded, indent=2) + b"\n"
    assert b"".join(listing().yaml()) == encode_yaml(whole)
    size = sum(len(msgspec.json.encode(each)) for each in objects)
    assert listing().length(len(objects), size) == len(encoded) + 1


@pytest.mark.parametrize("sizes", [[], [1], [10] * 20_000, [PART], [PART + 1], [5, 3 * PART + 7, 5, PART], [0, 0, 1]])
def test_parts_are_small_and_together_the_whole(sizes: list[int]) -> None:
    pieces = [bytes([65 + number % 26]) * size for number, size in enumerate(sizes)]
    parts = list(packed(pieces))
    assert b"".join(parts) == b"".join(pieces)
    assert all(len(part) <= 2 * PART for part in parts)


def test_a_large_piece_is_cut_and_not_copied() -> None:
    piece = b"x" * (10 * PART)
    assert all(isinstance(part, memoryview) and part.obj is piece for part in packed([piece]))
