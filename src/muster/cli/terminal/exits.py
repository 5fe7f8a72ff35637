"""Exit codes, the same for every command, and what is said of errors."""

from __future__ import annotations

import os
from enum import IntEnum
from typing import TYPE_CHECKING, TextIO

from muster.errors import (
    ApiError,
    BudgetExceededError,
    EvaluationError,
    InvalidExpressionError,
    InvalidObjectError,
    MusterError,
    PluginError,
    ResolutionImpossibleError,
    StorageError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

DEBUG = "MUSTER_DEBUG"
COMPLETING = "_MUSTER_COMPLETE"  # set by shells that ask for completions


class Exit(IntEnum):
    """What a shell script learns from `muster`."""

    OK = 0
    NO = 1  # a no, findings, or a guard that tripped
    BAD_INPUT = 2
    SERVER_TROUBLE = 3
    NOT_PERMITTED = 4


EXIT_CODES: Mapping[type[MusterError], Exit] = {
    MusterError: Exit.SERVER_TROUBLE,
    InvalidExpressionError: Exit.BAD_INPUT,
    InvalidObjectError: Exit.BAD_INPUT,
    EvaluationError: Exit.BAD_INPUT,
    BudgetExceededError: Exit.BAD_INPUT,
    ResolutionImpossibleError: Exit.NO,
    PluginError: Exit.SERVER_TROUBLE,
    StorageError: Exit.SERVER_TROUBLE,
    ApiError: Exit.SERVER_TROUBLE,
}


def exit_code(error: MusterError) -> Exit:
    """The nearest class in EXIT_CODES decides; an API server's 403 and 401 are a matter of permission."""
    if isinstance(error, ApiError):
        if error.code in (401, 403):
            return Exit.NOT_PERMITTED
        if 400 <= error.code < 500:
            return Exit.NO if error.code in (404, 409) else Exit.BAD_INPUT
    return next(EXIT_CODES[kind] for kind in type(error).__mro__ if kind in EXIT_CODES)


def exit_code_of(command: Callable[[], None], stderr: TextIO) -> int:
    """Run a command, and say what went wrong."""
    try:
        command()
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else int(Exit.OK)
    except MusterError as error:
        if COMPLETING in os.environ:
            return int(Exit.OK)  # whoever pressed Tab did not ask what is wrong
        stderr.write(f"muster: {error}\n")
        return int(exit_code(error))
    except BrokenPipeError:
        # The reader left (`muster … | head`). Python would complain once more at exit, so hand it a sink.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except Exception as bug:
        if DEBUG in os.environ:
            raise
        stderr.write(f"muster: internal error: {type(bug).__name__}: {bug}\n")
        stderr.write(f"This is a fault of muster itself; with {DEBUG}=1 it shows where.\n")
        return int(Exit.SERVER_TROUBLE)
    return int(Exit.OK)
