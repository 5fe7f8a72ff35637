"""Taking values out of reasons shows no more than cutting names out of sentences did, which it replaced.

The rule of old is kept here, and only here: a word of a sentence that is the name of a hidden cluster is replaced. What
is shown now, reasons and their parameters included, has no word that was not shown then, or is not the placement's or
our own.
"""

from __future__ import annotations

import asyncio
import random
import re
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from muster.controllers.placements.preview import settle, world_of
from muster.controllers.questions.answering import QuestionService
from muster.controllers.questions.kinds import ExplainQuestion, Refusal
from muster.errors import FailureKind
from muster.hub.requests import User
from muster.placement.explain.report import Window
from muster.reasons import Code
from muster.reasons import words as wording
from tests.builders import a_binding, a_cluster, a_placement, a_set
from tests.controllers.questions.answering import NOW
from tests.golden.readers import Reading

Object = dict[str, Any]
WORD: Final = re.compile(r"[a-z0-9](?:[-.a-z0-9]*[a-z0-9])?")
NEW_KEYS: Final = frozenset({"why", "cutWhy", "remarks", "bare"})
LABELS: Final = "managedCluster.metadata.labels"
NAMES: Final = ("n1", "n2", "n3", "n4", "n5")
VALUES: Final = (*NAMES, "sec1", "sec2", "x-n3.y", "peer_n2", "gold", "7")


def of_old(value: Any, hidden: frozenset[str], known: frozenset[str]) -> Any:
    """The answer by the rule of old."""
    match value:
        case str():
            return WORD.sub(lambda found: "" if found[0] in hidden - known else found[0], value)
        case list():
            return [of_old(each, hidden, known) for each in value if not is_about(each, hidden)]
        case dict():
            return {key: of_old(each, hidden, known) for key, each in value.items() if key not in NEW_KEYS}
        case _:
            return value


def is_about(value: Any, hidden: frozenset[str]) -> bool:
    return (isinstance(value, dict) and value.get("cluster") in hidden) or (isinstance(value, str) and value in hidden)


def words_in(value: Any) -> set[str]:
    match value:
        case str():
            return set(WORD.findall(value))
        case list():
            return {word for each in value for word in words_in(each)}
        case dict():
            return {word for each in value.values() for word in words_in(each)}
        case _:
            return set()


#: Codes, kinds of failure and the words that sentences are made with.
OURS: Final = words_in(
    [
        *Code,
        *FailureKind,
        *(file.read_text(encoding="utf-8") for file in Path(str(wording.__file__)).parent.glob("*.py")),
    ]
)


def a_fleet(dice: random.Random) -> list[Object]:
    clusters = []
    for name in NAMES:
        labels = {key: dice.choice(VALUES) for key in ("a", "b", "c") if dice.random() < 0.8}
        taints = [{"key": dice.choice(VALUES), "value": dice.choice(VALUES), "effect": "NoSelect"}]
        claims = {dice.choice(("a", "b")): dice.choice(VALUES)}
        clusters.append(a_cluster(name, labels, claims, taints if dice.random() < 0.3 else ()))
    sets = [a_set("global"), a_set("odd", clusterSelector={"selectorType": dice.choice(VALUES)})]
    return [*sets, a_binding("global"), *([a_binding("odd")] if dice.random() < 0.5 else []), *clusters]


def a_wish(dice: random.Random) -> Object:
    expressions = (
        f"{LABELS}['a'] == 'gold'",
        f"{LABELS}[{LABELS}['a']] == 'x'",
        f"int({LABELS}['b']) > 1",
        f"{LABELS}.size() > 5 && {LABELS}['c'] == 'gold'",
        "managedCluster.metadata.name.startsWith('q')",
        f"dyn({LABELS}['a'])",
    )
    selectors: list[Object] = [
        {"labelSelector": {"matchLabels": {dice.choice("abc"): "gold"}}},
        {"claimSelector": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["gold", "7"]}]}},
        {"celSelector": {"celExpressions": dice.sample(expressions, dice.randint(1, 2))}},
    ]
    chosen = dice.sample(selectors, dice.randint(0, 2))
    return a_placement(
        predicates=[{"requiredClusterSelector": each} for each in chosen],
        numberOfClusters=dice.randint(1, 3),
        clusterSets=["odd"] if dice.random() < 0.15 else [],
    )


@pytest.mark.parametrize("seed", range(25))
def test_no_more_is_shown_than_by_cutting_names_out_of_sentences(seed: int) -> None:
    dice = random.Random(seed)
    objects, placement = a_fleet(dice), a_wish(dice)
    seen = dice.sample(NAMES, dice.randint(0, 3))
    hidden = frozenset(NAMES) - frozenset(seen)
    bound = {each["metadata"]["name"] for each in objects if each["kind"] == "ManagedClusterSetBinding"}
    own = words_in(msgspec.json.encode(placement).decode()) | bound
    world = world_of(objects, NOW)
    settle(world, NOW)
    answerer = QuestionService(world, lambda: NOW, 60)
    answerer.ready = True

    async def ask() -> None:
        async with Reading.of(objects, seen) as reading:
            for cluster in ("", *seen):
                question = ExplainQuestion(placement, True, Window(), cluster)
                try:
                    report = await answerer.explain(question)
                except Refusal:
                    continue
                then = of_old(msgspec.to_builtins(report), hidden, frozenset(own))
                now = msgspec.to_builtins(await reading.shown(User("dora"), placement, report))
                assert words_in(now) - words_in(then) - own - OURS == set()
                assert words_in(now) & hidden - own == set()

    asyncio.run(ask())
    answerer.close()
