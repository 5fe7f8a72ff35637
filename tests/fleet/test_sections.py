"""Columns that are filled from sections of objects hold what a projection of the whole object gives, however the JSON
is written."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from muster.fleet import Fleet
from muster.fleet.sections import DELETION, Sections, find_sections
from muster.fleet.shapes import Shape
from muster.selectors.paths import claim_path, key_path, label_path, project
from muster.values.paths import PRESENT, Path

TEXTS = st.sampled_from(["", "K", "a", 'q"', "\\", "},{", "[", "{", "é", "x y", "\n", ","])
VALUES = st.one_of(TEXTS, st.none(), st.integers(0, 2), st.lists(TEXTS, max_size=2), st.dictionaries(TEXTS, TEXTS))
CLAIMS = st.one_of(
    st.lists(st.fixed_dictionaries({"name": TEXTS, "value": TEXTS}), max_size=4),
    st.lists(st.dictionaries(st.sampled_from(["name", "value", "other"]), VALUES), max_size=3),
    VALUES,
)
LABELS = st.one_of(st.dictionaries(TEXTS, TEXTS, max_size=4), st.dictionaries(TEXTS, VALUES, max_size=3), VALUES)
OBJECTS = st.fixed_dictionaries(
    {"metadata": st.fixed_dictionaries({}, optional={"labels": LABELS, "deletionTimestamp": VALUES})},
    optional={
        "spec": st.one_of(st.fixed_dictionaries({}, optional={"taints": CLAIMS}), VALUES),
        "status": st.one_of(
            st.fixed_dictionaries(
                {},
                optional={
                    "clusterClaims": CLAIMS,
                    "version": st.one_of(st.fixed_dictionaries({"kubernetes": TEXTS}), VALUES),
                },
            ),
            VALUES,
        ),
    },
)
WRITTEN = st.sampled_from(
    [
        msgspec.json.encode,
        lambda value: json.dumps(value).encode(),
        lambda value: json.dumps(value, indent=1, ensure_ascii=False).encode(),
        lambda value: json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode(),
    ]
)
PATHS: list[Path] = [
    DELETION,
    key_path("spec", "taints"),
    label_path("K"),
    label_path(""),
    (*label_path("K"), PRESENT),
    claim_path("K"),
    claim_path(""),
    claim_path('q"'),
    claim_path("é"),
    key_path("status", "version", "kubernetes"),
    label_path('q"'),
    label_path("\n"),
]


@given(objects=st.lists(st.tuples(OBJECTS, WRITTEN), max_size=6), changed=st.sets(st.integers(0, 5)))
def test_what_is_read_from_sections_is_the_projection_of_the_object(
    objects: list[tuple[dict[str, Any], Any]], changed: set[int]
) -> None:
    named = [{**obj, "metadata": {"name": str(at), **obj["metadata"]}} for at, (obj, _) in enumerate(objects)]
    encoded = [write(obj) for obj, (_, write) in zip(named, objects, strict=True)]
    sections = Sections()
    for row, each in enumerate(encoded):
        sections.append()
        if row not in changed:
            sections.put(row, find_sections(each))
    for path in PATHS:
        found = sections.reader(path)(np.arange(len(encoded)), encoded)
        assert found == [project(msgspec.json.decode(each), path) for each in encoded]
        some = np.arange(0, len(encoded), 2)
        assert sections.reader(path)(some, encoded) == found[::2]


@given(objects=st.lists(st.tuples(OBJECTS, WRITTEN), max_size=6))
def test_what_somebody_has_found_already_is_what_the_fleet_finds(objects: list[tuple[dict[str, Any], Any]]) -> None:
    encoded = [
        write({**obj, "metadata": {"name": str(at), **obj["metadata"]}}) for at, (obj, write) in enumerate(objects)
    ]
    shapes: list[Shape | None] = []
    for each in encoded:
        try:
            shapes.append(msgspec.json.decode(each, type=Shape))
        except msgspec.ValidationError:
            shapes.append(None)
    plain, told = Fleet(), Fleet()
    plain.put_many(encoded)
    told.put_many(encoded, shapes)
    for path in PATHS:
        one, other = plain.column(path), told.column(path)
        assert [one.values[code] for code in one.codes[: len(encoded)]] == [
            other.values[code] for code in other.codes[: len(encoded)]
        ]
