"""`muster completion`: prints the lines that make a shell ask us what can come next."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer


class Shell(StrEnum):
    """Shells that can."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def command(
    shell: Annotated[Shell, typer.Argument(metavar="bash|zsh|fish", help="The shell.")],
) -> None:
    """Print a script for a shell: commands, options, kinds, names, namespaces and contexts complete with Tab.

    bash: put `source <(muster completion bash)` into ~/.bashrc. zsh: put `source <(muster completion zsh)` into
    ~/.zshrc, after `autoload -Uz compinit && compinit`. fish: write it to ~/.config/fish/completions/muster.fish.

    Examples:
      muster completion bash
      muster completion zsh
      muster completion fish
    """
    from typer._completion_shared import get_completion_script

    script = get_completion_script(prog_name="muster", complete_var="_MUSTER_COMPLETE", shell=shell.value)
    sys.stdout.write(script + "\n")
