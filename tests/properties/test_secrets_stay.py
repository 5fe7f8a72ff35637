"""What a cluster holds is for those who may get it: no answer, status, event or history tells it to others.

Secrets are planted as keys and values of labels, as claims and as names of clusters. Expressions are of the kind that
carry values into error texts. Whatever a user may read who may get only some clusters is then searched for them.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from muster.controllers.placements.drafts import Reasons, _scores_text
from muster.controllers.placements.preview import settle, world_of
from muster.controllers.questions.answering import QuestionService
from muster.controllers.questions.kinds import ExplainQuestion, Refusal
from muster.errors import FailureKind
from muster.fleet import Fleet
from muster.fleet.scores import score_of
from muster.hub.advice import told_to_everybody
from muster.hub.redaction import CLUSTERS, Redaction
from muster.hub.requests import AccessRules, Attributes, Decision, User
from muster.hub.storage import Key, Put, Store
from muster.placement import Cycle, decided, plan_of, schedule, visibility
from muster.placement.explain.causes import Change, ClusterSituation, Ref, causes_of, flip_of, reads_of, unnamed
from muster.placement.explain.report import Window
from muster.placement.lint.placements import lint, vocabulary
from muster.placement.schedule.plan import PLACEMENTS
from muster.reasons import Code, bare
from muster.selectors.cel import cel_compiler
from tests.builders import a_binding, a_cluster, a_placement, a_score, a_set
from tests.controllers.questions.answering import NOW

Object = dict[str, Any]
SECRET = "confidential-4711"
HIDDEN_NAME = "blacksite-0815"
MARKS = (SECRET, HIDDEN_NAME, SECRET.upper(), "4711", "0815", "blacksite", "onfidentia")
LABELS = "managedCluster.metadata.labels"
CLAIMS = "managedCluster.status.clusterClaims"
EXPRESSIONS = (
    f"{LABELS}[{LABELS}['a']] == 'x'",
    f"int({LABELS}['a']) > 1",
    f"double({LABELS}['a']) > 1.0",
    f"uint({LABELS}['a']) > 1u",
    f"timestamp({LABELS}['a']) > timestamp('2020-01-01T00:00:00Z')",
    f"duration({LABELS}['a']) > duration('1s')",
    f"bool({LABELS}['a'])",
    f"'x'.matches({LABELS}['a'] + '[')",
    f"quantity({LABELS}['a']).isGreaterThan(quantity('1'))",
    f"semver({LABELS}['a']).isGreaterThan(semver('1.0.0'))",
    f"url({LABELS}['a'] + ':% x').getHost() == 'x'",
    f"ip({LABELS}['a']).isGlobalUnicast()",
    f"cidr({LABELS}['a']).containsIP('1.2.3.4')",
    f"{LABELS}['a'].charAt(99) == 'x'",
    f"{LABELS}['a'].substring(9, 2) == 'x'",
    f"[1][size({LABELS}['a'])] == 1",
    f"'%d'.format([{LABELS}['a']]) == 'x'",
    f"{LABELS}['a'].format([1]) == 'x'",
    f"parseJSON({LABELS}['a'] + '{{').x == 1",
    f"base64.decode({LABELS}['a'] + '%') == b'x'",
    f"dyn({LABELS}['a']) + 1 == 2",
    f"dyn({LABELS}).map(k, k)[0] == 1",
    f"{{'k': 1, {LABELS}['a']: 2, {LABELS}['a']: 3}}.size() == 3",
    f"{LABELS}.exists(k, int({LABELS}[k]) == 1)",
    f"{LABELS}.all(k, dyn({LABELS}[k]).nope == 1)",
    f"{CLAIMS}.filter(c, c.name == 'a')[0].value.startsWith('x') ? true : 1 / 0 == 1",
    f"int({CLAIMS}[0].value) == 1",
    f"{{'a': 1}}[{CLAIMS}[0].name] == 1",
    f"{LABELS}['a'] == 'x'",
    f"{LABELS}.size() > 99",
    "managedCluster.metadata.name.startsWith('q') || int(managedCluster.metadata.name) == 1",
    "dyn(managedCluster).nope == 1",
    "dyn(managedCluster).metadata.labels.size() == 99",
    f"managedCluster.scores('{SECRET[:3]}').size() > 0",
)


class ByName:
    """Lets the user get these clusters and nothing else."""

    def __init__(self, seen: frozenset[str]) -> None:
        self._seen = seen

    async def authorize(self, user: User, attributes: Attributes) -> Decision:
        return Decision(attributes.verb == "get" and attributes.name in self._seen)

    async def missing(self, user: User, verb: str, resource: str, names: Any, namespace: str = "") -> list[str]:
        return [name for name in names if verb != "get" or name not in self._seen]

    async def rules(self, user: User, namespace: str) -> AccessRules:
        return AccessRules()


@dataclass
class Case:
    """A fleet with secrets in it, and a placement."""

    clusters: list[Object]
    hidden: list[str]
    placement: Object
    scores: list[Object]

    @property
    def objects(self) -> list[Object]:
        return [a_set("global"), a_binding("global"), *self.clusters, *self.scores]


def a_case(dice: random.Random, *, moved: bool = False) -> Case:
    """Clusters that moved are named by decisions, and their taints are told: neither is a secret then."""
    clusters, hidden, scores = [], [], []
    for number in range(dice.randint(1, 6)):
        secret = dice.random() < 0.6
        name = f"{'plain' if moved else HIDDEN_NAME}-{number}" if secret else f"open-{number}"
        values = [SECRET, f"{SECRET}-{number}", "1", "x"] if secret else ["1", "x", "open"]
        labels = {"a": dice.choice(values), "b": dice.choice(values)}
        if secret:
            hidden.append(name)
            if dice.random() < 0.5:
                labels[SECRET] = dice.choice(values)
        if dice.random() < 0.3:
            del labels["a"]
        claims = {dice.choice(["a", SECRET if secret else "b"]): dice.choice(values)}
        taints = [{"key": dice.choice(values), "effect": "NoSelect"}] if dice.random() < 0.3 and not moved else []
        clusters.append(a_cluster(name, labels, claims, taints))
        if dice.random() < 0.3:
            scores.append(a_score(name, {"cpu": 5}, valid_until="2020-01-01T00:00:00Z"))
    predicates = []
    for _ in range(dice.randint(1, 3)):
        texts = dice.sample(EXPRESSIONS, dice.randint(1, 2))
        selector: Object = {"celSelector": {"celExpressions": texts}}
        if dice.random() < 0.2:
            selector["claimSelector"] = {"matchExpressions": [{"key": "a", "operator": "In", "values": ["x"]}]}
        predicates.append({"requiredClusterSelector": selector})
    score = {"type": "AddOn", "addOn": {"resourceName": "usage", "scoreName": "cpu"}}
    policy = {"mode": "Exact", "configurations": [{"scoreCoordinate": score, "weight": 1}]}
    placement = a_placement(predicates=predicates, prioritizerPolicy=policy, numberOfClusters=dice.randint(1, 3))
    return Case(clusters, hidden, placement, scores)


def searched(text: str, source: str, placement: Object) -> None:
    """Nothing of the secrets is in there that the placement has not itself."""
    own = msgspec.json.encode(placement).decode()
    for mark in MARKS:
        if mark not in own:
            assert mark not in text, f"{source}: {text}"


def answered(case: Case) -> None:
    """Explanations and dry runs, and the advice that a write brings."""
    open_ones = frozenset(each["metadata"]["name"] for each in case.clusters) - frozenset(case.hidden)

    async def ask() -> None:
        async with Store.open(None) as store:
            keys = [Key(CLUSTERS, "", each["metadata"]["name"]) for each in case.clusters]
            await store.commit([Put(key, b'{"metadata":{"resourceVersion":"', b'"}}', 0) for key in keys])
            world = world_of(case.objects, NOW)
            settle(world, NOW)
            answerer = QuestionService(world, lambda: NOW, 60)
            answerer.ready = True
            redaction = Redaction(store, ByName(open_ones))
            for cluster in ("", *sorted(open_ones)[:2]):
                question = ExplainQuestion(case.placement, dry_run=True, window=Window(), cluster=cluster)
                try:
                    report = await answerer.explain(question)
                except Refusal as refusal:
                    searched(refusal.message, "refusal", case.placement)
                    continue
                shown = await redaction.over(User("dora"), case.placement, report)
                searched(msgspec.json.encode(shown).decode(), "explain", case.placement)

    asyncio.run(ask())


def written(case: Case) -> None:
    """What controllers write into the namespace."""
    fleet = Fleet()
    fleet.put_many([msgspec.json.encode(each) for each in case.clusters])
    for each in case.scores:
        fleet.scores.put(each["metadata"]["namespace"], each["metadata"]["name"], score_of(each))
    fleet.scores.now = NOW
    plan = plan_of(case.placement, cel_compiler(fleet.scores))
    seen = visibility("apps", (), [a_binding("global")], [a_set("global")])
    result = schedule(Cycle(plan, fleet, seen, NOW, decided(fleet, [], {})))
    taken = set(result.selected) & set(case.hidden)
    for kind, condition in result.conditions.items():
        searched(condition.message, kind, case.placement)
    if not taken:
        searched(_scores_text(result) + Reasons(result).warning, "events", case.placement)
    findings = told_to_everybody(lint(plan, seen, vocabulary(fleet), 10**9, PLACEMENTS.partly(case.placement).obj.spec))
    searched(" ".join(map(str, findings)), "warnings", case.placement)


def remembered(case: Case, dice: random.Random) -> None:
    """The history of a cluster that was gained or lost; its name is known from the decisions."""
    plan = plan_of(case.placement, cel_compiler())
    seen = visibility("apps", (), [a_binding("global")], [a_set("global")])
    for cluster in case.clusters:
        name = cluster["metadata"]["name"]
        other = a_cluster(name, {"b": SECRET, f"{SECRET}-new": "1"}, {"a": "x"})
        was, now = ClusterSituation(plan, seen, NOW, cluster), ClusterSituation(plan, seen, NOW, other)
        flip = flip_of(name, was, now, gained=dice.random() < 0.5)
        if "claim a is" not in f"{flip.was} {flip.now}":  # told, because the placement selects by this claim
            searched(f"{flip.was} {flip.now}".replace(name, ""), "history", case.placement)
        change = Change(Ref("ManagedCluster", "", name), cluster, other)
        found, _ = causes_of([change], {"another"}, reads_of(plan, seen))
        searched(" ".join(map(str, unnamed(found, {"another"}))), "history", case.placement)


@pytest.mark.parametrize("seed", range(20))
def test_no_answer_has_what_a_hidden_cluster_holds(seed: int) -> None:
    dice = random.Random(seed)
    case = a_case(dice)
    answered(case)
    written(case)
    remembered(a_case(dice, moved=True), dice)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_each_expression_alone_tells_a_class_and_no_value(expression: str) -> None:
    labels = {"a": SECRET, SECRET: SECRET}
    clusters = [a_cluster(f"{HIDDEN_NAME}-1", labels, {SECRET: SECRET}), a_cluster(f"{HIDDEN_NAME}-2", {}, {})]
    predicate = {"requiredClusterSelector": {"celSelector": {"celExpressions": [expression]}}}
    case = Case(clusters, [each["metadata"]["name"] for each in clusters], a_placement(predicates=[predicate]), [])
    answered(case)
    written(case)
    remembered(case, random.Random(1))


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_failure_is_told_to_everybody_by_its_kind(expression: str) -> None:
    """The text of the language, which may quote values, is a value; the kind is a word of ours."""
    program = cel_compiler()((expression,))[0]
    for labels in ({"a": SECRET, SECRET: SECRET}, {}):
        match = program.match(a_cluster(HIDDEN_NAME, labels, {SECRET: SECRET}))
        if match.why.code == Code.EXPRESSION_FAILED:
            assert match.why.parameters["error"] in set(FailureKind)
            searched(msgspec.json.encode(bare(match.why)).decode(), "bare", {"spec": expression})
