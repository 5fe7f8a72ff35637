"""What a preview reveals is a subset of what the asker can get by ordinary reads, over random users, roles and objects.

Two laws, for hosts and for operators. Names and values in an answer are those of objects that the asker may get, or
words of the question. What is hidden can be anything else, and the answer stays the same to the byte.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
from typing import Any, Final

import msgspec
import pytest

from tests.controllers.resolutions.running import blobs, needs
from tests.questions.previewing import HOSTS, Asked, Object, a_catalog_map, a_host, a_query, a_resolution, may, rule

PREFIX: Final = "inventoryclassification.agent-install.openshift.io/"
CASES: Final = int(os.environ.get("MUSTER_CASES_OF_QUESTIONS", "1000"))
NAMES: Final = tuple(f"h{number}" for number in range(1, 6))
QUERIES: Final = tuple(f"q{number}" for number in range(1, 5))
MAPS: Final = ("m1", "m2", "m3")
ONLY: Final = re.compile(r"(only)?[hqm][1-5][a-z]*|only.*")
WORD: Final = re.compile(r"[A-Za-z0-9]+")


def words_in(value: Any) -> set[str]:
    return set(WORD.findall(msgspec.json.encode(value).decode()))


def telling(words: set[str]) -> set[str]:
    """Words that only one object can have said."""
    return {word for word in words if ONLY.fullmatch(word)}


def some_names(chance: random.Random, names: tuple[str, ...]) -> set[str]:
    return set(chance.sample(names, chance.randrange(len(names) + 1)))


def readable(chance: random.Random, resource: str, names: tuple[str, ...], group: str) -> tuple[set[str], list[Object]]:
    """What may be got, and the rules that say so."""
    match chance.randrange(6):
        case 0:
            return set(names), [rule(resource, "get", group=group)]
        case 1:
            return set(), [rule(resource, "list", "watch", group=group)]  # to list is not to get
        case _:
            got = some_names(chance, names)
            other = rule(resource, "get", group="other.io", names=names)
            return got, [other, *([rule(resource, "get", group=group, names=sorted(got))] if got else [])]


# ------------------------------------------------------------------------------------------------- classifications


def some_host(chance: random.Random, name: str) -> Object:
    inventory: Object = {"cpu": {"count": chance.choice((1, 8, 64))}, "serial": f"only{name}v{chance.randrange(3)}"}
    if chance.random() < 0.2:
        inventory["cpu"] = f"only{name}broken"
    value = chance.choice(("big", "small", f"only{name}label"))
    labels = {f"{PREFIX}size": value} if chance.random() < 0.4 else {}
    host = a_host(name, inventory if chance.random() < 0.9 else None, **labels)
    if labels and chance.random() < 0.5:
        host["metadata"]["annotations"] = {f"{PREFIX}applied": f'{{"size":"{value}"}}'}
    return host


def some_text(chance: random.Random) -> str:
    name = chance.choice(NAMES)
    return chance.choice(
        (
            ".cpu.count > 4",
            f'.serial == "only{name}v1"',
            f'.serial | startswith("only{name}")',
            ".serial",
            ".cpu.count / 0",
            ".cpu.count, .serial",
            "error(.serial)",
            "true",
            ". as $x | $x.cpu | keys",
            "1 +",
            "[range(1000)] | length > 5",
        )
    )


def some_classification(chance: random.Random, name: str) -> Object:
    return a_query(name, some_text(chance), chance.choice(("size", "colour")), chance.choice(("big", f"only{name}x")))


def some_preview(chance: random.Random) -> Object:
    show = chance.choice(("All", "Matched", "Unmatched", "Failed", "Changed"))
    spec: Object = {"namespace": chance.choice(("hosts", "hosts", "")), "rows": {"show": show, "limit": 100}}
    spec["explain"] = chance.random() < 0.3
    match chance.randrange(5):
        case 0:
            spec |= {"namespace": "hosts", "name": chance.choice(QUERIES)}
        case 1:
            spec["query"] = some_text(chance)
        case 2:
            pass
        case _:
            spec["classification"] = some_classification(chance, chance.choice(("q0", "q2", "q9")))
            spec["classification"]["metadata"]["namespace"] = "hosts"
    if chance.random() < 0.2:
        spec["among"] = [some_classification(chance, "q7")]
    if chance.random() < 0.2:
        spec |= {"namespace": "hosts", "host": chance.choice(NAMES)}
    return spec


async def hold_hosts(seed: int) -> str:
    chance = random.Random(seed)
    hosts = {name: some_host(chance, name) for name in NAMES}
    saved = {name: some_classification(chance, name) for name in QUERIES}
    own_hosts, rules = readable(chance, "agents", NAMES, HOSTS)
    own_queries, more = readable(chance, "agentclassifications", QUERIES, HOSTS)
    policy, spec = may([*rules, *more], chance.choice(("", "hosts"))), some_preview(chance)
    answer = await Asked([*hosts.values(), *saved.values()], policy).ask("ClassificationPreview", spec)

    known = [*(hosts[name] for name in own_hosts), *(saved[name] for name in own_queries), spec]
    assert telling(words_in(answer)) <= words_in(known), (seed, spec, answer)
    others = [hosts[name] if name in own_hosts else some_host(chance, name) for name in NAMES]
    others += [saved[name] if name in own_queries else some_classification(chance, name) for name in QUERIES]
    again = await Asked(others, policy).ask("ClassificationPreview", spec)
    assert msgspec.json.encode(again) == msgspec.json.encode(answer), (seed, spec, "depends on what is hidden")
    if "refused" in answer:
        return f"refused with {answer['refused']}"
    assert (answer["hosts"], answer["hidden"]) == (len(own_hosts), len(NAMES) - len(own_hosts)), (seed, spec)
    return f"{'some' if own_hosts else 'no'} hosts, {'some' if own_queries else 'no'} classifications"


# ----------------------------------------------------------------------------------------------------- resolutions


def some_catalog(chance: random.Random, name: str) -> Object:
    required = {
        "1.0.0": [
            needs(chance.choice(("a", "b", f"only{chance.choice(MAPS)}p")), chance.choice((">=1.0.0", ">=9.0.0")))
        ]
    }
    made = [*blobs(chance.choice(("a", "b")), "1.0.0", "2.0.0", requires=required), *blobs(f"only{name}p", "1.0.0")]
    return a_catalog_map(name, made)


def some_resolution(chance: random.Random, name: str) -> Object:
    wants = [{"package": each} for each in chance.sample(("a", "b", "onlym1p", "onlym2p"), chance.randrange(1, 3))]
    named = chance.sample(MAPS, chance.randrange(1, 3))
    catalogs: list[Object] = [{"name": f"c{each}", "configMap": {"name": each}} for each in named]
    if chance.random() < 0.2:
        catalogs.append({"name": "own"})
    return a_resolution(name, wants=wants, catalogs=catalogs)


async def hold_operators(seed: int) -> str:
    chance = random.Random(seed)
    catalogs = {name: some_catalog(chance, name) for name in MAPS}
    saved = {name: some_resolution(chance, name) for name in ("q1", "q2")}
    own_maps, rules = readable(chance, "configmaps", MAPS, "")
    own_saved, more = readable(chance, "resolutions", ("q1", "q2"), "resolution.muster.dev")
    policy = may([*rules, *more], chance.choice(("", "apps")))
    spec: Object = {"namespace": "apps", "explain": chance.choice(("", "a"))}
    spec |= (
        {"name": chance.choice(("q1", "q2"))} if chance.random() < 0.5 else {"resolution": some_resolution(chance, "x")}
    )
    answer = await Asked([*catalogs.values(), *saved.values()], policy).ask("ResolutionPreview", spec)

    known = [*(catalogs[name] for name in own_maps), *(saved[name] for name in own_saved), spec]
    assert telling(words_in(answer)) <= words_in(known), (seed, spec, answer)
    others = [catalogs[name] if name in own_maps else some_catalog(chance, name) for name in MAPS]
    others += [saved[name] if name in own_saved else some_resolution(chance, name) for name in saved]
    again = await Asked(others, policy).ask("ResolutionPreview", spec)
    assert msgspec.json.encode(again) == msgspec.json.encode(answer), (seed, spec, "depends on what is hidden")
    return f"refused with {answer['refused']}" if "refused" in answer else str(answer["outcome"])


async def all_of(hold: Any, seeds: range) -> set[str]:
    return {await hold(seed) for seed in seeds}


def test_a_preview_of_labels_reveals_nothing_that_the_asker_could_not_get() -> None:
    seen = asyncio.run(all_of(hold_hosts, range(300)))

    assert seen >= {"refused with 403", "some hosts, some classifications", "no hosts, no classifications"}


def test_a_preview_of_operators_reveals_nothing_that_the_asker_could_not_get() -> None:
    seen = asyncio.run(all_of(hold_operators, range(200)))

    assert seen >= {"refused with 403", "resolved", "impossible"}


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_thousands_of_previews_reveal_nothing_that_the_asker_could_not_get() -> None:
    asyncio.run(all_of(hold_hosts, range(1_000_000, 1_000_000 + CASES // 2)))
    asyncio.run(all_of(hold_operators, range(1_000_000, 1_000_000 + CASES // 5)))
