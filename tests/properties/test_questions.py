"""What an answer reveals is a subset of what the asker can get by ordinary reads, over random users, roles and fleets.

Three laws. Names and values in an answer are those of clusters that the asker may get, or words of the question. What
is hidden can be anything else and the answer stays the same, to the byte. Of clusters that are counted because their
sets are bound to the namespace, only counts may depend.

MUSTER_CASES_OF_QUESTIONS is how many cases the slow form tries.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
from typing import Any, Final, cast

import msgspec
import pytest

from muster.access.policy import Policy
from muster.api.fleet_questions import QUESTIONS
from muster.controllers.placements.preview import world_of
from muster.controllers.questions.kinds import Refusal
from muster.hub.auth.rbac.authorizer import RbacAuthorizer
from muster.hub.questions import Questions
from muster.hub.requests import Target, User
from muster.hub.status import StatusError
from muster.questions.observer import Observer
from tests.builders import a_binding, a_cluster, a_placement, a_set, a_taint
from tests.controllers.questions.answering import NOW

Object = dict[str, Any]
GROUP: Final = "cluster.open-cluster-management.io"
NAMES: Final = tuple(f"n{number}" for number in range(1, 7))
LABELS: Final = "managedCluster.metadata.labels"
CLAIMS: Final = "managedCluster.status.clusterClaims"
WORD: Final = re.compile(r"[A-Za-z0-9]+")
ONLY: Final = re.compile(r"(key|claim|taint)?n[1-6]|(v1)?onlyn.*")
KINDS: Final = {each.kind: each for each in QUESTIONS}
CASES: Final = int(os.environ.get("MUSTER_CASES_OF_QUESTIONS", "10000"))
_DEPEND_ON_COUNTED: Final = ("matched", "unmatched", "failed")


class NoNamespaces:
    """A store in which nothing is: where placements may be explained, roles say of all namespaces or of none."""

    def scan(self, resource: str) -> list[Any]:
        assert resource == "namespaces"
        return []


class Asked:
    """The hub's side and the observer's, without HTTP in between."""

    def __init__(self, objects: list[Object], policy: Policy) -> None:
        self._observer = Observer(world_of(objects, NOW), lambda: NOW)
        self._observer.ready = True
        authorizer = RbacAuthorizer(cast("Any", None))
        authorizer.policy = policy
        self._questions = Questions(
            cast("Any", NoNamespaces()), authorizer, cast("Any", self), cast("Any", None), lambda: policy
        )

    async def question(self, body: bytes, patience: float) -> bytes:
        del patience
        return await self._observer.answer(body)

    async def ask(self, kind: str, spec: Object) -> Any:
        resource = KINDS[kind]
        target = Target(resource, resource.storage_version)
        try:
            answer, _ = await self._questions.answer(User("ada", groups=("system:authenticated",)), target, spec)
        except (StatusError, Refusal) as refusal:
            return {"refused": str(refusal)}
        return msgspec.json.decode(bytes(answer))


def a_value(chance: random.Random, name: str) -> str:
    """Some that clusters share, and some that only one has."""
    return chance.choice(("gold", "silver", "x", f"only{name}v{chance.randrange(3)}", f"only{name}w"))


def some_cluster(chance: random.Random, name: str) -> Object:
    labels = {key: a_value(chance, name) for key in ("tier", "cloud", f"key{name}") if chance.random() < 0.7}
    claims = {key: a_value(chance, name) for key in ("id", f"claim{name}") if chance.random() < 0.7}
    taints = [a_taint(f"taint{name}")] if chance.random() < 0.2 else []
    version = {"version": {"kubernetes": f"v1{a_value(chance, name)}"}} if chance.random() < 0.5 else {}
    return a_cluster(name, labels, claims, taints, **version)


def some_rules(chance: random.Random) -> list[Object]:
    def rule(resource: str, verbs: list[str], names: list[str] | None = None, group: str = GROUP) -> Object:
        found: Object = {"apiGroups": [group], "resources": [resource], "verbs": verbs}
        return found if names is None else found | {"resourceNames": names}

    rules = []
    match chance.randrange(8):
        case 0:
            rules.append(rule("managedclusters", ["get"]))
        case 1:
            pass
        case 2:
            rules.append(rule("managedclusters", ["list", "watch"]))  # to list is not to get
        case _:
            rules.append(rule("managedclusters", ["get"], chance.sample(NAMES, chance.randrange(1, 5))))
            if chance.random() < 0.3:
                rules.append(rule("*", ["*"], chance.sample(NAMES, 1)))
    if chance.random() < 0.5:
        rules.append(rule("managedclustersets", ["get"], ["golden"]))
    if chance.random() < 0.6:
        rules.append(rule("placements/explain", chance.choice((["create"], ["create", "get"]))))
    if chance.random() < 0.3:
        rules.append(rule("managedclusters", ["update"], list(NAMES)))
        rules.append(rule("managedclusters", ["get"], list(NAMES), group="other.io"))
    return rules


def may_get(rules: list[Object], name: str) -> bool:
    """By a reading of the rules that has nothing to do with ours."""
    return any(
        {"get", "*"} & set(each["verbs"])
        and {"managedclusters", "*"} & set(each["resources"])
        and GROUP in each["apiGroups"]
        and name in each.get("resourceNames", [name])
        for each in rules
    )


def some_expression(chance: random.Random) -> str:
    name, key = chance.choice(NAMES), chance.choice(("tier", "cloud", f"key{chance.choice(NAMES)}"))
    simple = (
        f"{LABELS}.{key} == '{a_value(chance, name)}'",
        f"managedCluster.metadata.name == '{name}' && {LABELS}.{key}.startsWith('o')",
        f"managedCluster.metadata.name == '{name}' ? {LABELS}.{key} : 'no'",
        f"{LABELS}.{key}",
        f"has({LABELS}.{key})",
        f"{CLAIMS}.exists(c, c.name == 'id' && c.value.contains('only'))",
        f"{CLAIMS}.map(c, c.value)",
        "managedCluster.metadata.name",
        f"int({LABELS}.{key}) > 3",
        f"{LABELS}.{key} + '/' + {LABELS}['cloud']",
        f"size({LABELS})",
        f"{LABELS}.map(k, {LABELS}[k])",
        f"{LABELS}.all(a, {LABELS}.all(b, {LABELS}.all(c, a + b + c != '')))",
        "nothing",
        "1 +",
        "true",
    )
    return chance.choice(simple)


def some_selector(chance: random.Random) -> Object:
    name = chance.choice(NAMES)
    labels = {"matchLabels": {chance.choice(("tier", f"key{name}")): a_value(chance, name)}}
    return chance.choice(
        (
            labels,
            {"labelSelector": labels, "claimSelector": {"matchExpressions": [{"key": "id", "operator": "Exists"}]}},
            {"celSelector": {"celExpressions": [some_expression(chance)]}},
            {"matchIdentities": [{"name": name}, {"name": "n9"}]},
            a_set("s", {"tier": "gold"}),
        )
    )


def some_choice(chance: random.Random) -> Object:
    match chance.randrange(4):
        case 0:
            return {"selector": some_selector(chance)}
        case 1:
            selectors = [some_selector(chance) for _ in range(2)]
            return {"predicates": [{"requiredClusterSelector": each} for each in selectors if "kind" not in each]}
        case _:
            return {"expression": some_expression(chance)}


def some_question(chance: random.Random) -> tuple[str, Object]:
    match chance.randrange(12):
        case 10:
            return "ClusterExplanation", {"name": chance.choice(NAMES)}
        case 11:
            return "SetExplanation", {"name": chance.choice(("golden", "secretset"))}
        case 0 | 1:
            return "FleetFacets", some_choice(chance) if chance.random() < 0.6 else {"mostValues": 3}
        case 2 | 3:
            text = chance.choice(
                (f"{LABELS}.", f"{LABELS}['", f"{LABELS}.tier == '", f"{LABELS}.key{chance.choice(NAMES)} == '")
            )
            more = (f"{CLAIMS}.exists(c, c.name == '", f"{CLAIMS}.exists(c, c.name == 'id' && c.value == '")
            return "Completion", {"expression": chance.choice((text, *more)), "mostItems": 500}
        case _:
            rows: Object = {"show": chance.choice(("All", "Matched", "Unmatched", "Failed")), "limit": 10}
            if chance.random() < 0.5:
                rows["fields"] = [{"expression": some_expression(chance)} for _ in range(2)]
            if chance.random() < 0.4:
                rows["sortBy"] = some_expression(chance)
                rows["descending"] = chance.random() < 0.5
            if chance.random() < 0.3:
                rows["filter"] = some_expression(chance)
            spec = some_choice(chance) | {"rows": rows}
            if chance.random() < 0.3:
                spec["distinct"] = some_expression(chance)
            if chance.random() < 0.4:
                spec["namespace"] = "apps"
            return "FleetEvaluation", spec


def words_in(value: Any) -> set[str]:
    return set(WORD.findall(msgspec.json.encode(value).decode()))


def telling(words: set[str]) -> set[str]:
    """Words that only a cluster can have said: its name, and what only it has."""
    return {word for word in words if ONLY.fullmatch(word)}


async def hold(seed: int) -> str:
    """Try one case; what kind of case it was."""
    chance = random.Random(seed)
    clusters = {name: some_cluster(chance, name) for name in NAMES}
    rules = some_rules(chance)
    policy = Policy()
    policy.put_role({"kind": "ClusterRole", "metadata": {"name": "some"}, "rules": rules})
    policy.put_binding(
        {
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "some"},
            "roleRef": {"kind": "ClusterRole", "name": "some"},
            "subjects": [{"kind": "User", "name": "ada"}],
        }
    )
    bound = chance.random() < 0.5
    sets = [a_set("golden", {"tier": "gold"}), a_set("secretset", {"tier": "silver"}), *([a_binding("golden")] * bound)]
    selector = {"requiredClusterSelector": {"celSelector": {"celExpressions": [some_expression(chance)]}}}
    sets += [a_placement("p1", numberOfClusters=1), a_placement("p2", predicates=[selector])]
    kind, spec = some_question(chance)
    readable = {name for name in NAMES if may_get(rules, name)}
    answer = await Asked([*clusters.values(), *sets], policy).ask(kind, spec)

    # 1. Nothing in it is of a cluster that he may not get.
    known = words_in([clusters[name] for name in readable]) | words_in(spec) | words_in(selector)
    assert telling(words_in(answer)) <= known, (seed, kind, spec, answer)
    if kind != "ClusterExplanation" and not any(
        "managedclustersets" in rule["resources"] or "*" in rule["resources"] for rule in rules
    ):
        assert not ({"golden", "secretset"} - words_in(spec)) & words_in(answer), (seed, answer)
    if "refused" in answer:
        return "refused"
    if kind == "ClusterExplanation":
        return kind  # a rank depends on the others, as in every explanation; names and values are looked for above

    # 2. What is hidden may be anything else.
    asks_about_namespace = spec.get("namespace") == "apps"
    in_bound = {n for n in NAMES if bound and clusters[n]["metadata"]["labels"].get("tier") == "gold"}
    counted = in_bound - readable if asks_about_namespace else set[str]()
    others = dict(clusters)
    for name in set(NAMES) - readable - counted:
        others[name] = some_cluster(chance, name)
        if counted or asks_about_namespace:
            others[name]["metadata"]["labels"].pop("tier", None)  # or it would be counted, too
    again = await Asked([*others.values(), *sets], policy).ask(kind, spec)
    assert again == answer, (seed, kind, spec, "depends on what is hidden")

    # 3. Of what is counted, only counts depend.
    for name in counted:
        others[name] = some_cluster(chance, name)
        others[name]["metadata"]["labels"]["tier"] = "gold"
    changed = await Asked([*others.values(), *sets], policy).ask(kind, spec)
    without_counts = [{key: each[key] for key in each if key not in _DEPEND_ON_COUNTED} for each in (answer, changed)]
    assert without_counts[0] == without_counts[1], (seed, kind, spec, "depends on what is only counted")
    if kind == "FleetEvaluation":
        hidden = len(NAMES) - len(readable | counted)
        assert answer["hidden"] == hidden, (seed, "one number, whatever is asked")
    return f"{kind}, {'counted' if counted else 'some' if readable else 'none'} to be told of"


async def hold_all(seeds: range) -> set[str]:
    return {await hold(seed) for seed in seeds}


def test_an_answer_reveals_nothing_that_the_asker_could_not_get() -> None:
    seen = asyncio.run(hold_all(range(400)))

    assert len(seen) >= 7, "all kinds of cases have been tried"


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_ten_thousand_answers_reveal_nothing_that_the_asker_could_not_get() -> None:
    asyncio.run(hold_all(range(1_000_000, 1_000_000 + CASES)))
