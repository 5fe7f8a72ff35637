"""The shells that can ask for completions, as typer speaks with them; `main` calls this when one of them asks."""

from __future__ import annotations

from typer._click.shell_completion import CompletionItem, add_completion_class
from typer._completion_classes import BashComplete, FishComplete, ZshComplete


class Bash(BashComplete):
    """bash takes `--output=js` apart at the equals sign, which nobody typed as a word."""

    def get_completion_args(self) -> tuple[list[str], str]:
        args, incomplete = super().get_completion_args()
        return [each for each in args if each != "="], "" if incomplete == "=" else incomplete


class Zsh(ZshComplete):
    """Typer renders what it says about a completion with a library that takes longer than the answer; ours is plain."""

    def format_completion(self, item: CompletionItem) -> str:
        value = super().format_completion(CompletionItem(item.value))
        return f"{value}:{super().format_completion(CompletionItem(item.help))}" if item.help else value


class Fish(FishComplete):
    """The same."""

    def format_completion(self, item: CompletionItem) -> str:
        return f"{item.value}\t{' '.join(item.help.split())}" if item.help else str(item.value)


def be_ready() -> None:
    """Know the shells."""
    for name, kind in (("bash", Bash), ("zsh", Zsh), ("fish", Fish)):
        add_completion_class(kind, name)
