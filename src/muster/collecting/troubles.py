"""What can be wrong with a cluster that is looked at: a word for the condition, and what it means for the cluster."""

from __future__ import annotations

import os
import socket
from enum import StrEnum

from muster.errors import MusterError


class Trouble(StrEnum):
    """The reason of the condition Synced when it is not true."""

    UNREACHABLE = "Unreachable"
    TIMED_OUT = "TimedOut"
    BAD_CERTIFICATE = "BadCertificate"
    REDIRECTED = "Redirected"
    UNHEALTHY = "Unhealthy"
    UNAUTHORIZED = "Unauthorized"
    FORBIDDEN = "Forbidden"
    TOO_LARGE = "TooLarge"
    MALFORMED = "Malformed"
    NO_ACCESS = "NoAccess"

    @property
    def is_lost(self) -> bool:
        """Whether nobody can say that the cluster is alive."""
        return self in (self.UNREACHABLE, self.TIMED_OUT, self.BAD_CERTIFICATE, self.REDIRECTED)

    @property
    def is_alive(self) -> bool:
        """Whether the server that was asked has answered: what is wrong is with us, or with what it tells."""
        return self in (self.UNAUTHORIZED, self.FORBIDDEN, self.TOO_LARGE, self.MALFORMED)


def words_of(error: OSError) -> str:
    """Why there is no connection, in the system's own words: those of asyncio are for programmers."""
    if isinstance(error, socket.gaierror) or not error.errno:
        return error.strerror or "none of its addresses answers"
    return os.strerror(error.errno)


class TroubleError(MusterError):
    """A look that failed. The text never repeats what the cluster has sent."""

    def __init__(self, trouble: Trouble, text: str) -> None:
        self.trouble = trouble
        self.text = text
        super().__init__(trouble, text)

    def __str__(self) -> str:
        return self.text
