"""Asking before something is written."""

from __future__ import annotations

import sys

from muster.errors import InvalidObjectError


def require_terminal(command: str) -> None:
    """Refuse to go on where nobody can be asked, before anything is computed."""
    if not sys.stdin.isatty():
        why = f"`muster {command}` asks before it writes, and there is no terminal to ask on"
        raise InvalidObjectError("", f"{why}: add --yes, and it does not ask")


def asked(question: str) -> bool:
    """Whether the person at the terminal says yes. Anything else is a no."""
    sys.stdout.write(f"{question} [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
