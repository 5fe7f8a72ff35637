"""`muster kubernetes`: its commands, each imported when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from muster.cli.terminal.commands import App, Lazy, LazyGroup

if TYPE_CHECKING:
    from collections.abc import Mapping


class KubernetesGroup(LazyGroup):
    """The commands of the Kubernetes home."""

    modules: ClassVar[Mapping[str, Lazy]] = {
        "check": Lazy("muster.cli.kubernetes.check", "What is installed, whose it is, and what is missing.", "Ask"),
        "manifests": Lazy("muster.cli.kubernetes.manifests", "Print everything that would be installed.", "Ask"),
        "install": Lazy("muster.cli.kubernetes.install:install", "Install Muster, after a plan.", "Change"),
        "upgrade": Lazy("muster.cli.kubernetes.install:upgrade", "Bring an installation to this version.", "Change"),
        "uninstall": Lazy("muster.cli.kubernetes.uninstall", "Remove Muster; what users wrote stays.", "Change"),
        "run": Lazy("muster.cli.kubernetes.run", "The program in our Pods: controllers, webhooks, questions.", "Run"),
        "registration": Lazy("muster.cli.kubernetes.registration", "Let clusters in whose agents ask.", "Run"),
        "placement": Lazy(
            "muster.cli.kubernetes.placement:app", "In the place of Open Cluster Management's placement.", "Run"
        ),
    }


app = App(cls=KubernetesGroup)


@app.callback()
def _kubernetes() -> None:
    """Install Muster on a Kubernetes server, ask how it is, remove it.

    Examples:
      muster kubernetes manifests --crds none -o json
      muster kubernetes install --dry-run
      muster kubernetes check
    """
