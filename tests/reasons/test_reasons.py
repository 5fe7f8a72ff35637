"""Every code has words and a documented meaning; a reason travels as JSON; codes are what they were."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muster.cli.references.reasons import reference
from muster.errors import FailureKind
from muster.reasons import (
    CODES,
    Code,
    Reason,
    Subject,
    bare,
    bounded,
    catalog_words,
    operator_words,
    requirement_words,
    sentence,
    words,
)
from muster.reasons.operator_codes import OPERATOR_CODES
from muster.reasons.redaction import words_of
from muster.reasons.selector_words import KINDS

ROOT = Path(__file__).resolve().parents[2]
RECORDED = Path(__file__).parent / "codes.txt"


def test_every_code_has_words_and_is_documented() -> None:
    assert set(words._WORDS) == set(Code) == set(CODES)
    assert set(KINDS) == set(FailureKind)


def test_codes_that_were_given_out_keep_their_names() -> None:
    """Programs decide by them. A new one is added to the file; one that is gone is announced in the change log."""
    given_out = RECORDED.read_text(encoding="utf-8").split()
    assert sorted(given_out) == sorted([*(code.value for code in Code), *(kind.value for kind in FailureKind)])


def test_the_page_of_codes_is_generated() -> None:
    page = (ROOT / "docs" / "reference" / "reasons.md").read_text(encoding="utf-8")
    assert page == reference(), "python -m muster.cli.references.reasons > docs/reference/reasons.md"


def test_what_words_are_made_of_is_what_is_documented() -> None:
    """A parameter or value that a sentence uses is on the page."""
    source = "".join(map(inspect.getsource, (words, operator_words, requirement_words, catalog_words)))
    used = set(re.findall(r"""(?:parameters|values|clusters)(?:\.get\(|\[)["'](\w+)["']""", source))
    used |= set(re.findall(r"""names\(reason, ["'](\w+)["']""", source))
    told = {
        name.strip()
        for each in CODES.values()
        for names in (each.parameters, each.values, each.clusters)
        for name in names.split(",")
    }
    assert used
    assert used <= told


FAILED = Reason(
    Code.NO_PREDICATE_HOLDS,
    Subject(stage="Predicate", cluster="c1"),
    parts=(
        Reason(
            Code.REQUIREMENT_FAILS,
            Subject(predicate=1, requirement="tier=gold"),
            {"noun": "label", "key": "tier", "expected": "tier=gold"},
            {"actual": None},
        ),
        Reason(
            Code.EXPRESSION_FAILED,
            Subject(predicate=2, expression="int(x) == 1"),
            {"error": "NoSuchKey"},
            {"message": "no such key: secret"},
        ),
    ),
)


def test_a_reason_is_the_same_after_a_journey_as_json() -> None:
    again = msgspec.json.decode(msgspec.json.encode(FAILED), type=Reason)
    assert again == FAILED
    assert hash(again) == hash(FAILED)
    assert (
        sentence(again)
        == sentence(FAILED)
        == (
            "Predicate: predicate 1: label tier is missing; wanted tier=gold; "
            "predicate 2: cannot be evaluated: 'int(x) == 1' failed: no such key: secret"
        )
    )


def test_a_reason_of_a_newer_server_is_taken_and_says_its_code() -> None:
    newer = msgspec.json.decode(b'{"code": "NotHeardOf", "parameters": {"a": 1}, "more": true}', type=Reason)
    assert sentence(newer) == "NotHeardOf"
    kind = Reason(Code.EXPRESSION_FAILED, Subject(expression="x"), {"error": "NotHeardOf"})
    assert sentence(kind) == "'x' failed: it could not be evaluated"


def test_a_bare_reason_tells_a_class_and_no_value() -> None:
    assert sentence(bare(FAILED)) == (
        "Predicate: predicate 1: label tier=gold does not hold; predicate 2: 'int(x) == 1' failed: no such key"
    )
    assert b"secret" not in msgspec.json.encode(bare(FAILED))


@pytest.mark.parametrize("longest", [10, 200])
def test_texts_are_bounded(longest: int) -> None:
    long = Reason(Code.EXPRESSION_FAILED, Subject(expression="x" * 999), {"error": "Other"}, {"message": "y" * 999})
    short = bounded(long, longest)
    assert short.subject.expression == "x" * longest + "…"
    assert short.values == {"message": "y" * longest + "…"}
    assert len(bare(long).subject.expression) == 201


def test_lists_are_bounded() -> None:
    many = Reason(Code.IN_NO_SET, parameters={"sets": ("s",) * 999}, parts=(Reason(Code.NO_TAINTS),) * 999)
    short = bounded(many, 10)
    assert (len(short.parts), short.parameters) == (100, {"sets": ("s",) * 100})


@given(st.text(st.sampled_from("ab-. _é😀/'Z0"), max_size=40))
def test_words_are_those_that_a_name_of_an_object_could_be(text: str) -> None:
    assert [word for word in words_of(text) if word] == re.findall(r"[a-z0-9](?:[-.a-z0-9]*[a-z0-9])?", text)


@pytest.mark.parametrize("code", sorted(OPERATOR_CODES))
def test_what_is_documented_of_a_code_of_operators_is_enough_to_word_it(code: Code) -> None:
    """Programs make such reasons too; a sentence needs nothing that the page does not tell of."""
    told = OPERATOR_CODES[code]
    carried = [name.strip() for name in told.parameters.split(",") if name.strip()]
    parts = (Reason(Code.LABEL_ASKED, parameters={"label": "gold"}),) * 2 if told.parts else ()
    lists = {"versions", "messages", "kinds", "ranges", "chains", "entries", "wants", "faults", "bundles", "packages"}
    subject = {name.strip(): "of" for name in told.subject.split(",") if name.strip()}
    parameters = {name: ("x",) if name in lists else "x" for name in carried}
    words = sentence(Reason(code, Subject(**subject), parameters, parts=parts))  # type: ignore[arg-type]  # texts for all
    assert words
    assert words != code
