"""Programs are kept, within bounds of number and of size."""

from __future__ import annotations

from muster.cel.environments import environment
from muster.cel.program import _KeptPrograms, compile_program, make_program


def test_a_program_is_made_once() -> None:
    env = environment("ocm")
    assert compile_program("1 + 1 == 2", env) is compile_program("1 + 1 == 2", env)


def test_programs_of_other_environments_are_others() -> None:
    assert compile_program("1 == 1", environment("ocm")) is not compile_program("1 == 1", environment("olm"))


def test_the_program_used_longest_ago_goes_first() -> None:
    env = environment("ocm")
    kept = _KeptPrograms(most=2, most_units=1_000_000)
    one, two, three = (make_program(f"{number} == 1", env) for number in range(3))
    kept.put(one)
    kept.put(two)
    assert kept.get(one.text, env) is one
    kept.put(three)
    assert kept.get(two.text, env) is None
    assert kept.get(one.text, env) is one


def test_large_programs_push_out_others_and_a_too_large_one_is_not_kept() -> None:
    env = environment("ocm")
    small = make_program("1 == 1", env)
    large = make_program(" && ".join(["1 == 1"] * 50), env)
    assert large.compile_units > 10 * small.compile_units
    kept = _KeptPrograms(most=100, most_units=large.compile_units)
    kept.put(small)
    kept.put(large)
    assert kept.get(small.text, env) is None
    assert kept.get(large.text, env) is large
    tight = _KeptPrograms(most=100, most_units=large.compile_units - 1)
    tight.put(small)
    tight.put(large)
    assert tight.get(large.text, env) is None
    tight.put(small)  # what was let go of is free again
    assert tight.get(small.text, env) is small
