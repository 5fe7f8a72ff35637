"""A server that does not know questions is observed from here, as the user; one that starts is waited for."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Final

import msgspec
import pytest
from aiohttp import web

from muster.client import Client, Connection
from muster.client.asking import LOCAL, Answer
from muster.console.answering import AskerAnswers, answering
from muster.console.sessions import Session
from muster.errors import ApiError, InvalidObjectError
from muster.hub.local_plans import planned_locally
from muster.values.json import JsonMapping, JsonObject
from tests.builders import a_cluster

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

ME: Final = Session("s", 0.0)
OCM: Final = "/apis/cluster.open-cluster-management.io"
BODY: Final = b'{"kind": "FleetEvaluation", "spec": {"expression": "true", "rows": {"limit": 2}}}'


class Scripted:
    """Answers or refuses as told."""

    def __init__(self, said: Answer | Exception) -> None:
        self.said = said

    async def ask(self, kind: str, spec: msgspec.Struct | JsonMapping) -> Answer:
        assert (kind, spec) == ("FleetEvaluation", {"expression": "true", "rows": {"limit": 2}})
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


def answered(said: Answer | Exception, session: Session = ME, body: bytes = BODY) -> web.Response | None:
    return asyncio.run(AskerAnswers(Scripted(said)).answer("fleetevaluations", body, session))


def test_an_answer_has_the_form_of_the_servers_and_its_notes_are_warnings() -> None:
    reply = answered(Answer(msgspec.Raw(b'{"matched":1}'), ("a",), LOCAL, ('placements: "x"\r\nSet-Cookie: y',)))
    assert reply is not None
    assert isinstance(reply.body, bytes)
    assert msgspec.json.decode(reply.body)["status"] == {"matched": 1}
    assert reply.headers.getall("Warning") == ['299 - "a"', '299 - "placements: %22x%22%0D%0ASet-Cookie: y"']


@pytest.mark.parametrize(
    ("error", "code"),
    [(ApiError(403, "Forbidden", "no"), 403), (ApiError(503, "", "not yet"), 503), (InvalidObjectError("a", "b"), 422)],
)
def test_a_refusal_keeps_its_code(error: Exception, code: int) -> None:
    reply = answered(error)
    assert reply is not None
    assert reply.status == code


def test_who_logged_in_with_a_token_and_what_is_no_question_go_to_the_server() -> None:
    said = Answer(msgspec.Raw(b"{}"))
    assert answered(said, Session("s", 0.0, "token")) is None
    assert answered(said, body=b"no json") is None
    assert asyncio.run(AskerAnswers(Scripted(said)).answer("secrets", BODY, ME)) is None


@contextlib.asynccontextmanager
async def ocm_hub(code: int) -> AsyncIterator[str]:
    """A server with clusters that does not answer questions: it does not know them (404), or not yet (503)."""

    async def respond(request: web.Request) -> web.StreamResponse:
        if request.path.startswith("/apis/fleet.muster.dev"):
            return web.Response(status=code, text="404 page not found")
        if request.query.get("watch"):
            stream = web.StreamResponse()
            await stream.prepare(request)
            await asyncio.sleep(30)
            return stream
        clusters: list[JsonObject] = [a_cluster(name) for name in ("a", "b")]
        items = clusters if request.path == f"{OCM}/v1/managedclusters" else []
        if not request.path.startswith(OCM):
            return web.Response(status=404, text="404 page not found")
        return web.json_response({"kind": "List", "metadata": {"resourceVersion": "5"}, "items": items})

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", respond)
    runner = web.AppRunner(application, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        port = runner.addresses[0][1]
        yield f"http://127.0.0.1:{port}"
    finally:
        await runner.cleanup()


@pytest.mark.parametrize(("code", "expected"), [(404, (201, 2)), (503, (503, None))])
def test_a_hub_without_questions_is_observed_and_one_that_starts_is_waited_for(
    code: int, expected: tuple[int, int | None]
) -> None:
    async def told() -> tuple[int, int | None]:
        async with (
            ocm_hub(code) as url,
            Client(Connection(url)) as client,
            answering(client, planned_locally) as answers,
        ):
            reply = await answers.answer("fleetevaluations", BODY, ME)
            assert reply is not None
            assert isinstance(reply.body, bytes)
            return reply.status, msgspec.json.decode(reply.body).get("status", {}).get(
                "matched"
            ) if code == 404 else None

    assert asyncio.run(told()) == expected
