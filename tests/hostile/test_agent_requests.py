"""A short run of the requests of agents, and proof that they would find what they look for."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from muster.controllers.registration import objects
from muster.hub.joining import limits
from tests.hostile import agent_model, agent_requests

if TYPE_CHECKING:
    from collections.abc import Callable


def test_no_agent_touches_what_is_not_its_own() -> None:
    tally = agent_requests.run(600, seed=7)
    assert tally.wrong == []
    # Much was let through, of every kind that an agent may write.
    assert {"managedclusters", "leases", "events", "certificatesigningrequests", "managedclusteraddons"} <= {
        *tally.changed
    }


def _anything_of_itself(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(limits, "clusters_of", lambda _: frozenset())


def _every_cluster(patch: pytest.MonkeyPatch) -> None:
    def own_rules(cluster: str, *, accepted: bool) -> list[dict[str, Any]]:
        return [{**rule, "resourceNames": []} for rule in real(cluster, accepted=accepted)]

    real = objects.own_rules
    patch.setattr(objects, "own_rules", own_rules)


def _every_namespace(patch: pytest.MonkeyPatch) -> None:
    rules = [*objects.SHARED_RULES["registration"], *objects.SHARED_RULES["work"]]
    real = objects.own_rules
    patch.setattr(objects, "own_rules", lambda cluster, *, accepted: [*real(cluster, accepted=accepted), *rules])


@pytest.mark.parametrize("sabotage", [_anything_of_itself, _every_cluster, _every_namespace])
def test_whatever_is_left_out_is_found(
    sabotage: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    sabotage(monkeypatch)
    assert agent_requests.run(1000, seed=3).wrong


def test_the_model_knows_nothing_of_the_hub() -> None:
    tree = ast.parse(Path(agent_model.__file__).read_text())
    modules = {each.module for each in ast.walk(tree) if isinstance(each, ast.ImportFrom)}
    assert modules == {"__future__", "typing"}
