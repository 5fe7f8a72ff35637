"""Ports of this machine that nobody listens on, for servers that are told theirs before they start.

They come from below the range that the kernel takes ports of outgoing connections from: what was free stays free until
it is listened on, however many connections are made meanwhile, and whoever tests beside us.
"""

from __future__ import annotations

import random
import socket
from typing import Final

_FIRST, _LAST = 15_000, 30_000
_DICE: Final = random.SystemRandom()  # two test runs with one seed must not look for the same ports


def free_ports(count: int) -> list[int]:
    found: list[int] = []
    while len(found) < count:
        port = _DICE.randrange(_FIRST, _LAST)
        if port not in found and _is_free(port):
            found.append(port)
    return found


def _is_free(port: int) -> bool:
    with socket.socket() as tried:
        try:
            tried.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
