"""`muster explain` as it is mostly typed, read without the library that reads command lines, which takes longer to
import than an answer takes.

The console script asks here first. Whatever is not plain (help, an option twice, a value that is missing or looks like
an option, a settings file, a variable that counts as an option, a shell that completes) is not for here: `parsed` says
None, and the whole command has its turn. A property compares both.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_COMMON: Final = {"--fleet": "fleet", "--output": "output", "-o": "output", "--kubeconfig": "kubeconfig"}
_PLACED: Final = {"--namespace": "namespace", "-n": "namespace", "--cluster": "cluster"}
_OPTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "cluster": _COMMON,
    "set": _COMMON,
    "placement": {**_COMMON, **_PLACED, "--filename": "filename", "-f": "filename"},
}
_OUTPUTS: Final = ("text", "json", "yaml")
_VARIABLES: Final = (
    "MUSTER_CONFIG",
    "MUSTER_OUTPUT",
    "MUSTER_NAMESPACE",
    "MUSTER_CONTEXT",
    "_MUSTER_COMPLETE",
)  # that say what nobody has typed


def parsed(args: Sequence[str]) -> tuple[str, dict[str, str | list[str]]] | None:
    """What is explained, and with which options; None for what is not plain."""
    if len(args) < 3 or args[0] != "explain" or (options := _OPTIONS.get(args[1])) is None:
        return None
    found: dict[str, str | list[str]] = {}
    words = iter(args[2:])
    for word in words:
        if not word.startswith("-"):
            name, value = "name", word
        else:
            option, is_joined, joined = word.partition("=")
            name, value = options.get(option, ""), joined if is_joined else next(words, "")
            if is_joined and not option.startswith("--"):
                return None
        if not name or not value or (value.startswith("-") and value != "-"):
            return None
        if name == "fleet":
            fleet = found.setdefault("fleet", [])
            assert isinstance(fleet, list)  # noqa: S101 - for type checkers
            fleet.append(value)
        elif name in found or (name == "output" and value not in _OUTPUTS):
            return None
        else:
            found[name] = value
    return None if "name" not in found and args[1] != "placement" else (args[1], found)


def explained(args: Sequence[str]) -> int | None:
    """Answer what is plainly asked; the exit code. None: ask the whole command."""
    if any(map(os.environ.get, _VARIABLES)) or (plain := parsed(args)) is None:
        return None
    from muster.cli.settings.file import settings_path

    if settings_path().exists():
        return None
    from muster.cli.terminal.exits import exit_code_of

    def command() -> None:
        sys.exit(_explained(*plain))

    was_enabled = gc.isenabled()
    gc.disable()  # one answer, and the process ends: nothing of what is made for it is worth being searched
    try:
        return exit_code_of(command, sys.stderr)
    finally:
        if was_enabled:
            gc.enable()


def _explained(what: str, given: Mapping[str, str | list[str]]) -> int:
    from muster.cli.explain import showing
    from muster.cli.terminal.output import Report

    explain = {
        "cluster": showing.explain_cluster,
        "set": showing.explain_set,
        "placement": showing.explain_placement,
    }[what]
    return int(explain(**{**given, "output": Report(given.get("output", "text"))}))  # type: ignore[arg-type,operator]
