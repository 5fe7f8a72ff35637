"""A hub for tests: the real store, machinery and server, in a thread of this process, on a free port."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import http.client
import ssl
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from muster.hub.access import Access
from muster.hub.api import Api
from muster.hub.auth.administrators_only import AdministratorsOnlyAuthorizer
from muster.hub.auth.tokens import ADMINISTRATOR, TokenAuthenticator
from muster.hub.rest.application import Application
from muster.hub.rest.server import serve
from muster.hub.storage import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Mapping
    from pathlib import Path

    from muster.hub.access import AccessSettings
    from muster.hub.auth.certificates import ServingCertificate
    from muster.hub.namespaces import NamespaceCleaner
    from muster.hub.requests import User
    from muster.hub.rest.limits import Limits

TOKEN = "a-token-for-tests-only"


@dataclass
class RunningHub:
    """Where the hub is, and the few things a test does behind its back."""

    url: str
    token: str
    application: Application
    api: Api
    store: Store
    loop: asyncio.AbstractEventLoop
    tls: ServingCertificate | None = None

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 0

    @property
    def revision(self) -> int:
        return self.store.revision

    def call(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine on the hub's own loop."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(30)

    def compact(self) -> None:
        """Forget all history but the present."""
        self.call(self.store.compact(self.store.revision))

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """One request with the administrator's token: code, headers, body."""
        connection = self._connection()
        try:
            sent = {"Authorization": f"Bearer {self.token}", **(headers or {})}
            connection.request(method, path, body=body, headers={k: v for k, v in sent.items() if v})
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.headers.items()}, answer.read()
        finally:
            connection.close()

    @contextlib.contextmanager
    def open(self, path: str) -> Iterator[http.client.HTTPResponse]:
        """A GET whose body the caller reads as it comes, such as a watch."""
        connection = self._connection()
        try:
            connection.request("GET", path, headers={"Authorization": f"Bearer {self.token}"})
            yield connection.getresponse()
        finally:
            connection.close()

    def _authority(self) -> str:
        if self.tls is None:
            return ""
        return f", certificate-authority-data: {base64.b64encode(self.tls.authority).decode()}"

    def _connection(self) -> http.client.HTTPConnection:
        if self.tls is None:
            return http.client.HTTPConnection(self.host, self.port, timeout=30)
        context = ssl.create_default_context(cadata=self.tls.authority.decode())
        return http.client.HTTPSConnection(self.host, self.port, timeout=30, context=context)

    def kubeconfig(self, path: Path) -> Path:
        """Write a kubeconfig for this hub."""
        path.write_text(
            "apiVersion: v1\nkind: Config\ncurrent-context: hub\n"
            f"clusters: [{{name: hub, cluster: {{server: '{self.url}'{self._authority()}}}}}]\n"
            "contexts: [{name: hub, context: {cluster: hub, user: admin, namespace: default}}]\n"
            f"users: [{{name: admin, user: {{token: '{self.token}'}}}}]\n"
        )
        return path


async def _with_access(
    store: Store, access: Access, limits: Limits | None, cleaner: NamespaceCleaner | None
) -> tuple[Api, Application]:
    api = Api(
        store,
        access.authorizer,
        admission=access.admission,
        authenticator=access.authenticator,
        names_on_create=not access.settings.strict_names,
        heavy_work=access.heavy_work,
        cleaner=cleaner,
        questions=access.questions,
    )
    await api.start()
    await access.start(api)
    application = Application(
        api,
        access.authenticator,
        access.authorizer,
        authentication=access.authentication,
        audit=access.audit,
        subresources=access.subresources,
        identity=access.identity,
        limits=limits,
    )
    return api, application


@contextlib.contextmanager
def running_hub(
    path: Path | None = None,
    limits: Limits | None = None,
    tls: ServingCertificate | None = None,
    state: Path | None = None,
    users: Mapping[str, User] | None = None,
    access_settings: AccessSettings | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    cleaner: NamespaceCleaner | None = None,
) -> Iterator[RunningHub]:
    """Start a hub, in memory unless a path is given, and stop it at the end.

    With a directory for its `state` it has roles, users, service accounts and an audit log; else one administrator.
    `cleaner` empties namespaces in place of the hub's own.
    """
    started = threading.Event()
    found: list[RunningHub] = []
    failure: list[BaseException] = []
    stop = asyncio.Event()

    async def run() -> None:
        store = Store.open(path)
        try:
            known = {TOKEN: ADMINISTRATOR, **(users or {})}
            access = None if state is None else Access(store, state, known, access_settings, clock)
            if access is None:
                authenticator = TokenAuthenticator(known)
                authorizer = AdministratorsOnlyAuthorizer()
                api = Api(store, authorizer, authenticator=authenticator)
                await api.start()
                application = Application(api, authenticator, authorizer, limits=limits)
            else:
                api, application = await _with_access(store, access, limits, cleaner)
            loop = asyncio.get_running_loop()

            def ready(url: str) -> None:
                found.append(RunningHub(url, TOKEN, application, api, store, loop, tls))
                started.set()

            await serve(application, on_ready=ready, stop=stop, tls=tls)
            if access is not None:
                await access.close()
            await api.close()
        finally:
            await store.close()

    def main() -> None:
        try:
            asyncio.run(run())
        except BaseException as error:
            failure.append(error)
            started.set()

    thread = threading.Thread(target=main, name="hub")
    thread.start()
    started.wait(30)
    if failure:
        raise failure[0]
    hub = found[0]
    try:
        yield hub
    finally:
        hub.loop.call_soon_threadsafe(stop.set)
        thread.join(30)
    if failure:
        raise failure[0]
