"""Client certificates: the user that a verified certificate names. The server asks once per connection.

The common name is the user, the organizations are the groups, as in Kubernetes. Whether the certificate was signed by
the right authority and is meant for clients has been checked by TLS before.
"""

from __future__ import annotations

import ssl
import time
from dataclasses import dataclass

from muster.hub.auth.tokens import AUTHENTICATED
from muster.hub.requests import User
from muster.values.json import JsonMapping


@dataclass(frozen=True, slots=True)
class Peer:
    """Who is at the other end, until when. A connection may live longer than its certificate."""

    user: User
    expires: float

    @property
    def is_good(self) -> bool:
        return time.time() < self.expires


def peer_of(certificate: JsonMapping | None) -> Peer | None:
    """The user of a certificate as `SSLObject.getpeercert` returns it; None without one, or without a name in it."""
    if not certificate:
        return None
    names: list[str] = []
    groups: list[str] = []
    for relative_name in certificate.get("subject", ()):
        for attribute, value in relative_name:
            if attribute == "commonName":
                names.append(value)
            elif attribute == "organizationName":
                groups.append(value)
    if len(names) != 1 or not names[0] or not all(each.isprintable() for each in (*names, *groups)):
        return None
    user = User(names[0], groups=tuple(dict.fromkeys((*groups, AUTHENTICATED))))
    return Peer(user, ssl.cert_time_to_seconds(certificate["notAfter"]))
