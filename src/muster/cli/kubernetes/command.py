"""`muster kubernetes`: its commands, each imported when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from muster.cli.terminal.commands import App, Lazy, LazyGroup

if TYPE_CHECKING:
    from collections.abc import Mapping


class KubernetesGroup(LazyGroup):
    """The commands of the Kubernetes home."""

    modules: ClassVar[Mapping[str, Lazy]] = {
        "run": Lazy("muster.cli.kubernetes.run", "The program in our Pods: controllers, webhooks, questions.", "Run"),
        "placement": Lazy(
            "muster.cli.kubernetes.placement:app", "In the place of Open Cluster Management's placement.", "Run"
        ),
    }


app = App(cls=KubernetesGroup)


@app.callback()
def _kubernetes() -> None:
    """Run Muster on a Kubernetes server.

    Examples:
      muster kubernetes run --kubeconfig my-cluster --namespace muster-system --no-webhooks
    """
