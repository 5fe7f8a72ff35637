"""Environments: extended, never changed."""

from __future__ import annotations

from muster.cel.checking.checker import compile_expression
from muster.cel.checking.types import BOOL, INT, STRING, struct
from muster.cel.declarations import Function, Library, Overload, Variable
from muster.cel.environment import Env, ObjectTypes
from muster.cel.libraries.standard import STANDARD

ENV = Env().extend(STANDARD)


def test_extending_leaves_the_original_as_it_was() -> None:
    extended = ENV.extend(variables=[Variable("v", INT)], container="c")
    assert ("v" in extended.variables, extended.container) == (True, "c")
    assert ("v" in ENV.variables, ENV.container) == (False, "")


def test_overloads_of_one_function_from_several_libraries_come_together() -> None:
    first = Library("one", (Function("f", (Overload("f_int", (INT,), BOOL),), doc="Of ints."),))
    second = Library("two", (Function("f", (Overload("f_string", (STRING,), BOOL), Overload("f_int", (INT,), INT))),))
    env = Env().extend(first, second)
    assert env.functions["f"] == Function(
        "f", (Overload("f_int", (INT,), INT), Overload("f_string", (STRING,), BOOL)), doc="Of ints."
    )
    assert env.libraries == ("one", "two")
    assert set(env.overloads) == {"f_int", "f_string"}


def test_functions_types_and_variables_of_ones_own_take_a_few_lines() -> None:
    env = ENV.extend(
        variables=[Variable("cluster", struct("my.Cluster"))],
        functions=[Function("isBig", (Overload("cluster_is_big", (struct("my.Cluster"),), BOOL, member=True),))],
        types=ObjectTypes({"my.Cluster": {"name": STRING, "nodes": INT}}),
    )
    assert compile_expression("cluster.isBig() || cluster.nodes > 100", env).result_type == BOOL


def test_a_macro_with_a_fixed_number_of_arguments_comes_before_one_with_any() -> None:
    assert ENV.macro("map", True, 3) is not ENV.macro("map", True, 2)
    assert ENV.macro("map", True, 4) is None
