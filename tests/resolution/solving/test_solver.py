"""The rule of decision on bare clauses, where propagation alone is not enough."""

from __future__ import annotations

from muster.resolution.solving.clauses import Clause, Kind
from muster.resolution.solving.solver import solve

_KINDS = {"!": Kind.MANDATORY, ">": Kind.DEPENDENCY, "^": Kind.CONFLICT, "-": Kind.PROHIBITED, "?": Kind.OPTIONAL}


def clauses(text: str) -> tuple[int, list[Clause], dict[int, str]]:
    """`a!` mandatory, `a>bc` dependency, `a^b` conflict, `a-` prohibited, `<abc` at most one, `a?b` optional."""
    numbers: dict[str, int] = {}

    def number(name: str) -> int:
        return numbers.setdefault(name, len(numbers))

    made = []
    for word in text.split():
        subject, sign, others = word[0], word[1:2], word[2:]
        if subject == "<":
            group = tuple(map(number, word[1:]))
            made.append(Clause(Kind.AT_MOST, group[0], group))
            continue
        kinds = {
            "!": Kind.MANDATORY,
            ">": Kind.DEPENDENCY,
            "^": Kind.CONFLICT,
            "-": Kind.PROHIBITED,
            "?": Kind.OPTIONAL,
        }
        made.append(Clause(kinds[sign], number(subject), tuple(map(number, others))))
    return len(numbers), made, {value: name for name, value in numbers.items()}


def answer(text: str) -> str | None:
    count, made, names = clauses(text)
    solution = solve(count, made)
    return None if solution is None else "".join(names[number] for number in solution.chosen)


def test_a_choice_is_taken_back_when_it_makes_the_rest_impossible() -> None:
    # b's two candidates each need one of x and y and one of z and w; no two of these go together.
    assert answer("a! a>bc b>xy b>zw x^z x^w y^z y^w") == "ac"


def test_what_was_preferred_after_the_choice_that_is_taken_back_is_preferred_again() -> None:
    assert answer("a! e! a>bc e>fg b>xy b>zw x^z x^w y^z y^w") == "aecf"


def test_no_answer() -> None:
    assert answer("a! a>bc b>xy b>zw x^z x^w y^z y^w c-") is None
    assert answer("a! a-") is None
    assert answer("a! b! c! a>xy b>xy c>xy <xy x^y") == "abcx"


def test_wishes_come_last_and_are_given_up_rather_than_cost_anything() -> None:
    assert answer("a! a?b a>cd b^c") == "ac"
    assert answer("a! a?bc a>d b^d c>e") == "adce"


def test_a_wish_that_only_the_sat_solver_can_refuse_is_given_up() -> None:
    count, made, names = clauses("a! a?b b>xy b>zw x^z x^w y^z y^w")
    solution = solve(count, made)
    assert solution is not None
    assert [names[number] for number in solution.chosen] == ["a"]
    assert [names[clause.subject] for clause in solution.given_up] == ["a"]
