"""The parts of the comparison with cel-go that need no Go: generator, shrinking, rules, and our own side of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from muster.cel import NAMES, make_program
from muster.errors import InvalidExpressionError
from tests.differential.cel import world
from tests.differential.cel.cases import Case
from tests.differential.cel.comparing import aspects, read
from tests.differential.cel.corpus import EXPRESSIONS
from tests.differential.cel.generator import program, tables
from tests.differential.cel.ours import Answer, answered, ask, pruned
from tests.differential.cel.rules import OLDER, RULES
from tests.differential.cel.shrinking import shrunk
from tests.differential.cel.twins import quantities_written, types_hidden
from tests.differential.peer import Lost

DIFFERENCES = Path(__file__).parents[2] / "docs" / "differences.md"


@pytest.mark.parametrize("environment", ["kubernetes-1.37", "ocm", "olm", "standard"])
def test_a_program_follows_from_seed_and_index_alone(environment: str) -> None:
    forwards = [program(environment, 5, index) for index in range(60)]
    backwards = [program(environment, 5, index) for index in reversed(range(60))]
    assert forwards == backwards[::-1]
    assert len({made.text for made in forwards}) > 50
    assert forwards != [program(environment, 6, index) for index in range(60)]


def test_every_function_and_operator_is_called() -> None:
    """Whatever a text can name is called sooner or later; the tables leave none out."""
    made = " ".join(program("kubernetes-1.37", 1, index).text for index in range(6000))
    missing = {
        name
        for name, _ in tables("kubernetes-1.37").calls
        if name[0].isalpha() and f"{name.rpartition('.')[2]}(" not in made
    }
    assert missing == set()


def test_most_programs_compile_and_many_have_a_value() -> None:
    compiled = values = 0
    env = world.declared("kubernetes-1.37")
    for index in range(300):
        made = program("kubernetes-1.37", 2, index)
        answer, faults = ask(made.text, env, made.chosen)
        assert faults == [], made.text
        compiled += answer.issues is None
        values += answer.value is not None
    assert compiled > 150
    assert values > 100


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_real_expressions_compile_where_their_functions_are_known(text: str) -> None:
    def compiles(name: str) -> bool:
        try:
            make_program(text, world.declared(name))
        except InvalidExpressionError:
            return False
        return True

    assert any(compiles(name) for name in NAMES)


def test_the_world_is_written_for_the_peers_as_we_have_it() -> None:
    read_back = json.loads(world.written())
    assert set(read_back["variables"]) == set(world.TYPES)
    assert [set(each) for each in read_back["sets"]] == [set(each) for each in world.SETS]
    assert read_back["sets"][2]["u"] == ["uint", "0"]
    assert read_back["sets"][0]["t"] == ["google.protobuf.Timestamp", "2026-03-29T01:30:00.123456789Z"]


def test_answers_differ_by_aspect() -> None:
    ours = Answer(type="int", value=["int", "5"], cost=3, estimate=(3, 4))
    theirs = read({"type": "int", "value": ["int", "5"], "cost": 3, "estimate": [3, 4]})
    assert isinstance(theirs, Answer)
    assert aspects(ours, theirs) == []
    assert aspects(replace(ours, cost=4, value=["uint", "5"]), theirs) == ["value", "cost"]
    assert aspects(Answer(error="x"), theirs) == ["value there, error here"]
    assert aspects(ours, replace(theirs, estimate=None)) == []  # not every peer estimates
    assert read(Lost("no answer")) == Lost("no answer")


def test_numbers_and_maps_have_one_spelling() -> None:
    assert world.canonical(["double", "1e+06"]) == ["double", "1000000.0"]
    entries = ["map", [[["string", "b"], ["int", "1"]], [["string", "a"], ["double", "NaN"]]]]
    assert world.canonical(entries) == ["map", [[["string", "a"], ["double", "nan"]], [["string", "b"], ["int", "1"]]]]
    assert world.encode([1, {"a": b"x"}]) == ["list", [["int", "1"], ["map", [[["string", "a"], ["bytes", "eA=="]]]]]]
    assert world.encode([0] * 30_000) == ["large", "list"]


def test_what_differs_is_made_small() -> None:
    text = "(size([1, int(s), 3]) > 2 ? ['a', string(i)] : ls).map(v, v + 'tail')[0].startsWith('b')"
    assert shrunk(text, lambda candidate: "int(" in candidate) == "int("
    assert shrunk("1 + 2", lambda _: False) == "1 + 2"


def test_only_what_is_read_is_left() -> None:
    program_of_paths = make_program("ms.env == 'x' || has(md.n) || lm[0].name == s", world.declared("standard"))
    left = pruned(program_of_paths.reads, world.SETS[0])
    assert left == {"ms": {"env": "prod"}, "md": {"n": None}, "lm": [{"name": "a"}], "s": "eu-west-1"}


def test_every_rule_is_a_heading_of_the_differences() -> None:
    headings = {
        line.removeprefix("### ").strip() for line in DIFFERENCES.read_text().splitlines() if line[:4] == "### "
    }
    assert {*RULES, OLDER} <= headings


def _case(text: str, environment: str = "standard", **theirs: object) -> Case:
    ours, _ = ask(text, world.declared(environment), 0)
    answer = replace(ours, **theirs)  # type: ignore[arg-type]  # fields of an answer
    return Case(environment, text, 0, ours, answer, lambda _, count: [answer] * count)


def test_rules_take_what_they_speak_of_and_nothing_else() -> None:
    twice = _case("{s: 1, s: 2}", error=None, value=["map", [[["string", "eu-west-1"], ["int", "2"]]]])
    assert twice.rule(RULES) == "Map keys given twice"
    assert _case("{s: 1, s: 2}", error=None, value=["map", []], type="int").rule(RULES) == ""
    assert _case("{s: 1}", value=["map", []]).rule(RULES) == ""
    assert _case("dyn(1).distinct()", error="internal error: interface conversion", cost=0).rule(RULES) == (
        "What panics in Go"
    )
    assert _case("1 + i", value=["int", "9"]).rule(RULES) == ""
    assert _case("1 + i", cost=3).rule(RULES) == ""
    assert _case("i / 0", error="other words").rule(RULES) == ""


def test_a_panic_excuses_only_the_error_of_the_call_that_stumbled() -> None:
    stumbled: dict[str, Any] = {"value": None, "error": "internal error: interface conversion", "cost": 0}
    assert _case("[int(s)].sort()", **stumbled).rule(RULES) == "What panics in Go"
    assert _case("dyn(u).scores('a')", "ocm", **stumbled).rule(RULES) == "What panics in Go"
    assert _case("{b'a': 1}", value=None, error=None, panic="hash of types.Bytes").rule(RULES) == (
        "Map keys that are no keys"
    )
    assert _case("dyn(1).distinct()", **stumbled, type="int").rule(RULES) == ""
    checker: dict[str, Any] = dict.fromkeys(("value", "error", "cost", "estimate")) | {"type": "", "panic": "no type"}
    assert _case("[?dyn(1)]", **checker).rule(RULES) == "What panics in Go"
    assert _case("[?optional.of(1)]", **checker).rule(RULES) == ""
    assert _case("dyn(1).distinct()", **{**stumbled, "cost": 99}).rule(RULES) == ""  # more than ours
    assert _case("[1].sort()", **stumbled).rule(RULES) == ""  # ours has a value
    assert _case("int(s)", **stumbled).rule(RULES) == ""  # nothing here stumbles


def test_digits_behind_the_point_are_counted_in_a_byte_and_in_no_other_way() -> None:
    fewer, _ = ask("'%.0232f'.format([1.5])", world.declared("kubernetes-1.37"), 0)
    same: dict[str, Any] = {"value": fewer.value, "cost": fewer.cost}
    assert _case("'%.1000f'.format([1.5])", "kubernetes-1.37", **same).rule(RULES) == "Digits behind the point"
    assert _case("'%.1000f'.format([1.5])", "kubernetes-1.37", **{**same, "value": ["string", "1.5"]}).rule(RULES) == ""
    assert _case("'%.200f'.format([1.5])", "kubernetes-1.37", **same).rule(RULES) == ""


def test_a_limit_of_ours_is_an_excuse_only_if_more_to_spend_gives_upstreams_answer() -> None:
    text = "[0,1,2,3,4,5,6,7,8,9].map(a, li.map(b, s + s)).size()"
    narrow = make_program("1", world.declared("standard")).charging
    limited = replace(narrow, work_limit=5)
    program = make_program(text, world.declared("standard"), limited)
    ours = answered(program, world.SETS[0])
    theirs, _ = ask(text, world.declared("standard"), 0)
    assert ours.refused
    assert Case("standard", text, 0, ours, theirs, lambda _, __: []).rule(RULES) == "Limits that upstream does not have"
    other = replace(theirs, value=["int", "11"])
    assert Case("standard", text, 0, ours, other, lambda _, __: []).rule(RULES) == ""


def test_a_variable_may_hold_a_type_if_the_value_is_that_of_hidden_types() -> None:
    text = "[int, string].exists(v, v == type(1))"
    assert types_hidden(text) == "[ dyn(int), dyn(string)].exists(v, v == dyn(type(1)))"
    ours, _ = ask(text, world.declared("standard"), 0)
    hidden, _ = ask(types_hidden(text), world.declared("standard"), 0)
    refused = replace(ours, creation="reference to undefined type: v", value=None, cost=None)

    def ruled(twin: Answer, theirs: Answer = refused) -> str:
        return Case("standard", text, 0, ours, theirs, lambda asked, _: [theirs if asked == text else twin]).rule(RULES)

    assert ruled(hidden) == "Variables hold types"
    assert ruled(replace(hidden, value=["bool", "false"])) == ""
    assert ruled(hidden, replace(refused, creation="reference to undefined type: w")) == ""


def test_sums_of_quantities_are_what_they_are_when_written() -> None:
    text = "[1, 2].all(v, quantity('5').add(1) in [quantity('7').sub(v)])"
    program_of_sums = make_program(text, world.declared("kubernetes-1.37"))
    values = program_of_sums.trace(world.SETS[0], 1_000_000).values
    written = '[1, 2].all(v, quantity("6") in [quantity("7").sub(v)])'
    assert quantities_written(program_of_sums, values) == written
    assert quantities_written(make_program("1 + 1", world.declared("kubernetes-1.37")), {}) is None


def test_keys_are_estimated_as_values_only_where_go_mixes_them_up() -> None:
    body = "exists(k, v, k.contains('a'))"
    three = _case(f"managedCluster.metadata.labels.{body}", "kubernetes-1.37")
    assert three.ours.estimate == (3, 4739)

    def ruled(**theirs: Any) -> str:
        return _case(three.text, "kubernetes-1.37", **theirs).rule(RULES)

    assert ruled(estimate=(3, 1539)) == "Keys are estimated as keys"
    assert ruled(estimate=(3, 1540)) == ""
    assert ruled(estimate=(3, 1539), cost=1) == ""


def test_an_order_of_entries_that_no_map_can_have_is_no_excuse() -> None:
    other = ["list", [["string", "a"], ["string", "env"]]]
    assert _case("ms.map(k, k)", value=other).rule(RULES) == "Maps keep their order"
    assert _case("ms.map(k, k)", value=["list", [["string", "a"], ["string", "b"]]]).rule(RULES) == ""
