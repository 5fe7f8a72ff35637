"""`muster hub`: its commands, each imported when it is called. Starting one takes longer than listing them all."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from muster.cli.terminal.commands import App, Lazy, LazyGroup

if TYPE_CHECKING:
    from collections.abc import Mapping


class HubGroup(LazyGroup):
    """The commands of the hub."""

    modules: ClassVar[Mapping[str, Lazy]] = {
        "run": Lazy("muster.cli.hub.run", "Run the API server and the controllers.", "Run"),
        "stop": Lazy("muster.cli.hub.stop", "End the hub that runs in a directory of this machine.", "Run"),
        "status": Lazy("muster.cli.hub.status", "Whether a hub is ready, and what it holds.", "Run"),
        "serve": Lazy("muster.cli.hub.serve", "Run the API server alone.", "Run"),
        "controllers": Lazy("muster.cli.hub.controllers", "Run the controllers alone.", "Run"),
        "token": Lazy("muster.cli.hub.credentials:tokens", "Create, list and revoke the tokens of users.", "Users"),
        "certificate": Lazy(
            "muster.cli.hub.credentials:certificates", "Create client certificates for users.", "Users"
        ),
        "backup": Lazy("muster.cli.hub.copies:backup", "Copy the database, while the hub runs or not.", "Data"),
        "restore": Lazy("muster.cli.hub.copies:restore", "Replace the database by a backup.", "Data"),
        "repair": Lazy("muster.cli.hub.copies:repair", "Say what a database has lost, and go on.", "Data"),
    }


app = App(cls=HubGroup)


@app.callback()
def _hub() -> None:
    """Run the hub, back it up, restore it, ask how it is.

    Commands that act on a hub's directory mean --data, else the hub of $KUBECONFIG, else the one in ./.muster, else
    your own in ~/.local/share/muster.
    """
