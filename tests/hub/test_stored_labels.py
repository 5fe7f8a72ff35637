"""Labels read from stored bytes."""

from __future__ import annotations

from typing import Any

import pytest

from muster.api.codec import encode_split
from muster.hub.storage import Key, Record
from muster.hub.stored_labels import LabelSearch


def stored(**obj: Any) -> bytes:
    head, tail = encode_split({"apiVersion": "v1", "kind": "X", **obj})
    return head + b"7" + tail


@pytest.mark.parametrize(
    ("labels", "carries"),
    [
        ({"example.com/region": "apac", "b": "c"}, True),
        ({"example.com/region": "apac2"}, False),
        ({"region": "apac"}, False),
        ({}, False),
        (None, False),
    ],
)
def test_the_label_counts_and_nothing_else(labels: Any, carries: bool) -> None:
    value = stored(metadata={"name": "x", "labels": labels}, spec={"note": '"example.com/region":"apac"'})
    labelled = LabelSearch("example.com/region", "apac")
    assert labelled(value) is carries
    record = Record(Key("xs", "", "x"), 7, 7, value)
    assert labelled.names([record, record]) == (["x", "x"] if carries else [])


def test_the_same_pair_elsewhere_is_not_a_label() -> None:
    pair = {"region": "apac"}
    value = stored(metadata={"name": "x", "annotations": pair}, spec={"selector": {"matchLabels": pair}})
    assert not LabelSearch("region", "apac")(value)
    assert not LabelSearch("region", "apac")(stored(metadata={"name": "x"}, data=pair))
