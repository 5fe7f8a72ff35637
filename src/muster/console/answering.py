"""Answers questions of pages through an `Asker`: by the server, and where it cannot, by an observer in this process.

So the console works with any server that has clusters and placements, Open Cluster Management's own hub too. Only for
the user of the kubeconfig, whose rights the observer reads with; whoever logs in with a token asks the server.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import msgspec
from aiohttp import web

from muster.api.fleet_questions import QUESTIONS
from muster.client import UnreachableError
from muster.console.forwarding import refused
from muster.errors import ApiError, MusterError
from muster.questions.asking import staying

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from muster.client import Client
    from muster.client.asking import Answer, Asker
    from muster.console.sessions import Session
    from muster.questions.local import Planner

_KINDS: Final = {each.plural: each for each in QUESTIONS}
_LONGEST_WARNING: Final = 300


class _Question(msgspec.Struct, frozen=True):
    """What a page sends."""

    spec: dict[str, object] = {}


@dataclass(frozen=True, slots=True)
class AskerAnswers:
    """An `Answerer` made of an asker."""

    asker: Asker

    async def answer(self, plural: str, body: bytes, session: Session) -> web.Response | None:
        """The answer as the server would send it; None for what only the server can answer."""
        resource = _KINDS.get(plural)
        if session.bearer or resource is None:
            return None
        try:
            spec = msgspec.json.decode(body, type=_Question).spec
        except msgspec.MsgspecError:
            return None  # the server says it better
        try:
            found = await self.asker.ask(resource.kind, spec)
        except UnreachableError as error:
            return refused(502, "Unreachable", str(error))
        except ApiError as error:
            return refused(error.code, error.reason, error.message)
        except MusterError as error:
            return refused(422, "Invalid", str(error))
        return _sent(resource.kind, f"{resource.group}/{resource.versions[0].name}", spec, found)


@contextlib.asynccontextmanager
async def answering(client: Client, planner: Planner) -> AsyncIterator[AskerAnswers]:
    """Answers by the server; by an observer, made when it is first needed, where the server does not know questions."""
    async with staying(client, planner) as asker:
        yield AskerAnswers(asker)


def _sent(kind: str, version: str, spec: dict[str, object], found: Answer) -> web.Response:
    body = msgspec.json.encode({"apiVersion": version, "kind": kind, "spec": spec, "status": found.status})
    answer = web.Response(body=body, content_type="application/json", status=201, headers={"Cache-Control": "no-store"})
    for each in (*found.warnings, *found.notes):
        answer.headers.add("Warning", f'299 - "{quote(each[:_LONGEST_WARNING], safe=" ,.:;()/-_=")}"')
    return answer
