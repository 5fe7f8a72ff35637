"""How the hub asks the controllers' process on loopback: metrics, explanations, advice, questions about the fleet.

The port and a secret are in a file that only the owner of the hub's directory can read, written anew at every start.
The secret never travels. Whoever asks proves to know it, and so does the answer: another process that has come by the
port of controllers that died learns nothing from it and cannot speak for them.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import logging
import os
import secrets
from typing import TYPE_CHECKING, Final, TypeVar

import aiohttp
import msgspec
from aiohttp import web

from muster.controllers.questions.kinds import Advice, AdviceQuestion, ExplainQuestion, Refusal
from muster.errors import MusterError
from muster.placement.explain.report import PlacementReport

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from muster.controllers.questions.answering import QuestionService
    from muster.controllers.questions.kinds import Observer

_LOGGER = logging.getLogger(__name__)
CONTROLLERS_ADDRESS: Final = "controllers.json"  # the file's name in the hub's directory
_REMEDY: Final = "`muster hub run` runs and restarts them; beside `muster hub serve` start `muster hub controllers`"
_METRICS_PATIENCE: Final = 1.0  # seconds that the hub waits for the controllers
_EXPLAIN_PATIENCE: Final = 15.0  # longer than they take for an explanation at most
_MOST_BYTES: Final = 16 * 1024 * 1024
_NONCE: Final = "Muster-Nonce"
_PROOF: Final = "Muster-Proof"
_METRICS, _EXPLAIN, _ADVISE, _QUESTION = "/metrics", "/explain", "/advise", "/question"
Read = TypeVar("Read")


class UnansweredError(MusterError):
    """The controllers do not answer: why, in a few words."""


class _Address(msgspec.Struct, frozen=True):
    port: int
    secret: str


# -------------------------------------------------------------------------------------------------------- answering


@contextlib.asynccontextmanager
async def serve_answers(
    address: Path,
    metrics: Callable[[], bytes],
    service: QuestionService | None = None,
    observer: Observer | None = None,
) -> AsyncIterator[None]:
    """Answer for as long as the block runs; without a service and an observer, only for metrics."""
    secret = secrets.token_urlsafe(32)

    async def rendered(_: bytes) -> bytes:
        return await asyncio.to_thread(metrics)

    async def explained(body: bytes) -> bytes:
        question = msgspec.json.decode(body, type=ExplainQuestion)
        return await _encoded(service, lambda each: each.explain(question))

    async def advised(body: bytes) -> bytes:
        question = msgspec.json.decode(body, type=AdviceQuestion)
        return await _encoded(service, lambda each: each.advise(question))

    async def questioned(body: bytes) -> bytes:
        if observer is None:
            raise Refusal(503, "these controllers answer no questions")
        return await observer.answer(body)

    application = web.Application(client_max_size=_MOST_BYTES)
    paths = ((_METRICS, rendered), (_EXPLAIN, explained), (_ADVISE, advised), (_QUESTION, questioned))
    for path, answer in paths:
        application.router.add_post(path, _guarded(secret, answer))
    # What nobody waits for any more is not worked on.
    runner = web.AppRunner(application, access_log=None, handle_signals=False, handler_cancellation=True)
    await runner.setup()
    writing: asyncio.Task[None] | None = None
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        where = _Address(int(runner.addresses[0][1]), secret)
        try:
            _write(address, where)
        except OSError as error:  # a full or read-only disk: the controllers work, though nobody can ask them yet
            _LOGGER.warning("%s cannot be written: explanations have to wait: %s", address, error.strerror)
            writing = asyncio.create_task(_write_later(address, where))
        yield
    finally:
        if writing is not None:
            writing.cancel()
        await asyncio.to_thread(_remove, address, secret)
        await runner.cleanup()


async def _encoded(
    service: QuestionService | None, ask: Callable[[QuestionService], Awaitable[PlacementReport | Advice]]
) -> bytes:
    if service is None:
        raise Refusal(503, "these controllers explain nothing")
    return msgspec.json.encode(await ask(service))


def _guarded(
    secret: str, answer: Callable[[bytes], Awaitable[bytes]]
) -> Callable[[web.Request], Awaitable[web.Response]]:
    """Only for those who know the secret; the answer shows that we know it too."""

    async def handle(request: web.Request) -> web.Response:
        body = await request.read()
        nonce = request.headers.get(_NONCE, "")
        if not hmac.compare_digest(request.headers.get(_PROOF, ""), _proof(secret, "ask", request.path, nonce, body)):
            return web.Response(status=401)
        code, content = 200, b""
        try:
            content = await answer(body)
        except Refusal as refusal:
            code, content = refusal.code, refusal.message.encode()
        except Exception:
            # A bug of ours. It must not look as if somebody else had answered.
            _LOGGER.exception("a question of the hub failed: %s", request.path)
            code, content = 500, b"the controllers failed unexpectedly, see their log"
        proof = _proof(secret, "answer", str(code), nonce, content)
        return web.Response(status=code, body=content, headers={_PROOF: proof})

    return handle


def _proof(secret: str, role: str, what: str, nonce: str, body: bytes) -> str:
    message = "\n".join((role, what, nonce, hashlib.sha256(body).hexdigest()))
    return hmac.new(secret.encode(), message.encode(), hashlib.sha256).hexdigest()


async def _write_later(path: Path, address: _Address) -> None:
    while True:
        await asyncio.sleep(1.0)
        with contextlib.suppress(OSError):
            _write(path, address)
            return


def _write(path: Path, address: _Address) -> None:
    draft = path.with_name(f"{path.name}.new")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(msgspec.json.encode(address))
    draft.replace(path)


def _remove(path: Path, secret: str) -> None:
    """Others may have taken over meanwhile: their address stays."""
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        if msgspec.json.decode(path.read_bytes(), type=_Address).secret == secret:
            path.unlink()


# ----------------------------------------------------------------------------------------------------------- asking


class Controllers:
    """The controllers' process, as the hub or a Pod knows it: by the file that says where it is."""

    def __init__(self, address: Path, whose: str = "the hub's controllers", remedy: str = _REMEDY) -> None:
        """`whose` they are and the `remedy` when they do not answer, in the words of the home that they run in."""
        self._address = address
        self.whose = whose
        self.remedy = remedy

    async def metrics(self) -> bytes:
        """Their metrics; nothing when they do not answer soon."""
        try:
            return await self._ask(_METRICS, b"", _METRICS_PATIENCE)
        except (UnansweredError, Refusal):
            return b""

    async def explain(self, question: ExplainQuestion) -> PlacementReport:
        """Raises UnansweredError, and Refusal for what they say no to."""
        return await self._asked(_EXPLAIN, question, _EXPLAIN_PATIENCE, PlacementReport)

    async def advise(self, question: AdviceQuestion) -> Advice:
        """Raises UnansweredError, and Refusal for what they say no to."""
        return await self._asked(_ADVISE, question, question.seconds, Advice)

    async def question(self, body: bytes, patience: float) -> bytes:
        """The answer of their observer. Raises UnansweredError, and Refusal for what they say no to."""
        return await self._ask(_QUESTION, body, patience)

    async def _asked(self, path: str, question: msgspec.Struct, patience: float, answer: type[Read]) -> Read:
        body = await self._ask(path, msgspec.json.encode(question), patience)
        try:
            return msgspec.json.decode(body, type=answer)
        except msgspec.MsgspecError as error:
            raise UnansweredError(f"they answered in a way that was not understood: {error}") from None

    async def _ask(self, path: str, body: bytes, patience: float) -> bytes:
        try:
            found = msgspec.json.decode(await asyncio.to_thread(self._address.read_bytes), type=_Address)
        except (OSError, msgspec.MsgspecError):
            raise UnansweredError("they are not running") from None
        nonce = secrets.token_hex(16)
        headers = {_NONCE: nonce, _PROOF: _proof(found.secret, "ask", path, nonce, body)}
        url = f"http://127.0.0.1:{found.port}{path}"
        timeout = aiohttp.ClientTimeout(total=patience)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout) as session,
                session.post(url, data=body, headers=headers) as reply,
            ):
                content = await _read(reply)
        except TimeoutError:
            raise UnansweredError(f"no answer within {patience:g} seconds") from None
        except (OSError, aiohttp.ClientError):
            raise UnansweredError("they do not listen where they last did") from None
        expected = _proof(found.secret, "answer", str(reply.status), nonce, content)
        if not hmac.compare_digest(reply.headers.get(_PROOF, ""), expected):
            raise UnansweredError("somebody else answered in their place")
        if reply.status != 200:
            raise Refusal(reply.status, content.decode("utf-8", "replace"))
        return content


async def _read(reply: aiohttp.ClientResponse) -> bytes:
    """The whole answer, up to a limit."""
    parts, size = [], 0
    async for part in reply.content.iter_any():
        size += len(part)
        if size > _MOST_BYTES:
            raise UnansweredError(f"the answer has more than {_MOST_BYTES} bytes")
        parts.append(part)
    return b"".join(parts)
