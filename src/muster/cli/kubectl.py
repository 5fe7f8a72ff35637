"""What we leave to kubectl, and the line to type instead: said by whoever meets such a command or option.

The hub is a Kubernetes API server, so kubectl does these against it as against any other. A second implementation of
JSONPath or of `describe` would be worse than the one that everybody has.
"""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS: Final = frozenset(
    {
        "annotate",
        "api-resources",
        "api-versions",
        "certificate",
        "cluster-info",
        "create",
        "describe",
        "diff",
        "edit",
        "events",
        "label",
        "patch",
        "replace",
        "rollout",
        "scale",
        "taint",
        "top",
        "wait",
    }
)


def left_to_kubectl(args: Sequence[str]) -> str:
    """What to say to somebody who typed one of kubectl's commands; nothing for any other."""
    if args[0] not in COMMANDS:
        return ""
    return f"`{args[0]}` is left to kubectl, which works against the hub: {kubectl_line(args)}"


def kubectl_line(args: Sequence[str]) -> str:
    """The command line for kubectl, with the kubeconfig that muster would use where kubectl would not find it."""
    line = shlex.join(["kubectl", *args])
    prefix = _kubeconfig(args)
    missing = "" if shutil.which("kubectl") else " (kubectl is not on PATH)"
    return f"{f'KUBECONFIG={shlex.quote(prefix)} ' if prefix else ''}{line}{missing}"


def _kubeconfig(args: Sequence[str]) -> str:
    """Nothing where kubectl reads what we read: its own option, the environment, the usual file."""
    from muster.cli.settings.defaults import set_by_file

    if "KUBECONFIG" in os.environ or any(each.startswith("--kubeconfig") for each in args):
        return ""
    if found := set_by_file("kubeconfig"):
        return found
    nearby = Path(".muster", "kubeconfig")
    if not Path("~/.kube/config").expanduser().exists() and nearby.exists():
        return str(nearby.resolve())
    return ""
