"""The API client of the CLI and of the controllers: the hub and any Kubernetes server look the same through it.

Its modules are imported when something of them is asked for: whoever only wants to know what a kubeconfig says (a shell
that completes a command line) does not wait for an HTTP library.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from muster.client.client import Client, WatchEvent
    from muster.client.discovery import Discovery, ServedResource
    from muster.client.errors import CredentialsError, UnreachableError
    from muster.client.fence import Fence, LeadershipLostError
    from muster.client.guarded import GuardedClient
    from muster.client.kubeconfig import Connection, load_connection
    from muster.client.kubeconfig_files import KubeconfigError
    from muster.client.leases import Candidate, Election, Leadership
    from muster.client.quick import QuickClient
    from muster.client.replies import Reply

__all__ = [
    "Candidate",
    "Client",
    "Connection",
    "CredentialsError",
    "Discovery",
    "Election",
    "Fence",
    "GuardedClient",
    "KubeconfigError",
    "Leadership",
    "LeadershipLostError",
    "QuickClient",
    "Reply",
    "ServedResource",
    "UnreachableError",
    "WatchEvent",
    "load_connection",
]
_MODULES = {
    "client": ("Client", "WatchEvent"),
    "discovery": ("Discovery", "ServedResource"),
    "errors": ("CredentialsError", "UnreachableError"),
    "fence": ("Fence", "LeadershipLostError"),
    "guarded": ("GuardedClient",),
    "kubeconfig": ("Connection", "load_connection"),
    "kubeconfig_files": ("KubeconfigError",),
    "leases": ("Candidate", "Election", "Leadership"),
    "quick": ("QuickClient",),
    "replies": ("Reply",),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"muster.client.{_HOMES[name]}"), name)
