"""What `muster hub run --demo` shows first: it waits until the demo is decided, then says what to try.

Every command is printed as it can be typed; a test types them all, and looks at what they do.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from muster.errors import MusterError

if TYPE_CHECKING:
    from muster.client import Client

_PATIENCE: Final = 60.0  # seconds for the first decisions
_PLACEMENTS: Final = "/apis/cluster.open-cluster-management.io/v1beta1/placements"
_RESOLUTIONS: Final = "/apis/resolution.muster.dev/v1alpha1/resolutions"

#: A heading, and commands with what they show. The cluster is one that `checkout` is decided for.
STEPS: Final = (
    (
        "Which clusters fit, and why does one not?",
        (
            "kubectl get placements,placementdecisions -n apps",
            "muster explain placement training -n apps --cluster stage-nyc-dc1-00013",
        ),
    ),
    (
        "Change a label, and see the decision move:",
        (
            "kubectl label managedcluster prod-eu-central-1-00023 cloud=Elsewhere --overwrite",
            "kubectl get placementdecisions -n apps -l cluster.open-cluster-management.io/placement=checkout -o wide",
            "muster history placement checkout -n apps",
        ),
    ),
    (
        "Two operators that cannot work together:",
        (
            "kubectl get resolutions -n operators",
            "kubectl get resolution shop-with-legacydb -n operators -o jsonpath='{.status.message}'",
        ),
    ),
    (
        "Hosts, labelled by jq queries over their inventory:",
        ("kubectl get agents -n hosts -L inventoryclassification.agent-install.openshift.io/size",),
    ),
)


async def decided(kubeconfig: Path, patience: float = _PATIENCE) -> int | None:
    """Wait until every placement and resolution has been looked at; how many there are, None if it takes too long."""
    from muster.client import Client, load_connection

    with contextlib.suppress(TimeoutError, MusterError):
        async with asyncio.timeout(patience), Client(await load_connection(None, str(kubeconfig))) as client:
            while True:
                states = [*await _states(client, _PLACEMENTS), *await _states(client, _RESOLUTIONS)]
                if states and all(states):
                    return len(states)
                await asyncio.sleep(0.1)
    return None


async def _states(client: Client, path: str) -> list[bool]:
    """Whether each object has conditions: what its controller says first."""
    found = (await client.request("GET", path)).json()
    return [bool(item.get("status", {}).get("conditions")) for item in found["items"]]


def text() -> str:
    """What to try, for this machine: where `muster` is if it is not on PATH, and what kubectl's absence means."""
    lines = [""]
    muster = Path(sys.executable).with_name("muster")
    if shutil.which("muster") is None and muster.exists():
        lines += [f'export PATH="$PATH:{muster.parent}"']
    lines += ["", "In another terminal, type the lines above, then try:"]
    for heading, commands in STEPS:
        lines += ["", f"# {heading}", *commands]
    if shutil.which("kubectl") is None:
        lines += [
            "",
            "kubectl is not on PATH: install it for the commands that begin with it; `muster get` shows tables too.",
        ]
    return "\n".join([*lines, "", "Ctrl-C stops the hub; `make run` again goes on where it stopped.", ""])
