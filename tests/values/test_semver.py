"""Semantic versions and their ranges, as blang/semver has them."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muster.values.semver import (
    LEADING_V,
    NUMBERS,
    InvalidVersionError,
    distances,
    is_version,
    parse,
    parse_normalized,
    parse_tolerant,
    plain_numbers,
)
from muster.values.semver_range import parse_range

ASCENDING = (
    "0.0.0-0",
    "0.0.0",
    "1.0.0-1",
    "1.0.0-2",
    "1.0.0-10",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta",
    "1.0.0-rc.1",
    "1.0.0",
    "1.0.1",
    "1.2.0",
    "1.10.0",
    "18446744073709551615.0.0",
)


def test_versions_are_ordered_by_number_then_by_pre_release() -> None:
    for lower, higher in pairwise(map(parse, ASCENDING)):
        assert lower < higher
        assert (lower.compare(higher), higher.compare(lower), lower.compare(lower)) == (-1, 1, 0)


def test_build_metadata_has_no_say() -> None:
    assert parse("1.2.3+a") == parse("1.2.3+b")
    assert hash(parse("1.2.3+a")) == hash(parse("1.2.3"))
    assert str(parse("1.2.3-rc.1+b.7")) == "1.2.3-rc.1+b.7"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "Version string empty"),
        ("1.2", "No Major.Minor.Patch elements found"),
        ("v1.2.3", 'Invalid character(s) found in major number "v1"'),
        ("01.2.3", 'Major number must not contain leading zeroes "01"'),
        ("1..3", 'strconv.ParseUint: parsing "": invalid syntax'),
        ("1.2.3 ", 'Invalid character(s) found in patch number "3 "'),
        ("18446744073709551616.0.0", 'strconv.ParseUint: parsing "18446744073709551616": value out of range'),
        ("1.2.3-", "Prerelease is empty"),
        ("1.2.3-01", 'Numeric PreRelease version must not contain leading zeroes "01"'),
        ("1.2.3-a_b", 'Invalid character(s) found in prerelease "a_b"'),
        ("1.2.3+", "Build meta data is empty"),
        ("1.2.3+a_b", 'Invalid character(s) found in build meta data "a_b"'),
    ],
)
def test_what_is_no_version_is_refused_in_the_words_of_blang(text: str, problem: str) -> None:
    with pytest.raises(InvalidVersionError) as caught:
        parse(text)
    assert str(caught.value) == problem
    assert not is_version(text)


@pytest.mark.parametrize(
    ("text", "version"),
    [("v1", "1.0.0"), ("1.2", "1.2.0"), ("v01.002.3", "1.2.3"), ("00.0.0", "0.0.0"), ("1.2.3-rc", "1.2.3-rc")],
)
def test_normalising_completes_a_version(text: str, version: str) -> None:
    assert str(parse_normalized(text)) == version
    assert str(parse_tolerant(f"  {text} ")) == version
    assert is_version(text, normalize=True)


def test_normalising_refuses_a_short_version_with_a_pre_release() -> None:
    with pytest.raises(InvalidVersionError, match=r"^short version cannot contain PreRelease/Build meta data$"):
        parse_normalized("1.2-alpha")
    with pytest.raises(InvalidVersionError, match=r"^Short version cannot contain PreRelease/Build meta data$"):
        parse_tolerant("1.2-alpha")
    for text in ("V1.2.3", "vv1.2.3", " 1.2.3"):
        assert not is_version(text, normalize=True)


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        (">=1.2.0 <2.0.0", ("1.2.0", "1.9.9"), ("1.1.9", "2.0.0")),
        (">= 1.2.0  < 2.0.0", ("1.5.0",), ("2.0.0",)),
        ("1.2.3", ("1.2.3+b",), ("1.2.4",)),
        ("!=1.2.3", ("1.2.4",), ("1.2.3",)),
        ("<1.0.0 || >=2.0.0 <3.0.0", ("0.9.0", "2.5.0"), ("1.5.0", "3.0.0")),
        ("1.2.x", ("1.2.0", "1.2.9"), ("1.3.0", "1.1.9")),
        ("1.x", ("1.0.0", "1.9.0"), ("2.0.0",)),
        (">1.x", ("2.0.0",), ("1.9.0",)),
        ("<=1.2.x", ("1.2.9", "0.1.0"), ("1.3.0",)),
        (">=1.x", ("1.0.0", "5.0.0"), ("0.9.0",)),
        ("<1.x", ("0.9.0",), ("1.0.0",)),
        (">=1.0.0-alpha", ("1.0.0-beta", "1.0.0"), ("0.9.9",)),
    ],
)
def test_a_range_holds_what_it_says(text: str, inside: tuple[str, ...], outside: tuple[str, ...]) -> None:
    found = parse_range(text)
    assert [version for version in (*inside, *outside) if parse(version) in found] == list(inside)
    assert str(found) == text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "Last element in range is '||'"),
        ("|| 1.2.3", "First element in range is '||'"),
        ("1.2.3 ||", "Last element in range is '||'"),
        ("latest", 'Could not get version from string: "latest"'),
        (">>1.2.3", 'Could not parse Range ">>1.2.3": Could not parse comparator ">>" in ">>1.2.3"'),
        (
            ">1.2",
            'Could not parse Range ">1.2": Could not parse version "1.2" in ">1.2": '
            "No Major.Minor.Patch elements found",
        ),
    ],
)
def test_what_is_no_range_is_refused_in_the_words_of_blang(text: str, problem: str) -> None:
    with pytest.raises(InvalidVersionError) as caught:
        parse_range(text)
    assert str(caught.value) == problem


_SMALL = "(0|[1-9][0-9]{0,2})"
_PLAIN = re.compile(rf"(v?){_SMALL}[.]{_SMALL}[.](0|[1-9][0-9]{{0,16}})")


@given(
    st.one_of(
        st.from_regex(r"\Av?[0-9]{1,4}([.][0-9]{1,20}){1,3}([-+][a-z0-9.]{1,3})?\Z"),
        st.text("v01239.-+ ²٣", max_size=12),
    )
)
def test_plain_numbers_are_three_small_numbers_and_nothing_else(text: str) -> None:
    found = _PLAIN.fullmatch(text)
    wanted = None if found is None else tuple(map(int, found.groups()[1:]))
    assert plain_numbers(text, LEADING_V) == wanted
    assert plain_numbers(text, NUMBERS) == (None if text.startswith("v") else wanted)


@given(
    wanted=st.tuples(st.integers(0, 12), st.integers(0, 1002), st.integers(0, 10**11)),
    texts=st.lists(
        st.from_regex(r"v?[0-2]?[0-9]\.(?:[0-9]{1,2}|999|1000|x)\.[0-9]{1,11}(?:-rc)?", fullmatch=True), max_size=8
    ),
    majors=st.sampled_from([NUMBERS, LEADING_V]),
)
def test_a_distance_says_how_two_versions_compare_and_says_nothing_of_other_texts(
    wanted: tuple[int, int, int], texts: list[str], majors: dict[str, int]
) -> None:
    distance = distances(wanted, majors)
    if distance is None:
        assert wanted[2] >= 10**10
        return
    for text in [*texts, *texts, "", "1", "1.2", ".1.2", "1..2", "1.2.", "1.2.3.4", "1.2.٣٣٣٣", "1.2.+333", "1.2.0001"]:
        found = distance(text)
        plain = plain_numbers(text, majors)
        if found is None:
            assert plain is None or plain[2] >= 10**9
        else:
            assert plain is not None
            assert ((found > 0) - (found < 0)) == ((plain > wanted) - (plain < wanted))


def test_distances_forget_beginnings_when_there_are_too_many() -> None:
    distance = distances((1, 30, 0))
    assert distance is not None
    for minor in [*range(1000), *range(1000)]:
        for major in (0, 1, 2):
            found = distance(f"{major}.{minor}.7")
            assert found is not None
            assert (found > 0) == ((major, minor, 7) > (1, 30, 0))
