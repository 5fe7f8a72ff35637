"""What programs in Pods beside the controllers have in common: where their health and metrics are."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Annotated

import typer

from muster.errors import InvalidObjectError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from muster.controllers.runtime.metrics import ControllerMetrics

Listen = Annotated[
    str | None,
    typer.Option(
        "--listen",
        metavar="ADDRESS:PORT",
        help="Serve /metrics, /livez and /readyz there, without TLS.",
        show_default=False,
    ),
]


@contextlib.asynccontextmanager
async def telling(listen: str | None, metrics: Callable[[], ControllerMetrics | None]) -> AsyncIterator[None]:
    """While the block runs. Ready is whoever has metrics: everything has been read once."""
    if listen is None:
        yield
        return
    from muster.kubernetes.serving.health import Health, listening

    host, port = _address(listen)

    async def rendered() -> bytes:
        known = metrics()
        return b"" if known is None else known.render()

    health = Health({"reading": lambda: None if metrics() is not None else "not everything is read yet"}, {}, rendered)
    async with listening(health.routes(), host, port):
        yield


def _address(listen: str) -> tuple[str, int]:
    host, _, port = listen.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise InvalidObjectError("--listen", f"{listen!r} is no ADDRESS:PORT, such as 127.0.0.1:8080")
    return host.removeprefix("[").removesuffix("]"), int(port)
