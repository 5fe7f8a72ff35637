"""What an answer reveals is a subset of what the asker can get by ordinary reads, over random users, roles and fleets.

Three laws. Names and values in an answer are those of clusters that the asker may get, or words of the question. What
is hidden can be anything else and the answer stays the same, to the byte. Of clusters that are counted because their
sets are bound to the namespace, only counts may depend; where placements are scheduled over them, also which of the
others are picked, as in every dry run.

Hosts and operators are tried by `test_previews`, whose cases are among these. MUSTER_CASES_OF_QUESTIONS is how many
cases the slow form tries (10,000 were, in two minutes of CPU).
"""

from __future__ import annotations

import asyncio
import os
import random
import re
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec
import pytest

from muster.access.policy import Policy
from muster.api.fleet_questions import QUESTIONS
from muster.controllers.placements.decision_pages import PLACEMENT_LABEL
from muster.controllers.placements.preview import world_of
from muster.controllers.questions.answering import QuestionService
from muster.controllers.questions.kinds import Refusal
from muster.hub.applied_in_memory import target_of
from muster.hub.auth.rbac.authorizer import RbacAuthorizer
from muster.hub.explanations import Explanations
from muster.hub.objects import key_of
from muster.hub.questions import Questions
from muster.hub.requests import Target, User
from muster.hub.status import StatusError
from muster.hub.storage import Key, Record
from muster.questions.observer import Observer
from tests.builders import a_binding, a_cluster, a_placement, a_set, a_taint
from tests.controllers.questions.answering import NOW
from tests.properties.test_previews import hold_hosts, hold_operators

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.controllers.questions.kinds import ExplainQuestion
    from muster.placement.explain.report import PlacementReport

Object = dict[str, Any]
GROUP: Final = "cluster.open-cluster-management.io"
PROFILES: Final = "multicluster.x-k8s.io"
NAMES: Final = tuple(f"n{number}" for number in range(1, 7))
LABELS: Final = "managedCluster.metadata.labels"
CLAIMS: Final = "managedCluster.status.clusterClaims"
WORD: Final = re.compile(r"[A-Za-z0-9]+")
ONLY: Final = re.compile(r"(key|claim|taint)?n[1-6]|(v1)?onlyn.*")
KINDS: Final = {each.kind: each for each in QUESTIONS}
CASES: Final = int(os.environ.get("MUSTER_CASES_OF_QUESTIONS", "1000"))
PATIENCE: Final = 600.0  # seconds: how long a loaded machine takes is no part of an answer
_DEPEND_ON_COUNTED: Final = ("matched", "unmatched", "failed")
_OF_PLACEMENTS: Final = ("Plan", "PlacementExplanation")


class Stored:
    """What a hub has stored, as far as questions read it."""

    revision = 1

    def __init__(self, objects: list[Object]) -> None:
        self._records: dict[Key, Record] = {}
        for obj in objects:
            target = target_of(obj)
            assert target is not None
            key = key_of(target)
            metadata = {"uid": f"uid-{key.name}", "generation": 1, "resourceVersion": "1", **obj["metadata"]}
            self._records[key] = Record(key, 1, 1, msgspec.json.encode({**obj, "metadata": metadata}))

    def get(self, key: Key) -> Record | None:
        return self._records.get(key)

    def scan(self, resource: str, namespace: str | None = None) -> Iterator[Record]:
        found = (record for key, record in sorted(self._records.items()) if key.resource == resource)
        return (record for record in found if namespace in (None, record.key.namespace))


