"""A hub in this process without sockets: the real application on a store in memory, with roles and admission.

A request is a call of the ASGI application; the CPU time it took on the loop's thread and beside it comes back with the
answer.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from muster.hub.access import Access, AccessSettings
from muster.hub.api import Api
from muster.hub.audit import AuditLevel, AuditSettings
from muster.hub.auth.tokens import ADMINISTRATOR
from muster.hub.requests import User
from muster.hub.rest.application import Application
from muster.hub.storage import Store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, MutableMapping
    from pathlib import Path

TOKEN = "a-token-for-tests-only"
NOBODY = "a-token-without-any-role"


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer, and what it cost in seconds of CPU: on the loop, and altogether."""

    code: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes
    on_loop: float
    cpu: float

    @property
    def is_failure(self) -> bool:
        """Whether the hub failed. A few mistakes of clients are a 500 without a reason, as from a real server; and
        nobody is here to answer questions about the fleet."""
        is_question = self.code == 503 and b"questions about the fleet" in self.body
        return self.code >= 500 and b'"reason":"' in self.body and not is_question


class InProcess:
    """Sends requests to an application."""

    def __init__(self, application: Application, store: Store) -> None:
        self.application = application
        self.store = store

    async def send(
        self, method: str, path: str, body: bytes = b"", content_type: str = "application/json", token: str = TOKEN
    ) -> Answered:
        head = [(b"authorization", f"Bearer {token}".encode()), (b"content-type", content_type.encode())]
        head.append((b"content-length", str(len(body)).encode()))
        address, _, query = path.partition("?")
        scope: dict[str, Any] = {
            "type": "http",
            "method": method,
            "path": address,
            "raw_path": address.encode(),
            "query_string": query.encode(),
            "headers": head,
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 1),
            "scheme": "http",
            "extensions": {},
        }
        sent: list[MutableMapping[str, Any]] = []
        given = False

        async def receive() -> MutableMapping[str, Any]:
            nonlocal given
            if given:
                await asyncio.Event().wait()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(message)

        on_loop, cpu = time.thread_time(), time.process_time()
        await self.application(scope, receive, send)
        answer = b"".join(bytes(message.get("body", b"")) for message in sent[1:])
        return Answered(
            sent[0]["status"],
            tuple(sent[0]["headers"]),
            answer,
            time.thread_time() - on_loop,
            time.process_time() - cpu,
        )


@asynccontextmanager
async def in_process(state: Path) -> AsyncIterator[InProcess]:
    """A hub whose administrator is TOKEN; NOBODY is a user without a role."""
    store = Store.open(None)
    try:
        known = {TOKEN: ADMINISTRATOR, NOBODY: User("nobody", groups=("system:authenticated",))}
        settings = AccessSettings(audit=AuditSettings(level=AuditLevel.OFF))
        access = Access(store, state, known, settings)
        api = Api(
            store,
            access.authorizer,
            admission=access.admission,
            authenticator=access.authenticator,
            heavy_work=access.heavy_work,
        )
        await api.start()
        try:
            await access.start(api)
            yield InProcess(
                Application(
                    api,
                    access.authenticator,
                    access.authorizer,
                    authentication=access.authentication,
                    subresources=access.subresources,
                ),
                store,
            )
        finally:
            await access.close()
            await api.close()
    finally:
        await store.close()
