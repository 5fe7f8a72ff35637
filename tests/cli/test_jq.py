"""`muster jq`: options, inputs, outputs and exit codes."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from muster.cli.main import run

if TYPE_CHECKING:
    from pathlib import Path


def muster(*args: str, stdin: str = "") -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = run(("jq", *args), io.StringIO(stdin), out, err)
    return code, out.getvalue(), err.getvalue()


@pytest.mark.parametrize(
    ("args", "stdin", "expected"),
    [
        ((".a",), '{"a": [1, {"b": null}]}', '[\n  1,\n  {\n    "b": null\n  }\n]\n'),
        (("-c", ".a"), '{"a": [1]} {"a": 2}', "[1]\n2\n"),
        (("-r", ".[]"), '["x", 1]', "x\n1\n"),
        (("-n", "-c", "[1, 2]"), "", "[1,2]\n"),
        (("-s", "-c", "."), "1 2 3", "[1,2,3]\n"),
        (("-c", "-n", "--arg", "x", "hi", "--argjson", "y", '{"z": 1}', "[$x, $y.z]"), "", '["hi",1]\n'),
        (("-c", "-n", "--arg", "x=hi", "[$x]"), "", '["hi"]\n'),
        (("run", "-n", "1"), "", "1\n"),
        (("-n", '{"b": 1, "a": 2} | keys | join("-")', "-r"), "", "a-b\n"),
    ],
)
def test_outputs_are_printed(args: tuple[str, ...], stdin: str, expected: str) -> None:
    assert muster(*args, stdin=stdin) == (0, expected, "")


def test_files_are_read_in_turn(tmp_path: Path) -> None:
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    one.write_text('{"a": 1}')
    two.write_text('{"a": 2}\n{"a": 3}')
    assert muster(".a", str(one), str(two)) == (0, "1\n2\n3\n", "")


def test_an_error_is_told_and_the_next_input_taken() -> None:
    assert muster("-c", ".[]", stdin="1 [2]") == (2, "2\n", "muster: cannot iterate over: number (1)\n")


@pytest.mark.parametrize(
    ("query", "code"), [("true", 0), ("false", 1), ("null", 1), ("empty", 1), ("false, 1", 0), ("error", 2)]
)
def test_the_exit_status_tells_the_last_output(query: str, code: int) -> None:
    assert muster("-n", "-e", query)[0] == code


def test_a_budget_can_be_set_and_is_named() -> None:
    code, _, err = muster("-n", "def f: f; f", "--limit", "steps=1000")
    assert (code, err) == (2, "muster: the query took more than 1,000 steps (budget: steps)\n")


def test_an_unknown_budget_is_refused() -> None:
    code, _, err = muster("-n", "1", "--limit", "patience=1")
    assert code == 2
    assert "patience" in err


def test_statistics_go_to_standard_error() -> None:
    code, out, err = muster(".[]", "--stats", stdin="[1, 2]")
    assert (code, out) == (0, "1\n2\n")
    assert "1 inputs, 2 outputs, 2 steps" in err


def test_bad_json_says_where(tmp_path: Path) -> None:
    file = tmp_path / "bad.json"
    file.write_text('{"a": 1}\n{"a" 2}')
    code, out, err = muster(".a", str(file))
    assert (code, out) == (2, "1\n")
    assert err == f"muster: {file}:2:6: invalid json: invalid character '2' after object key\n"


def test_a_missing_file_is_bad_input() -> None:
    code, _, err = muster(".", "/nowhere/at/all.json")
    assert code == 2
    assert "/nowhere/at/all.json" in err


def test_a_bad_query_shows_line_and_caret() -> None:
    assert muster("-n", "1 +") == (2, "", "muster: ERROR: <input>:1:4: unexpected EOF\n | 1 +\n | ...^\n")


def test_check_reports_every_fault() -> None:
    assert muster("check", "foo | $x") == (
        2,
        "",
        "ERROR: <input>:1:1: function not defined: foo/0\n | foo | $x\n | ^\n"
        "ERROR: <input>:1:7: variable not defined: $x\n | foo | $x\n | ......^\n",
    )


def test_check_is_silent_when_all_is_well() -> None:
    assert muster("check", ".a | $x", "--arg", "x") == (0, "", "")


def test_check_can_say_what_is_read() -> None:
    assert muster("check", ".a.b > .c", "--reads") == (0, ".['a']['b']\n.['c']\n", "")


def test_halt_error_prints_its_message() -> None:
    assert muster("-n", '"stop\\n" | halt_error') == (1, "", "stop\n")