class Asked:
    """The hub's side and the observer's, without HTTP in between."""

    whose, remedy = "the controllers", "there are none"  # told where they do not answer

    def __init__(self, objects: list[Object], policy: Policy) -> None:
        profiles = [each for each in objects if each["kind"] == "ClusterProfile"]
        world = world_of([each for each in objects if each not in profiles], NOW)
        self._observer = Observer(world, lambda: NOW, PATIENCE)
        for each in profiles:
            self._observer.handlers()[f"clusterprofiles.{PROFILES}"].put(msgspec.json.encode(each))
        self._service = QuestionService(world, lambda: NOW, PATIENCE)
        self._observer.ready = self._service.ready = True
        authorizer = RbacAuthorizer(cast("Any", None))
        authorizer.policy = policy
        store = cast("Any", Stored([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "apps"}}, *objects]))
        controllers = cast("Any", self)
        explanations = Explanations(store, authorizer, (), controllers)
        self._questions = Questions(store, authorizer, controllers, explanations, lambda: policy, PATIENCE)

    async def explain(self, question: ExplainQuestion) -> PlacementReport:
        return await self._service.explain(question)

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
    if chance.random() < 0.6:
        rules.append(rule("placements", ["get"], ["p1", "p9"] if chance.random() < 0.5 else None))
    if chance.random() < 0.5:
        rules.append(rule("managedclustersetbindings", ["get"]))
    if chance.random() < 0.3:
        rules.append(rule("subjectaccessreviews", ["create"], group="authorization.k8s.io"))
        rules.append(rule("*", ["list"], group="rbac.authorization.k8s.io"))
    if chance.random() < 0.3:
        rules.append(rule("managedclustersets", ["get"], ["secretset", "golden"]))
        rules.append(rule("managedclustersets/join", ["create"], ["golden"]))
    match chance.randrange(3):
        case 0:
            rules.append(rule("clusterprofiles", ["get"], group=PROFILES))
        case 1:
            rules.append(rule("clusterprofiles", ["get"], chance.sample(NAMES, 3), PROFILES))
    if chance.random() < 0.3:
        rules.append(rule("managedclusters", ["update"], list(NAMES)))
        rules.append(rule("managedclusters", ["get"], list(NAMES), group="other.io"))
    return rules


