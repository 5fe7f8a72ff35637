"""A short run of the label edits, and proof that they would find what they look for."""

from __future__ import annotations

import ast
import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from muster.admission import Finding, kinds
from muster.controllers.garbage import collector as garbage
from muster.controllers.garbage.ownership import OwnerGraph
from tests.hostile import label_edits, label_model

if TYPE_CHECKING:
    from collections.abc import Callable


def test_no_edit_joins_or_leaves_without_permission() -> None:
    tally = asyncio.run(label_edits.run(2000, seed=7))
    assert tally.wrong == []
    assert tally.refused == []
    assert tally.joined > 50
    assert tally.left > 50
    assert tally.collected > 0


async def _nothing(*_: Any) -> Finding:
    return Finding()


def _labels_unguarded(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(kinds, "cluster_permitted", _nothing)


def _sets_unguarded(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(kinds, "set_permitted", _nothing)


def _bindings_unguarded(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(kinds, "binding_permitted", _nothing)


def _owners_unguarded(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(kinds, "owners_permitted", _nothing)


def _collector_believes_anything(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(garbage, "PROTECTED", frozenset())


def _collector_forgets_who_went(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(OwnerGraph, "saw_it_go", lambda *_: True)


@pytest.mark.parametrize(
    "sabotage",
    [
        _labels_unguarded,
        _sets_unguarded,
        _owners_unguarded,
        _bindings_unguarded,
        _collector_believes_anything,
        _collector_forgets_who_went,
    ],
)
def test_whatever_is_left_out_is_found(
    sabotage: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    sabotage(monkeypatch)
    assert asyncio.run(label_edits.run(1500, seed=3)).wrong


def test_the_model_knows_nothing_of_the_hub() -> None:
    tree = ast.parse(Path(label_model.__file__).read_text())
    modules = {each.module for each in ast.walk(tree) if isinstance(each, ast.ImportFrom)}
    assert modules == {"__future__", "dataclasses", "typing"}
