"""What an event loop says of a connection that ended while nobody waited for it: one quiet line instead of a trace.

A server that is restarted, or a process that was stopped and goes on, leaves connections that are closed on one side.
Whoever uses such a connection hears of it by an error of its own. Set by whoever runs a loop for controllers.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from muster.values.json import JsonObject

if TYPE_CHECKING:
    import asyncio


_LOGGER = logging.getLogger(__name__)
_TRANSPORTS = (
    "Fatal error on ",
    "SSL handshake failed",
    "SSL error in data received",
    "Fatal write error",
    "Fatal read",
)


def quiet_transports(loop: asyncio.AbstractEventLoop, context: JsonObject) -> None:
    """An exception handler for `loop.set_exception_handler`; everything else is told as usual."""
    message = str(context.get("message", ""))
    if message.startswith(_TRANSPORTS) and isinstance(context.get("exception"), (OSError, RuntimeError)):
        _LOGGER.debug("a connection has ended: %s: %r", message, context.get("exception"))
    else:
        loop.default_exception_handler(context)
