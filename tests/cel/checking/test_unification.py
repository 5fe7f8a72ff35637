"""Which types fit where, and what type parameters come to mean."""

from __future__ import annotations

import copy
import pickle

import pytest

from muster.cel.checking import types
from muster.cel.checking.types import (
    ANY,
    BOOL,
    DURATION,
    DYN,
    ERROR,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    TYPE,
    Kind,
    Type,
    list_of,
    map_of,
    optional_of,
    type_of_type,
    type_param,
    wrapper,
)
from muster.cel.checking.unification import Substitution, displayed, most_general

T = type_param("T")


@pytest.mark.parametrize(
    ("given", "wanted", "fits"),
    [
        (INT, INT, True),
        (INT, STRING, False),
        (DYN, INT, True),
        (INT, ANY, True),
        (ERROR, INT, True),
        (NULL, INT, False),
        (NULL, wrapper(INT), True),
        (NULL, TIMESTAMP, True),
        (NULL, optional_of(INT), True),
        (INT, wrapper(INT), True),
        (wrapper(INT), INT, True),
        (wrapper(STRING), INT, False),
        (list_of(INT), list_of(DYN), True),
        (list_of(INT), list_of(STRING), False),
        (map_of(STRING, INT), map_of(STRING, DYN), True),
        (type_of_type(INT), type_of_type(STRING), True),
        (TYPE, INT, False),
        (optional_of(INT), list_of(INT), False),
    ],
)
def test_a_type_fits_where_cel_go_says_so(given: Type, wanted: Type, fits: bool) -> None:
    assert Substitution().assignable(given, wanted) is fits


def test_a_parameter_takes_the_meaning_of_the_first_and_widens_to_dyn() -> None:
    substitution = Substitution()
    assert substitution.assignable(INT, T)
    assert substitution.apply(list_of(T)) == list_of(INT)
    assert substitution.assignable(DYN, T)
    assert substitution.apply(T) == DYN


def test_what_did_not_fit_leaves_no_trace() -> None:
    substitution = Substitution()
    assert not substitution.all_assignable([INT, STRING], [T, T])
    assert substitution.apply(T) == T
    assert substitution.apply(T, unbound_to_dyn=True) == DYN


def test_a_parameter_cannot_contain_itself() -> None:
    assert not Substitution().assignable(list_of(T), T)


def test_the_more_general_type_wins() -> None:
    assert most_general(list_of(DYN), list_of(INT)) == list_of(DYN)
    assert most_general(list_of(INT), list_of(DYN)) == list_of(DYN)


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (NULL, "null"),
        (ERROR, "!error!"),
        (list_of(DURATION), "list(duration)"),
        (map_of(STRING, wrapper(BOOL)), "map(string, wrapper(bool))"),
        (types.opaque("net.IP"), "net.IP"),
        (optional_of(TIMESTAMP), "optional_type(timestamp)"),
    ],
)
def test_messages_write_types_their_own_way(shown: Type, text: str) -> None:
    assert displayed(shown) == text


def test_a_kind_is_the_same_one_in_a_copy_and_in_another_process() -> None:
    made = list_of(map_of(STRING, INT))
    for copied in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert copied == made
        assert copied.kind is Kind.LIST
    assert repr(Kind.LIST) == "Kind.LIST"


@pytest.mark.parametrize("given", [kind for kind in vars(types).values() if isinstance(kind, Type)], ids=str)
def test_many_types_fit_as_each_of_them_does(given: Type) -> None:
    others = [kind for kind in vars(types).values() if isinstance(kind, Type)]
    for wanted in [*others, wrapper(INT), list_of(INT), list_of(DYN), optional_of(STRING), T]:
        assert Substitution().all_assignable([given], [wanted]) == Substitution().assignable(given, wanted)
        assert Substitution().all_assignable([given, INT], [wanted, INT]) == Substitution().assignable(given, wanted)
