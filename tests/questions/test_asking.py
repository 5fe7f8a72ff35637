"""Whom a question goes to: the server first, an observer where no server answers, and what is remembered of that."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from muster.client.asking import LOCAL, Answer, Asker
from muster.errors import ApiError
from muster.questions.asking import ChosenAsker

UNKNOWN = ApiError(404, "", "404 page not found")
NOT_ALLOWED = ApiError(403, "Forbidden", "no", "fleetfacets")
BUSY = ApiError(503, "ServiceUnavailable", "the controllers do not answer")


class Server:
    """Answers, or refuses as it is told; counts how often it is asked."""

    def __init__(self, refusal: ApiError | None) -> None:
        self.refusal = refusal
        self.asked = 0

    async def ask(self, kind: str, spec: Any) -> Answer:
        del kind, spec
        self.asked += 1
        if self.refusal is not None:
            raise self.refusal
        return Answer(msgspec.Raw(b"{}"))


class Local:
    async def ask(self, kind: str, spec: Any) -> Answer:
        del kind, spec
        return Answer(msgspec.Raw(b"{}"), (), LOCAL)


class Case:
    def __init__(self, refusal: ApiError | None) -> None:
        self.server = Server(refusal)
        self.made = 0
        self.now = 0.0
        self.asker = ChosenAsker(self.server, self.local, lambda: self.now)

    async def local(self) -> Asker:
        self.made += 1
        return Local()

    def ask(self, kind: str = "FleetFacets") -> Answer:
        return asyncio.run(self.asker.ask(kind, {}))


def test_a_server_that_answers_is_all_that_is_asked() -> None:
    case = Case(None)

    assert (case.ask().home, case.made) == ("server", 0)


@pytest.mark.parametrize("refusal", [UNKNOWN, NOT_ALLOWED])
def test_a_server_that_does_not_take_the_question_is_left_alone_for_a_while(refusal: ApiError) -> None:
    case = Case(refusal)

    assert [case.ask().home for _ in range(3)] == [LOCAL] * 3
    assert (case.server.asked, case.made) == (1, 1)
    case.ask("Completion") if refusal is UNKNOWN else None
    assert case.server.asked == (2 if refusal is UNKNOWN else 1)  # another kind may be known

    case.now, case.server.refusal = 301.0, None
    assert case.ask().home == "server"


def test_a_server_with_nobody_to_answer_is_asked_again_each_time() -> None:
    case = Case(BUSY)

    answers = [case.ask() for _ in range(2)]

    assert (case.server.asked, case.made) == (2, 1)
    assert answers[0].notes == (
        "answered from lists, because the server does not answer questions now: the controllers do not answer",
    )


@pytest.mark.parametrize(
    "refusal",
    [
        ApiError(404, "NotFound", 'managedclusters "x" not found', "managedclusters", "x"),
        ApiError(403, "Forbidden", "you may not", "managedclusters", "x"),
        ApiError(422, "Invalid", "no", "FleetFacets"),
        ApiError(429, "TooManyRequests", "later"),
    ],
)
def test_a_refusal_of_what_is_asked_about_is_an_answer(refusal: ApiError) -> None:
    case = Case(refusal)

    with pytest.raises(ApiError) as found:
        case.ask()
    assert (found.value, case.made) == (refusal, 0)


def test_who_may_not_ask_about_a_namespace_is_answered_from_what_he_may_read() -> None:
    case = Case(ApiError(403, "Forbidden", "cannot create placements/explain", "placements", "p"))

    assert [case.ask("PlacementExplanation").home for _ in range(2)] == [LOCAL] * 2
    assert case.server.asked == 2  # it may be different in another namespace
