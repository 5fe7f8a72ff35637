"""Exit codes, the same for every command."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What a shell script learns from `muster`."""

    OK = 0
    NO = 1  # a no, findings, or a guard that tripped
    BAD_INPUT = 2
    SERVER_TROUBLE = 3
    NOT_PERMITTED = 4
