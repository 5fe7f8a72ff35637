"""Expressions of one object at admission: what is remembered of a bad one."""

from __future__ import annotations

import gc
from collections import Counter

import pytest

from muster.admission.compiling import ObjectExpressions
from muster.errors import InvalidObjectError
from muster.selectors.cel import CelLimits


def _refused(text: str) -> InvalidObjectError:
    with pytest.raises(InvalidObjectError) as refusal:
        ObjectExpressions(CelLimits()).compile(text)
    return refusal.value


def test_a_bad_expression_is_refused_in_the_same_words_again() -> None:
    text = "managedCluster.metadata.name ==="
    assert str(_refused(text)) == str(_refused(text))


def test_what_is_remembered_of_a_bad_expression_is_its_fault_alone() -> None:
    """Not the tokens and trees that were made of its text on the way."""
    _refused("a ++ ")
    gc.collect()
    before = Counter(type(each).__name__ for each in gc.get_objects())
    for number in range(20):
        _refused("+".join(["a"] * (200 + number)) + " ++ ")
    gc.collect()
    after = Counter(type(each).__name__ for each in gc.get_objects())
    assert (after - before)["Token"] == 0
    assert (after - before)["frame"] < 5
