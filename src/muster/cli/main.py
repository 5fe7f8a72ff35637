"""The door of the `muster` command: finds the command's module, runs it, turns errors into messages and exit codes.

Command modules are imported only when they are called, so that `muster` starts fast and a shell that asks for
completions waits for one of them at most. Texts in COMMANDS are what `muster --help` shows.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from muster import __version__
from muster.cli.kubectl import left_to_kubectl
from muster.cli.terminal.commands import App, Lazy, LazyGroup
from muster.cli.terminal.exits import COMPLETING, EXIT_CODES, exit_code, exit_code_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from typer._click.core import Context

__all__ = ["COMMANDS", "EXIT_CODES", "Root", "application", "exit_code", "main", "run", "typed"]

_ASK, _CHECK, _CHANGE, _RUN, _TYPE, _SHELL = "Ask", "Check first", "Change", "Run", "Languages", "This shell"
COMMANDS: Mapping[str, Lazy] = {
    "select": Lazy("muster.cli.select", "Select clusters without a hub, and say why.", _ASK),
    "explain": Lazy(
        "muster.cli.explain.command", "Say why: a placement, a cluster, a cluster set, a classification.", _ASK
    ),
    "get": Lazy("muster.cli.get.command", "Show objects.", _ASK),
    "console": Lazy("muster.cli.console", "See the fleet in a browser, ask it, change it safely.", _ASK),
    "history": Lazy("muster.cli.history", "Show what moved a placement's decisions, and the specs it had.", _ASK),
    "shadow": Lazy("muster.cli.shadow", "Compare the decisions that OCM wrote with ours.", _ASK),
    "clusterset": Lazy("muster.cli.clusterset.command", "Who is in a cluster set, who may join it, and why.", _ASK),
    "auth": Lazy("muster.cli.auth", "Who may do what.", _ASK),
    "lint": Lazy("muster.cli.lint", "Find mistakes in placements before they are applied.", _CHECK),
    "plan": Lazy("muster.cli.plan.command", "What applying files would change in decisions and host labels.", _CHECK),
    "classify": Lazy("muster.cli.classify.command", "Which labels hosts get, without a hub, and why.", _CHECK),
    "resolve": Lazy("muster.cli.resolve.command", "Find operators that work together, and say why.", _CHECK),
    "apply": Lazy("muster.cli.apply", "Create or change objects from files.", _CHANGE),
    "delete": Lazy("muster.cli.delete", "Delete objects by file or by name.", _CHANGE),
    "import": Lazy(
        "muster.cli.importing.command", "Bring clusters of kubeconfigs, other hubs and Argo CD to the hub.", _CHANGE
    ),
    "sync": Lazy("muster.cli.sync", "Bring imported clusters up to date, and keep them so.", _CHANGE),
    "approve": Lazy("muster.cli.approve", "Let removals go that a guard holds.", _CHANGE),
    "undo": Lazy("muster.cli.undo", "Bring back an earlier spec of a placement.", _CHANGE),
    "clusters": Lazy("muster.cli.clusters.command", "Let clusters join, see who asks, take them out.", _CHANGE),
    "hub": Lazy("muster.cli.hub.command", "Run the hub, back it up, restore it, ask how it is.", _RUN),
    "kubernetes": Lazy(
        "muster.cli.kubernetes.command", "Install Muster on Kubernetes, ask how it is, remove it.", _RUN
    ),
    "argocd": Lazy("muster.cli.argocd.command", "Answer Argo CD's generators.", _RUN),
    "demo": Lazy("muster.cli.demo", "Make synthetic fleets.", _RUN),
    "cel": Lazy("muster.cli.cel.command", "Evaluate, check and explain CEL expressions.", _TYPE),
    "jq": Lazy("muster.cli.jq", "Run jq queries within budgets.", _TYPE),
    "completion": Lazy("muster.cli.completion.command", "Print what makes a shell complete commands.", _SHELL),
    "config": Lazy("muster.cli.config", "Show which defaults are in force, and where they come from.", _SHELL),
    "version": Lazy("muster.cli.version", "Print the versions of muster and of the server.", _SHELL),
}


class Root(LazyGroup):
    """All commands; and a word about those that kubectl has and we leave to it."""

    modules = COMMANDS

    def unknown(self, ctx: Context, args: list[str]) -> str:
        return left_to_kubectl(args) or super().unknown(ctx, args)


def application() -> typer.Typer:
    """The command tree; modules of commands are imported when they are called."""
    root = App(cls=Root)
    root.callback()(_root)
    return root


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"muster {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Which of my clusters, hosts and operators fit, and why?

    Start with a hub and a demo fleet (`muster hub run --demo`, which says what to try), or with files and no hub at
    all, as below. Every command has --help with examples. What kubectl does well is left to it: describe, jsonpath,
    custom-columns, api-resources; the hub is a Kubernetes API server.

    Examples:
      muster demo fleet -o my-fleet
      muster select "managedCluster.metadata.labels.cloud == 'Amazon'" --fleet my-fleet
      muster explain cluster prod-eu-west-1-00020 --fleet my-fleet
    """


def run(args: Sequence[str], stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    """Run one command with the given streams; the result is the exit code."""
    with contextlib.ExitStack() as stack:
        stack.callback(setattr, sys, "stdin", sys.stdin)
        sys.stdin = stdin
        stack.enter_context(contextlib.redirect_stdout(stdout))
        stack.enter_context(contextlib.redirect_stderr(stderr))

        def command() -> None:
            if COMPLETING in os.environ:
                from muster.cli.completion.shells import be_ready

                be_ready()
            application()(args=list(args), prog_name="muster", obj=list(args))

        return exit_code_of(command, stderr)


def typed(argv: Sequence[str]) -> list[str]:
    """The arguments of the command. Under the name `placement` it is the controller of that name, as in the image that
    Open Cluster Management runs: `/placement controller`."""
    called = os.path.basename(argv[0]) if argv else ""  # noqa: PTH119 - `pathlib` takes longer to import than this
    return ["kubernetes", "placement", *argv[1:]] if called == "placement" else list(argv[1:])


def main() -> None:
    """The console script."""
    try:
        sys.exit(run(typed(sys.argv), sys.stdin, sys.stdout, sys.stderr))
    except KeyboardInterrupt:
        sys.exit(130)
