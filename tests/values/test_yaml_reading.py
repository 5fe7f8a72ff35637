"""YAML within limits: nothing that a text says is built before it is known to be little enough."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import muster
from muster.values.yaml_reading import YamlError, YamlLimitError, YamlLimits, read_documents, read_yaml

LIMITS = YamlLimits()
SMALL = YamlLimits(depth=10, values=50, size=100)


@pytest.mark.parametrize(
    "text",
    [
        b"x: " + b"[" * 40_000,
        b"[" * 1_000_000,
        b"{a: " * 500_000,
        b"- " * 500_000,
        b"[{a: " * 300_000,
        b"&a [" * 300_000,
        b"!!seq [" * 200_000,
        b"".join(b" " * level + b"a:\n" for level in range(2000)),
        ("[" * 500_000).encode("utf-16"),
    ],
)
def test_depth_is_found_out_without_going_there(text: bytes) -> None:
    with pytest.raises(YamlLimitError, match="deeper than 100 levels"):
        read_yaml(text, LIMITS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"[" + b"a," * 60 + b"]", "more than 50 values"),
        (b"k: v\n" * 30, "more than 50 values"),
        (b"a: &a [1,2,3,4,5,6,7,8,9]\nb: [*a,*a,*a,*a,*a,*a]", "more than 50 values"),
        (b"a: &a xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\nb: [*a, *a, *a]", "more than 100 bytes"),
        (b"a: &a {k: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx}\nb: {<<: [*a, *a, *a]}", "more than 100 bytes"),
        (b"&a xxxxxxxxxxxxxxxxxxxxxxxxxxxxx: 1\nb: {*a : {*a : {*a : 1}}}", "more than 100 bytes"),
        (b"a: &a [[[[1]]]]\nb: &b [[*a]]\nc: [[[[*b]]]]", "deeper than 10 levels"),
        (b"a: &a [1,2,3,4,5,6,7,8,9]\nb: [*a, [*a, [*a, [*a, [*a, [*a", "more than 50 values"),
        (b"a: &a [*a]", "line 1: a value contains itself through \\*a"),
        (b"a: &a\n  - b\n  - {c: *a}", "line 3: a value contains itself through \\*a"),
        (b"".join(b"%%TAG !a%d! x\n" % number for number in range(70)) + b"--- a", "more than 64 %TAG directives"),
    ],
)
def test_what_is_too_much_is_refused(text: bytes, message: str) -> None:
    with pytest.raises(YamlLimitError, match=message):
        read_yaml(text, SMALL)


def test_a_scalar_that_aliases_repeat_counts_as_often_as_it_would_be_written() -> None:
    """It is one string in memory, and two hundred gigabytes once it is encoded."""
    text = b"a: &a " + b"x" * 1_000_000 + b"\nb: [" + b"*a," * 100_000 + b"]"
    with pytest.raises(YamlLimitError, match="with its aliases written out"):
        read_yaml(text, LIMITS)


def test_a_bomb_of_aliases_is_not_built_where_any_number_of_values_may_be_written() -> None:
    text = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
    with pytest.raises(YamlLimitError, match="more than 1000 values by them alone"):
        read_yaml(text.encode(), YamlLimits(values=10**12, size=10**12, aliased=1000))


def test_tag_directives_which_the_parser_compares_with_each_other_cost_nothing() -> None:
    text = b"".join(b"%%TAG !a%d! x\n" % number for number in range(60_000)) + b"--- a"
    started = time.process_time()
    with pytest.raises(YamlLimitError):
        read_yaml(text, LIMITS)
    assert time.process_time() - started < 2  # the parser alone takes twelve seconds


@pytest.mark.parametrize(
    "text",
    [
        b"a: 1" + b"0" * 500,
        b"a: 0x" + b"f" * 390,
        b"a: 1e999999",
        b"a: -.inf",
        b"a: !!float x",
        b"a: !!int 09",
        b"a: !!set {b}",
        b"!!python/object/apply:os.system [ls]",
        b"a: *b",
        b"? [a]\n: b",
        b"? " * 500_000,
        b"[{" * 500_000,
        b"? {a: b}\n: c",
        b"a: &a [1]\n*a : 2",
        b"<<: 1",
        b"<<: [1]",
        b"\x00",
        b"\xff",
        b"\xff\xfe\x00",
        b"\xed\xa0\x80",
        b"a\n---\nb",
    ],
)
def test_what_cannot_be_read_is_an_error_and_nothing_else(text: bytes) -> None:
    with pytest.raises(YamlError):
        read_yaml(text, LIMITS)


def test_duplicate_keys_are_told_as_far_as_they_are_few() -> None:
    read = read_yaml(b"a: 1\n" * 1000, LIMITS)
    assert read is not None
    lines = read.duplicates[0].splitlines()
    assert lines[1] == '  line 2: key "a" already set in map'
    assert len(lines) == 102
    assert lines[-1] == "  and 899 more"


def test_what_an_alias_stands_for_is_a_value_of_its_own() -> None:
    read = read_yaml(b"a: &a {x: [1]}\nb: *a", LIMITS)
    assert read is not None
    assert read.value == {"a": {"x": [1]}, "b": {"x": [1]}}
    assert read.value["a"] is not read.value["b"]
    assert read.value["a"]["x"] is not read.value["b"]["x"]


def test_documents_come_with_their_lines() -> None:
    read = read_documents(b"a: 1\n---\n\n[b]\n---\n---\nc\n", LIMITS)
    assert [(each.line, each.value) for each in read] == [(1, {"a": 1}), (4, ["b"]), (6, None), (7, "c")]


_TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)
_SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | _TEXTS
_LISTS = st.lists(_SCALARS | st.lists(_SCALARS, max_size=2), max_size=4)
_PLAIN = _SCALARS | _LISTS | st.dictionaries(st.text("abc ~-1:", max_size=5), _SCALARS | _LISTS, max_size=4)


@given(_PLAIN, st.booleans())
def test_plain_data_comes_back_as_it_was_written(value: object, flow: bool) -> None:
    text = yaml.safe_dump(value, default_flow_style=flow, allow_unicode=True).encode()
    read = read_yaml(text, LIMITS)
    assert read is not None
    assert read.value == value


def test_nobody_else_reads_yaml() -> None:
    """Another way to read it would have none of these limits."""
    readers = re.compile(
        r"yaml\.(safe_|full_|unsafe_)?(load|compose|parse|scan|decode)\w*\(|C?(Safe|Full|Base)Loader\("
    )
    sources = Path(muster.__file__).parent.rglob("*.py")
    found = [source.name for source in sources if readers.search(source.read_text(encoding="utf-8"))]
    # `muster cel test --update` looks up places in a file of whoever types it, which was read within limits before.
    assert sorted(found) == ["updating.py", "yaml_reading.py"]
