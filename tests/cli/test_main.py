"""The door of the command: help, exit codes, errors without stack traces."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest

from muster import errors
from muster.cli.main import COMMANDS, EXIT_CODES, exit_code, run
from muster.cli.terminal.exits import Exit


def called(*args: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return run(args, io.StringIO(), out, err), out.getvalue(), err.getvalue()


def family(root: type[Exception]) -> set[type[Exception]]:
    found = {root}
    for child in root.__subclasses__():
        if child.__module__ == "muster.errors":
            found |= family(child)
    return found


def test_every_error_has_an_exit_code() -> None:
    assert set(EXIT_CODES) == family(errors.MusterError)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (401, Exit.NOT_PERMITTED),
        (403, Exit.NOT_PERMITTED),
        (404, Exit.NO),
        (422, Exit.BAD_INPUT),
        (503, Exit.SERVER_TROUBLE),
    ],
)
def test_a_servers_refusal_is_told_apart_by_its_code(code: int, expected: Exit) -> None:
    assert exit_code(errors.ApiError(code, "", "")) is expected


def test_help_lists_every_command_without_loading_it() -> None:
    code, out, _ = called("--help")
    assert code == 0
    assert all(name in out for name in COMMANDS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help_of_its_own(name: str) -> None:
    code, out, err = called(name, "--help")
    assert (code, err) == (0, "")
    assert "Usage: muster" in out


def test_bad_usage_and_bad_input_exit_with_2_and_no_stack_trace() -> None:
    for args in (["nope"], ["get"], ["apply"], ["apply", "-f", "/nowhere/at/all", "--kubeconfig", "/nowhere"]):
        code, _, err = called(*args)
        assert code == 2, args
        assert "Traceback" not in err


def test_a_fault_of_ours_shows_no_stack_trace_unless_asked_to(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise RuntimeError("oops")

    monkeypatch.setattr("muster.cli.version.command", broken)
    monkeypatch.delenv("MUSTER_DEBUG", raising=False)
    code, _, err = called("version")
    assert (code, err.splitlines()[0]) == (3, "muster: internal error: RuntimeError: oops")
    monkeypatch.setenv("MUSTER_DEBUG", "1")
    with pytest.raises(RuntimeError):
        called("version")


def test_the_command_starts_without_loading_the_heavy_parts() -> None:
    program = (
        "import io, sys; from muster.cli.main import run; run(['--version'], sys.stdin, io.StringIO(), sys.stderr);"
        "print(sorted({'aiohttp', 'numpy', 'uvicorn', 'kubernetes_asyncio', 'muster.cel'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
