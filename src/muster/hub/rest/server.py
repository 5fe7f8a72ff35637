"""Runs the application on a socket: uvicorn with bounds on headers and a shutdown that ends watches first.

`app` calls `serve`; tests call it too. The server stops when its task is cancelled or `stop` is set.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import ssl
from typing import TYPE_CHECKING

import uvicorn

from muster.errors import MusterError
from muster.hub.rest.protocols import BoundedProtocol, BoundedWebSocket, ConnectionConfig
from muster.hub.rest.tls_listener import TlsListener
from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.hub.auth.certificates import ServingCertificate
    from muster.hub.rest.application import Application

_KEEP_ALIVE_SECONDS = 75
_GRACE_SECONDS = 5
_BACKLOG = 2048


class AddressInUseError(MusterError):
    """The address cannot be bound: which, why, and what to do."""


class _Server(uvicorn.Server):
    """Leaves signals to the caller, and ends watches before it waits for connections to finish."""

    def __init__(self, config: uvicorn.Config, application: Application, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._application = application
        self._on_ready = on_ready

    def capture_signals(self) -> Json:
        return contextlib.nullcontext()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        context = self.config.ssl
        if context is None or not sockets:
            await super().startup(sockets)
        else:
            listeners = [TlsListener(each, context, self._protocol) for each in sockets]
            self.servers = listeners  # type: ignore[assignment]  # uvicorn closes them, and waits for that
            self.started = True
        if self.started:
            self._on_ready()

    def _protocol(self) -> asyncio.Protocol:
        return BoundedProtocol(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._application.watches.close_all()
        await super().shutdown(sockets)


def _is_news(record: logging.LogRecord) -> bool:
    """Not so what is cut off because the server ends: uvicorn reports the cancellation of a slow watch as an error."""
    return record.exc_info is None or not isinstance(record.exc_info[1], asyncio.CancelledError)


def bind(host: str, port: int) -> socket.socket:
    """A listening address; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise AddressInUseError(f"cannot listen on {host}:{port}: {error.strerror}; choose another port") from None
    listener.listen(_BACKLOG)
    listener.setblocking(False)
    return listener


async def serve(
    application: Application,
    host: str = "127.0.0.1",
    port: int = 0,
    on_ready: Callable[[str], None] = lambda _: None,
    stop: asyncio.Event | None = None,
    tls: ServingCertificate | None = None,
    context: ssl.SSLContext | None = None,
) -> None:
    """Serve until `stop` is set or the task is cancelled; `on_ready` gets the URL once requests are answered.

    `context` is TLS that somebody else looks after, in place of the files in `tls`.
    """
    logging.getLogger("uvicorn.error").addFilter(_is_news)  # once, however often: filters are compared
    listener = bind(host, port)
    address = listener.getsockname()
    shown = f"[{address[0]}]" if ":" in address[0] else address[0]
    config = ConnectionConfig(
        application,
        http=BoundedProtocol,
        ws=BoundedWebSocket,
        ws_per_message_deflate=False,  # compressing megabytes has no place on the loop
        loop="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # nobody in front of the hub speaks for its clients
        backlog=_BACKLOG,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        ws_max_size=64 * 1024,
        ssl_certfile=tls.certificate if tls else None,
        ssl_keyfile=tls.key if tls else None,
        ssl_ca_certs=str(tls.clients) if tls and tls.clients else None,
        ssl_cert_reqs=ssl.CERT_OPTIONAL if tls and tls.clients else ssl.CERT_NONE,
    )
    config.load()
    if context is not None:
        config.ssl = context
    if config.ssl is not None:
        # Of ciphers that are all good the client knows which one it is quick at: to Go, of which most clients are made,
        # that is AES with 128 bits, to us the one with 256.
        config.ssl.options &= ~ssl.OP_CIPHER_SERVER_PREFERENCE
    scheme = "https" if tls or context else "http"
    server = _Server(config, application, lambda: on_ready(f"{scheme}://{shown}:{address[1]}"))
    running = asyncio.create_task(server.serve(sockets=[listener]))
    stopped = asyncio.create_task((stop or asyncio.Event()).wait())
    try:
        await asyncio.wait({running, stopped}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopped.cancel()
        server.should_exit = True
        await asyncio.shield(running)
