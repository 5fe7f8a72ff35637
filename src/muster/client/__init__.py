"""The API client of the CLI and of the controllers: the hub and any Kubernetes server look the same through it."""

from muster.client.client import Client, Reply, WatchEvent
from muster.client.discovery import Discovery, ServedResource
from muster.client.errors import CredentialsError, UnreachableError
from muster.client.fence import Fence, LeadershipLostError
from muster.client.guarded import GuardedClient
from muster.client.kubeconfig import Connection, load_connection
from muster.client.kubeconfig_files import KubeconfigError
from muster.client.leases import Candidate, Election, Leadership

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
    "Reply",
    "ServedResource",
    "UnreachableError",
    "WatchEvent",
    "load_connection",
]
