"""What the API server calls at a replica: webhooks and questions, and the certificates that both are served with.

A replica that has neither imports none of what they decide with. They write nothing but the Secret with the
certificates and the authority in the configurations.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from typing import TYPE_CHECKING, Final

from muster.client.errors import UnreachableError
from muster.client.reflector import Reflector
from muster.controllers.garbage.collector import METADATA, METADATA_LIST
from muster.controllers.runtime.late_kinds import discovered
from muster.errors import ApiError
from muster.hub.heavy_work import HeavyWork
from muster.hub.rest.server import serve
from muster.kubernetes.serving.authorizer import RBAC, ReviewingAuthorizer
from muster.kubernetes.serving.certificate_keeper import CertificateKeeper
from muster.kubernetes.serving.front_proxy import FrontProxyWatch
from muster.kubernetes.serving.health import listening, server_tls
from muster.kubernetes.serving.mirrored_objects import MirroredObjects
from muster.kubernetes.serving.questions_api import questions_application
from muster.kubernetes.serving.reviews import AccessReviews
from muster.kubernetes.serving.webhooks import MOST_BYTES, Webhooks

if TYPE_CHECKING:
    import contextlib
    from collections.abc import Callable
    from datetime import datetime

    from muster.client import Client, ServedResource
    from muster.controllers.questions.asking import Controllers
    from muster.kubernetes.serving.metrics import ServingMetrics
    from muster.kubernetes.serving.replica import ReplicaSettings

_LOGGER = logging.getLogger(__name__)
_REMEMBERED: Final = 10.0  # seconds for which a permission is believed when a question asks for it
_OCM: Final = "cluster.open-cluster-management.io"
#: What answers to questions read here, beside what the observer has.
_READ: Final = (
    "namespaces",
    f"managedclustersets.{_OCM}",
    f"managedclustersetbindings.{_OCM}",
    f"placements.{_OCM}",
)
_METADATA_ONLY: Final = (f"managedclusters.{_OCM}",)
_UNUSABLE: Final = 10.0  # seconds until an authority that cannot be used is looked at again
_FORBIDDEN_PAUSE: Final = 300.0  # seconds between looks at whether we may read roles


class Answering:
    """The parts of a replica that answer the API server."""

    def __init__(
        self,
        client: Client,
        settings: ReplicaSettings,
        now: Callable[[], datetime],
        metrics: ServingMetrics,
        controllers: Controllers,
    ) -> None:
        self._client = client
        self._settings = settings
        self._now = now
        self._metrics = metrics
        self._controllers = controllers
        self._heavy = HeavyWork()
        self._objects = MirroredObjects()
        self._reviews = AccessReviews(client, _REMEMBERED)
        self._authorizer = ReviewingAuthorizer(self._objects, self._reviews)
        self._proxies = FrontProxyWatch(client)
        self._keeper = CertificateKeeper(client, settings.home, now, settings.certificates)
        until = "Until the serving certificate ends."
        metrics.gauge("muster_certificate_seconds_left", until, lambda: self._keeper.seconds_left)
        metrics.gauge("muster_access_reviews", "SubjectAccessReviews asked.", lambda: self._reviews.asked)

    def close(self) -> None:
        self._heavy.close()

    def certificate_problem(self) -> str | None:
        return self._keeper.problem

    def questions_problem(self) -> str | None:
        return self._proxies.problem

    async def listen(self, stack: contextlib.AsyncExitStack) -> None:
        """Open the webhooks' port. Questions open theirs when the front proxy is known."""
        settings = self._settings
        if not settings.home.has_webhooks:
            return
        tls = server_tls()
        self._keeper.serve_with(tls)
        webhooks = Webhooks(
            self._client, self._reviews, self._authorizer, self._heavy, self._now, self._metrics, self._controllers
        )
        door = listening(webhooks.routes(), settings.host, settings.webhook_port, tls, MOST_BYTES)
        await stack.enter_async_context(door)

    def begin(self, tasks: asyncio.TaskGroup) -> None:
        """What goes on behind the ports."""
        tasks.create_task(self._keeper.run())
        if self._settings.home.has_questions:
            tasks.create_task(self._mirror(tasks))
            tasks.create_task(self._serve_questions())

    async def _serve_questions(self) -> None:
        """Behind the front proxy; anew when that has another authority."""
        settings = self._settings
        while True:
            proxy = await self._proxies.first()
            tls = server_tls()
            try:
                tls.load_verify_locations(cadata=proxy.authority)
            except ssl.SSLError as error:
                self._proxies.problem = f"the authority of the front proxy cannot be used: {error}"
                _LOGGER.warning("questions: %s", self._proxies.problem)
                await asyncio.sleep(_UNUSABLE)
                continue
            tls.verify_mode = ssl.CERT_OPTIONAL  # whoever shows none is told so in words
            self._keeper.serve_with(tls)
            application = questions_application(self._client, proxy, self._authorizer, self._controllers, self._heavy)
            changed = asyncio.Event()
            watching = asyncio.create_task(self._proxies.run(proxy, changed.set))
            try:
                await serve(application, settings.host, settings.questions_port, stop=changed, context=tls)
            finally:
                watching.cancel()
                self._keeper.forget(tls)

    async def _mirror(self, tasks: asyncio.TaskGroup) -> None:
        """Read what answers need. Roles are read where that is permitted."""
        discovery = await discovered(self._client, (*_READ, *_METADATA_ONLY))
        for name in _READ:
            reflector = Reflector(self._client, discovery.named(name), self._objects.feeding(name))
            tasks.create_task(reflector.run())
        for name in _METADATA_ONLY:
            feed, accept = self._objects.feeding(name), (METADATA_LIST, METADATA)
            tasks.create_task(Reflector(self._client, discovery.named(name), feed, accept=accept).run())
        for name in RBAC:
            tasks.create_task(self._mirror_if_permitted(name, discovery.named(name)))

    async def _mirror_if_permitted(self, name: str, resource: ServedResource) -> None:
        feed = self._objects.feeding(name, self._authorizer.roles_changed)
        told = False
        while True:
            try:
                await self._client.request("GET", resource.path(), params={"limit": "1"})
                break
            except (ApiError, UnreachableError) as error:
                if not told:
                    _LOGGER.warning("who may join is not told, and permissions by name are not found: %s", error)
                told = True
                await asyncio.sleep(_FORBIDDEN_PAUSE)
        await Reflector(self._client, resource, feed).run()