def may_get(rules: list[Object], name: str, resource: str = "managedclusters", group: str = GROUP) -> bool:
    """By a reading of the rules that has nothing to do with ours."""
    return any(
        {"get", "*"} & set(each["verbs"])
        and {resource, "*"} & set(each["resources"])
        and group in each["apiGroups"]
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


def some_placement(chance: random.Random, *names: str) -> Object:
    spec: Object = {}
    if chance.random() < 0.8:
        selectors = [each for each in (some_selector(chance) for _ in range(3)) if "Selector" in str(each.keys())]
        spec["predicates"] = [{"requiredClusterSelector": each} for each in selectors[:1]]
    if chance.random() < 0.4:
        spec["numberOfClusters"] = chance.randrange(3)
    if chance.random() < 0.3:
        spec["clusterSets"] = [chance.choice(("golden", "secretset"))]
    return a_placement(chance.choice(names), **spec)


def some_plan(chance: random.Random) -> Object:
    """Whatever could make others' clusters tell: placements, sets and bindings of one's own, labels, deletions."""
    cluster = {"apiVersion": f"{GROUP}/v1", "kind": "ManagedCluster", "name": chance.choice(NAMES)}
    objects = (
        some_placement(chance, "p1", "p2", "p9"),
        a_binding(chance.choice(("golden", "secretset"))),
        a_set(chance.choice(("golden", "secretset")), {"tier": chance.choice(("gold", "silver", "x"))}),
        a_set("golden"),
        some_cluster(chance, chance.choice((*NAMES, "n9"))),
    )
    spec: Object = {"objects": chance.sample(objects, chance.randrange(1, 4)), "forceConflicts": True}
    if chance.random() < 0.3:
        spec["labels"] = [{**cluster, "labels": {"tier": chance.choice(("gold", "x", None))}}]
    if chance.random() < 0.3:
        spec["delete"] = [{**cluster, "name": chance.choice(NAMES)}]
    if chance.random() < 0.3:
        spec["guards"] = {"failIfRemoves": 1, "failIfEmpty": True}
    return spec


def some_explanation(chance: random.Random) -> Object:
    spec: Object = {"cluster": chance.choice(NAMES)} if chance.random() < 0.3 else {}
    if chance.random() < 0.5:
        return spec | {"namespace": "apps", "name": chance.choice(("p1", "p2"))}
    return spec | {"placement": some_placement(chance, "p1", "p9")}


def some_join(chance: random.Random) -> Object:
    spec: Object = {"user": "eve"} if chance.random() < 0.3 else {}
    if chance.random() < 0.7:
        spec["set"] = chance.choice(("golden", "secretset"))
        if chance.random() < 0.7:
            spec["cluster"] = chance.choice(NAMES)
    return spec


def some_profile(chance: random.Random, name: str) -> Object:
    """A ClusterProfile of the same name: another kind, which roles let be got apart from clusters."""
    labels = {key: a_value(chance, name) for key in ("tier", f"key{name}") if chance.random() < 0.7}
    return {
        "apiVersion": f"{PROFILES}/v1alpha1",
        "kind": "ClusterProfile",
        "metadata": {"name": name, "namespace": "apps", "labels": labels},
        "spec": {"clusterManager": {"name": "m"}},
    }


def some_profiles_question(chance: random.Random) -> Object:
    name = chance.choice(NAMES)
    text = chance.choice(
        (
            f"object.metadata.name == '{name}' && object.metadata.labels.tier.startsWith('o')",
            "object.metadata.labels.tier",
            "object.metadata.labels.map(k, object.metadata.labels[k])",
        )
    )
    asked: Object = (
        {"expression": text} if chance.random() < 0.7 else {"selector": {"matchIdentities": [{"name": name}]}}
    )
    rows = {"show": "All", "fields": [{"expression": "object.metadata.labels"}], "sortBy": text}
    return {**asked, "resource": "clusterprofiles", "rows": rows, "namespace": chance.choice(("", "apps"))}


def some_question(chance: random.Random) -> tuple[str, Object]:
    match chance.randrange(22):
        case 20:
            return "FleetEvaluation", some_profiles_question(chance)
        case 21:
            shown = {"show": chance.choice(("All", "Matched")), "fields": [{"expression": some_expression(chance)}]}
            return "FleetEvaluation", {"placement": some_placement(chance, "p1", "p9"), "rows": shown}
        case 12 | 13 | 14 | 15:
            return "Plan", some_plan(chance)
        case 16 | 17:
            return "PlacementExplanation", some_explanation(chance)
        case 18 | 19:
            return "JoinReview", some_join(chance)
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
            if chance.random() < 0.3:
                rows["placements"] = True
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


def a_decision(placement: str, names: list[str]) -> Object:
    return {
        "apiVersion": f"{GROUP}/v1beta1",
        "kind": "PlacementDecision",
        "metadata": {"name": f"{placement}-decision-1", "namespace": "apps", "labels": {PLACEMENT_LABEL: placement}},
        "status": {"decisions": [{"clusterName": name, "reason": ""} for name in names]},
    }


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
    sets += [a_decision("p2", chance.sample(NAMES, 2))]
    kind, spec = some_question(chance)
    if spec.get("resource") == "clusterprofiles":
        return await hold_profiles(seed, chance, rules, policy, spec)
    readable = {name for name in NAMES if may_get(rules, name)}
    answer = await Asked([*clusters.values(), *sets], policy).ask(kind, spec)
    is_scheduled = kind in _OF_PLACEMENTS or "placement" in spec

    # 1. Nothing in it is of a cluster that he may not get.
    known = words_in([clusters[name] for name in readable]) | words_in(spec) | words_in(selector)
    assert telling(words_in(answer)) <= known, (seed, kind, spec, answer)
    may_explain = any("placements/explain" in rule["resources"] for rule in rules)
    tells_sets = kind == "ClusterExplanation" or (is_scheduled and may_explain)  # whose sets these are
    if not tells_sets and not any(
        "managedclustersets" in rule["resources"] or "*" in rule["resources"] for rule in rules
    ):
        assert not ({"golden", "secretset"} - words_in(spec)) & words_in(answer), (seed, answer)
    if "refused" in answer and isinstance(answer["refused"], str):
        return "refused"
    if kind == "ClusterExplanation":
        return kind  # a rank depends on the others, as in every explanation; names and values are looked for above

    # 2. What is hidden may be anything else.
    asks_about_namespace = spec.get("namespace") == "apps" or (is_scheduled and may_explain)
    in_bound = {n for n in NAMES if bound and clusters[n]["metadata"]["labels"].get("tier") == "gold"}
    counted = in_bound - readable if asks_about_namespace else set[str]()
    others = dict(clusters)
    for name in sorted(set(NAMES) - readable - counted):
        others[name] = some_cluster(chance, name)
        if counted or asks_about_namespace:
            others[name]["metadata"]["labels"].pop("tier", None)  # or it would be counted, too
    again = await Asked([*others.values(), *sets], policy).ask(kind, spec)
    assert again == answer, (seed, kind, spec, "depends on what is hidden")

    # 3. Of what is counted, only counts depend.
    for name in sorted(counted):
        others[name] = some_cluster(chance, name)
        others[name]["metadata"]["labels"]["tier"] = "gold"
    changed = await Asked([*others.values(), *sets], policy).ask(kind, spec)
    assert telling(words_in(changed)) <= known, (seed, kind, spec, changed)
    if not is_scheduled:  # who is picked depends on all that are looked at
        without = [{key: each[key] for key in each if key not in _DEPEND_ON_COUNTED} for each in (answer, changed)]
        assert without[0] == without[1], (seed, kind, spec, "depends on what is only counted")
    if kind == "FleetEvaluation":
        hidden = len(NAMES) - len(readable | counted)
        assert answer["hidden"] == hidden, (seed, "one number, whatever is asked")
    if kind == "Plan":
        assert answer["hidden"] == len(NAMES) - len(readable), (seed, "one number, whatever is asked")
        told = any(each["gained"]["names"] or each["lost"]["clusters"] for each in answer["placements"])
        kind = "Plan with names" if told else "Plan with placements" if answer["placements"] else "Plan"
    return f"{kind}, {'counted' if counted else 'some' if readable else 'none'} to be told of"


async def hold_profiles(seed: int, chance: random.Random, rules: list[Object], policy: Policy, spec: Object) -> str:
    """The first two laws for objects that live in namespaces."""
    profiles = {name: some_profile(chance, name) for name in NAMES}
    readable = {name for name in NAMES if may_get(rules, name, "clusterprofiles", PROFILES)}
    answer = await Asked(list(profiles.values()), policy).ask("FleetEvaluation", spec)
    known = words_in([profiles[name] for name in readable]) | words_in(spec)
    assert telling(words_in(answer)) <= known, (seed, spec, answer)
    others = [profiles[name] if name in readable else some_profile(chance, name) for name in NAMES]
    assert await Asked(others, policy).ask("FleetEvaluation", spec) == answer, (seed, spec, "depends on what is hidden")
    assert (answer["objects"], answer["hidden"]) == (len(readable), len(NAMES) - len(readable)), (seed, spec, answer)
    return f"FleetEvaluation of profiles, {'some' if readable else 'none'} to be told of"


async def hold_any(seed: int) -> str:
    """One case of one of the kinds: previews are about other objects, and have laws of their own."""
    match seed % 10:
        case 0:
            return f"ClassificationPreview, {await hold_hosts(seed)}"
        case 1:
            return f"ResolutionPreview, {await hold_operators(seed)}"
        case _:
            return await hold(seed)


async def hold_all(seeds: range) -> set[str]:
    return {await hold_any(seed) for seed in seeds}


def test_an_answer_reveals_nothing_that_the_asker_could_not_get() -> None:
    seen = asyncio.run(hold_all(range(400)))

    assert len(seen) >= 20, "all kinds of cases have been tried"
    assert {kind for kind in KINDS if kind != "ClusterExplanation"} <= {each.partition(",")[0] for each in seen}
    assert any(each.startswith("Plan with names, counted") for each in seen)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_thousands_of_answers_reveal_nothing_that_the_asker_could_not_get() -> None:
    asyncio.run(hold_all(range(1_000_000, 1_000_000 + CASES)))
