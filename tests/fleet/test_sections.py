"""Columns that are filled from sections of objects hold what a projection of the whole object gives, however the JSON
is written."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muster.fleet import Fleet
from muster.fleet.claim_lists import OtherwiseWrittenError, claims_named
from muster.fleet.sections import DELETION, Sections, find_sections
from muster.fleet.shapes import Shape
from muster.selectors.paths import claim_path, key_path, label_path, project
from muster.values.paths import PRESENT, Path
from tests.builders import a_cluster

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
SOME_LABELS = [label_path("K"), label_path(""), label_path("a"), label_path("é")]


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
    for count in range(len(SOME_LABELS) + 1):
        paths = SOME_LABELS[:count]
        together = sections.labels_reader(paths)(np.arange(len(encoded)), encoded)
        assert together == [[project(msgspec.json.decode(each), path) for each in encoded] for path in paths]


@pytest.mark.parametrize(
    "claims",
    [
        '[{"name":"a","name":"K","value":"v"}]',
        '[{"name":"K","name":"a","value":"v"}]',
        '[{"name":"K","value":"v"},{"name":"K","value":"w"}]',
        '[{"name":"K","value":"v"},5]',
        '[5,{"name":"K","value":"v"}]',
        '[{"name":"K","value":"v","value":"w"}]',
        '[{"name":"a","value":"v","x":{"name":"K","value":"v"}}]',
        '[{"name":"a","value":[{"name":"K","value":"v"}]}]',
        '[{"n\\u0061me":"K","value":"v"}]',
        '[{"value":"v","name":"K"}]',
        '[{"name":"K","value":"v"} ]',
        '[{"name":"K","value":"v"}, {"name":"b","value":"v"}]',
        '[{"name":"a","value":"v","name":5},{"name":"K","value":"v"}]',
        '[{"name":"a","value":"v"}],"x":[{"name":"K","value":"v"}]',
        '[[{"name":"K","value":"v"}]]',
        '[{"name":"K"},{"name":"b","value":"v","value":"w"}]',
        '[{"name":"b","value":"v","value":"w"},{"x":"y"},{"name":"K","value":"v"}]',
        '[{"name":"b","value":"v","value":"w"},{"name":"K","value":"v"},{"x":"y"}]',
        '[{"name":"b","value":"v","value":"w","value":"x"},{"name":"c","name":"K"}]',
        '[{"name":"b","value":"v"},{},{"name":"K","value":"v"}]',
        '[{"name":"K","value":"}"}]',
        '[{"name":"K","value":"{"},{"name":"b","value":"},{"}]',
        '[{"":""}]',
        "[]",
        "null",
        '{"name":"K","value":"v"}',
    ],
)
def test_claims_in_whatever_form_are_read_as_a_decoder_reads_them(claims: str) -> None:
    odd = f'{{"metadata":{{"name":"odd"}},"status":{{"clusterClaims":{claims}}}}}'.encode()
    plain = b'{"metadata":{"name":"plain"},"status":{"clusterClaims":[{"name":"K","value":"v"}]}}'
    for encoded in ([odd], [odd, plain], [plain, odd, plain]):
        sections = Sections()
        for _ in encoded:
            sections.append()
        found = sections.reader(claim_path("K"))(np.arange(len(encoded)), encoded)
        assert found == [project(msgspec.json.decode(each), claim_path("K")) for each in encoded]


def test_lists_as_encoders_write_them_are_scanned_at_once() -> None:
    lists = [[{"name": "a", "value": "1"}, {"name": "K", "value": "é"}], [{"name": "b", "value": ""}]]
    written = [msgspec.json.encode(each) for each in lists]
    assert _named("K", written) == ([0], ['{"name":"K","value":"é"}'.encode()])
    assert _named("b", written) == ([1], [b'{"name":"b","value":""}'])
    assert _named("c", written) == _named("", written) == _named("K" * 999, written) == ([], [])
    plain = b'[{"name":"a","value":"b"}]'
    for other in ([b""], [b"[]"], [b'[{"name":"a","value":1}]'], [plain, b"[]"], [b"0", plain], [plain, b"0"]):
        with pytest.raises(OtherwiseWrittenError):
            _named("a", other)


@given(
    lists=st.lists(CLAIMS.map(msgspec.json.encode), min_size=1, max_size=4), name=st.sampled_from(["", "K", "a", "é"])
)
def test_what_is_scanned_is_what_a_decoder_reads(lists: list[bytes], name: str) -> None:
    try:
        numbers, claims = _named(name, lists)
    except OtherwiseWrittenError:
        return
    decoded = [(at, claim) for at, each in enumerate(lists) for claim in msgspec.json.decode(each)]
    assert [(at, claim) for at, claim in decoded if claim["name"] == name] == [
        (at, msgspec.json.decode(claim)) for at, claim in zip(numbers, claims, strict=True)
    ]


def _named(name: str, lists: list[bytes]) -> tuple[list[int], list[bytes]]:
    numbers, claims = claims_named(name.encode(), lists)
    return numbers.tolist(), claims


def test_a_column_that_is_filled_after_changes_sees_them() -> None:
    fleet = Fleet()
    fleet.put_many([msgspec.json.encode(a_cluster(name, {"env": "prod"}, {"K": "v"})) for name in "abc"])
    fleet.put(msgspec.json.encode(a_cluster("b", {"env": "dev"}, {"K": "w"})))
    fleet.put(msgspec.json.encode(a_cluster("d", {"env": "dev"})))
    fleet.remove("a")
    fork = fleet.fork([])
    for each in (fleet, fork):
        env, claim = each.column(label_path("env")), each.column(claim_path("K"))
        assert {name: env.values[env.codes[each.row(name)]] for name in "bcd"} == {"b": "dev", "c": "prod", "d": "dev"}
        assert {name: b'"w"' in claim.values[claim.codes[each.row(name)]] for name in "bc"} == {"b": True, "c": False}  # type: ignore[operator]


def test_labels_that_wait_are_read_together_and_those_that_come_later_are_read_too() -> None:
    fleet = Fleet()
    fleet.put_many([msgspec.json.encode(a_cluster(name, {"env": name, "tier": f"{name}1"})) for name in "abc"])
    for key in ("env", "tier", "gone"):
        fleet.subscribe(key, [], [label_path(key)], lazily=True)
    fleet.unsubscribe("gone")
    steps = fleet.steps("env")
    next(steps)
    later = fleet.column(label_path("later"))
    for path, values in ((label_path("tier"), ["a1", "b1", "c1"]), (label_path("env"), ["a", "b", "c"])):
        column = fleet.column(path)
        assert [column.values[code] for code in column.codes[:3]] == values
    assert {later.values[code] for code in later.codes[:3]} == {(2,)}


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
