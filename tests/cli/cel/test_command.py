"""`muster cel`, run as the shell runs it: arguments in, text and exit code out."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, NamedTuple

import pytest

from muster.cel import NAMES, environment
from muster.cli.main import run

if TYPE_CHECKING:
    from pathlib import Path


class Done(NamedTuple):
    code: int
    out: str
    err: str


def muster(*args: str, stdin: str = "") -> Done:
    out, err = io.StringIO(), io.StringIO()
    code = run(["cel", *args], io.StringIO(stdin), out, err)
    return Done(code, out.getvalue(), err.getvalue())


CLUSTER = 'managedCluster={"labels": {"env": "prod"}, "claims": [{"name": "a"}, {"name": "id", "value": "7"}]}'


def test_eval_prints_value_type_cost_estimate_and_reads() -> None:
    done = muster("eval", 'managedCluster.labels.env == "prod"', "--var", CLUSTER)
    assert done == Done(
        0,
        "true : bool\ncost      4 of 1,000,000; estimated 3 to 3\nreads     managedCluster.labels.env\n",
        "",
    )


def test_eval_shows_an_error_and_still_says_what_it_cost() -> None:
    done = muster("eval", "managedCluster.labels.nope", "--var", CLUSTER)
    assert (done.code, done.err) == (2, "error: no such key: nope\n")
    assert done.out.startswith("cost      3 of 1,000,000")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1 + 1", "2 : int"),
        ("2u", "2u : uint"),
        ("'a\"b'", '"a\\"b" : string'),
        ("b'a'", 'b"a" : bytes'),
        ("[1, 2.5, null]", "[1, 2.5, null] : list(dyn)"),
        ("{'a': duration('90s')}", '{"a": duration("90s")} : map(string, duration)'),
        ("timestamp('2025-01-01T00:00:00Z')", 'timestamp("2025-01-01T00:00:00Z") : timestamp'),
        ("optional.of(1)", "optional.of(1) : optional_type(int)"),
        ("optional.none()", "optional.none() : optional_type(dyn)"),
        ("type(1)", "int : type(int)"),
        ("quantity('1Mi')", 'kubernetes.Quantity("1Mi") : kubernetes.Quantity'),
    ],
)
def test_values_are_shown_as_they_are_written(text: str, shown: str) -> None:
    assert muster("eval", text).out.splitlines()[0] == shown


def test_variables_come_from_files_and_need_no_declaration(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"a": [1, 2]}', encoding="utf-8")
    (tmp_path / "y.yaml").write_text("b: two\n", encoding="utf-8")
    done = muster(
        "eval", "x.a[1] == 2 && y.b == 'two' && z == 'word'",
        "--var", f"x=@{tmp_path / 'x.json'}", "--var", f"y=@{tmp_path / 'y.yaml'}", "--var", "z=word",
    )  # fmt: skip
    assert done.out.splitlines()[0] == "true : bool"
    assert muster("eval", "x == 1", "--var", "x=@-", stdin="1").out.splitlines()[0] == "true : bool"


@pytest.mark.parametrize(
    ("var", "message"),
    [
        ("x", "muster: x: is not of the form NAME=VALUE\n"),
        ("x=@/nowhere.json", "muster: /nowhere.json: cannot be read: No such file or directory\n"),
        ("x=123456789012345678901", "muster: x: the number 123456789012345678901 does not fit into 64 bits\n"),
    ],
)
def test_variables_that_cannot_be_used_are_refused(var: str, message: str) -> None:
    assert muster("eval", "true", "--var", var) == Done(2, "", message)


def test_check_prints_every_diagnostic_and_answers_no() -> None:
    done = muster("check", "a + b")
    assert done == Done(
        1,
        "ERROR: <input>:1:1: undeclared reference to 'a' (in container '')\n | a + b\n | ^\n"
        "ERROR: <input>:1:5: undeclared reference to 'b' (in container '')\n | a + b\n | ....^\n",
        "",
    )
    assert muster("check", "1 + 1") == Done(0, "ok : int\n", "")


def test_environments_differ_in_what_they_offer() -> None:
    assert muster("check", "cel.bind(x, 1, x)", "--env", "kubernetes-1.33").code == 1
    assert muster("check", "cel.bind(x, 1, x)", "--env", "muster").code == 0
    unknown = muster("check", "1", "--env", "nope")
    assert unknown.err == f"muster: unknown CEL environment 'nope': choose one of {', '.join(NAMES)}\n"


def test_explain_prints_the_value_of_every_part() -> None:
    done = muster("explain", "managedCluster.claims.exists(c, c.name == 'id') || 1 / 0 > 1", "--var", CLUSTER)
    assert done.out.splitlines() == [
        'managedCluster.claims.exists(c, c.name == "id") || 1 / 0 > 1',
        "  → true",
        '  managedCluster.claims.exists(c, c.name == "id")',
        "    → true",
        "    managedCluster.claims",
        '      → [{"name": "a"}, {"name": "id", "value": "7"}]',
        "      managedCluster",
        '        → {"labels": {"env": "prod"}, "claims": [{"name": "a"}, {"name": "id", "value": "7"}]}',
        '    c.name == "id"',
        "      → false | true",
        "      c.name",
        '        → "a" | "id"',
        "        c",
        '          → {"name": "a"} | {"name": "id", "value": "7"}',
        "  1 / 0 > 1",
        "    → not evaluated",
        "    1 / 0",
        "      → not evaluated",
        "cost 17",
    ]


def test_functions_lists_all_and_documents_one() -> None:
    listed = muster("functions", "--env", "standard").out
    assert all(name in listed for name in environment("standard").functions)
    one = muster("functions", "startsWith").out
    assert "string.startsWith(string) -> bool" in one
    assert "'eu-west-1'.startsWith('eu-')  // true" in one
    assert muster("functions", "no_such_function").code == 1


def test_the_repl_keeps_values_and_survives_errors() -> None:
    done = muster("repl", stdin="x = 2\nx * 21\nx +\n1 / 0\nexit\n")
    assert "42 : int  (cost 2)" in done.out
    assert "Syntax error" in done.err
    assert "error: division by zero" in done.err
    assert done.code == 0


def test_bench_counts_results_over_a_file_of_objects(tmp_path: Path) -> None:
    objects = [{"n": number} for number in range(10)] + [{}]
    (tmp_path / "objects.json").write_text(json.dumps({"items": objects}), encoding="utf-8")
    done = muster("bench", "managedCluster.n > 6", "--over", str(tmp_path / "objects.json"))
    assert done.code == 0
    assert "11 evaluations in" in done.out
    assert "results   false 7, true 3, error 1" in done.out


def test_profile_compares_both_back_ends() -> None:
    assert "compiled," in muster("eval", "1 + 1", "--profile").out
