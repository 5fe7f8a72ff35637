"""The door of the `muster` command: finds the command's module, runs it, turns errors into messages and exit codes.

Command modules are imported only when they are called, so that `muster` starts fast. Each of them exposes
`app`, a typer application with subcommands, or `command`, a single function. Texts in COMMANDS are what
`muster --help` shows.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from muster import __version__
from muster.cli.terminal.exits import Exit
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
    from collections.abc import Mapping, Sequence

COMMANDS: Mapping[str, tuple[str, str]] = {
    "apply": ("muster.cli.apply", "Create or change objects from files."),
    "auth": ("muster.cli.auth", "Ask who may do what."),
    "cel": ("muster.cli.cel.command", "Evaluate, check and explain CEL expressions."),
    "classify": ("muster.cli.classify.command", "Say which labels hosts get, without a hub, and why."),
    "clusterset": ("muster.cli.clusterset.command", "Ask who is in a cluster set, who may join it, and why."),
    "delete": ("muster.cli.delete", "Delete objects by file or by name."),
    "demo": ("muster.cli.demo", "Make synthetic fleets."),
    "explain": (
        "muster.cli.explain.command",
        "Say why: for a placement, a cluster, a cluster set or a classification.",
    ),
    "get": ("muster.cli.get", "Show objects."),
    "history": ("muster.cli.history", "Show what moved a placement's decisions, and the specs it had."),
    "hub": ("muster.cli.hub.command", "Run the hub, back it up, restore it, ask how it is."),
    "jq": ("muster.cli.jq", "Run jq queries within budgets."),
    "lint": ("muster.cli.lint", "Find mistakes in placements before they are applied."),
    "plan": ("muster.cli.plan.command", "Show what applying files would change in decisions and host labels."),
    "resolve": ("muster.cli.resolve.command", "Find operators that work together, and say why."),
    "select": ("muster.cli.select", "Select clusters without a hub, and say why."),
    "undo": ("muster.cli.undo", "Bring back an earlier spec of a placement."),
    "version": ("muster.cli.version", "Print the versions of muster and of the server."),
}

DEBUG = "MUSTER_DEBUG"
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


def application(wanted: Sequence[str]) -> typer.Typer:
    """The command tree: the modules of the wanted commands in full, the others as a line of help."""
    root = typer.Typer(
        name="muster",
        help="Which of my clusters, hosts and operators fit, and why?",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    root.callback()(_root)
    for name, (module_name, summary) in sorted(COMMANDS.items()):
        module = importlib.import_module(module_name) if name in wanted else None
        if module is not None and hasattr(module, "app"):
            root.add_typer(module.app, name=name, help=summary)
        else:
            settings = getattr(module, "CONTEXT_SETTINGS", None)
            help_text = summary if module is None else None  # a module's own words are in its docstring
            root.command(name, help=help_text, short_help=summary, context_settings=settings)(
                getattr(module, "command", _not_loaded)
            )
    return root


def _not_loaded() -> None:
    """Stands for a command whose module was not needed."""


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"muster {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Nothing to do before a command runs."""


def _wanted(args: Sequence[str]) -> Sequence[str]:
    """Which commands' modules are needed: the one that is called, or all when a shell asks for completions."""
    if "_MUSTER_COMPLETE" in os.environ:
        return list(COMMANDS)
    return [argument for argument in args if argument in COMMANDS][:1]


def run(args: Sequence[str], stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    """Run one command with the given streams; the result is the exit code."""
    with contextlib.ExitStack() as stack:
        stack.callback(setattr, sys, "stdin", sys.stdin)
        sys.stdin = stdin
        stack.enter_context(contextlib.redirect_stdout(stdout))
        stack.enter_context(contextlib.redirect_stderr(stderr))
        try:
            application(_wanted(args))(args=list(args), prog_name="muster")
        except SystemExit as done:
            return done.code if isinstance(done.code, int) else int(Exit.OK)
        except MusterError as error:
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


def main() -> None:
    """The console script."""
    try:
        sys.exit(run(sys.argv[1:], sys.stdin, sys.stdout, sys.stderr))
    except KeyboardInterrupt:
        sys.exit(130)
