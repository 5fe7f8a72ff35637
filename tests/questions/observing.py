"""An observer over a small world, asked without HTTP."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from muster.controllers.placements.preview import world_of
from muster.questions.asked import Question, Scope
from muster.questions.observer import Observer
from tests.controllers.questions.answering import NOW

EVERYTHING = Scope(everything=True, sets=None)
NOWHERE = Scope()


def an_observer(*objects: dict[str, Any], seconds: float = 10.0) -> Observer:
    observer = Observer(world_of(objects, NOW), lambda: NOW, seconds)
    observer.ready = True
    return observer


def body_of(
    kind: str, spec: dict[str, Any], scope: Scope = EVERYTHING, asker: str = "ada", places: Scope = NOWHERE
) -> bytes:
    return msgspec.json.encode(Question(kind, msgspec.Raw(msgspec.json.encode(spec)), asker, scope, places))


def answer(
    observer: Observer, kind: str, spec: dict[str, Any], scope: Scope = EVERYTHING, places: Scope = NOWHERE
) -> Any:
    return msgspec.json.decode(asyncio.run(observer.answer(body_of(kind, spec, scope, places=places))))


def evaluation(observer: Observer, scope: Scope = EVERYTHING, places: Scope = NOWHERE, **spec: Any) -> Any:
    return answer(observer, "FleetEvaluation", spec, scope, places)


def named(status: Any) -> list[str]:
    return [row["name"] for row in status["rows"]]
