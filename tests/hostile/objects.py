"""Objects of every kind, made from the kind's own schema, with extreme values wherever the schema lets them in.

    for write in writes(seed=1, count=20_000):
        ...  # create or replace `write.obj`, then its status

A write is valid more often than not, because only a stored object reaches a controller. Names come from small pools, so
that objects refer to each other and are overwritten again and again. Knows no HTTP.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from muster.api import RESOURCES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from muster.api.resource import Resource, Version

Object = dict[str, Any]

NAMESPACES: Final = tuple(f"hostile-{number}" for number in range(4))
CLUSTERS: Final = tuple(f"hostile-c{number}" for number in range(20))
SETS: Final = (*(f"hostile-s{number}" for number in range(8)), "global", "default", "s" + "x" * 200)
NAMES: Final = tuple(f"hostile-{number}" for number in range(6))

# Written by nobody but the hub itself, or asked and never stored.
_LEFT_OUT: Final = frozenset({"customresourcedefinitions.apiextensions.k8s.io", "namespaces"})

TIMES: Final = (
    "2030-01-01T00:00:00Z",
    "2030-01-01T00:00:00z",
    "2030-01-01t00:00:00Z",
    "2030-01-01T00:00:00+99:00",
    "2030-01-01T00:00:00+24:00",
    "2030-01-01T00:00:00-23:59",
    "2030-01-01T00:00:00.123456789012345678901234567890Z",
    "2016-12-31T23:59:60Z",
    "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59Z",
    "9999-12-31T23:59:59-14:00",
    "1970-01-01T00:00:00Z",
    "2024-02-30T00:00:00Z",
    "2030-01-01 00:00:00Z",
    "2030-01-01",
    "",
    "now",
    "٢٠٣٠-01-01T00:00:00Z",
)
QUANTITIES: Final = (
    "1",
    "0",
    "-1",
    "1e309",
    "-1e309",
    "1e-309",
    "9" * 4_301,
    "0." + "0" * 4_400 + "1",
    "1E",
    "1Ei",
    "9223372036854775807",
    "9223372036854775808Ei",
    "1.5e",
    "1e999999999",
    "nan",
    "inf",
    "",
    " ",
    "1Mi",
    "१",
    "0x10",
    "1_000",
    "+1",
    "1u",
    "1n",
    0,
    -1,
    2**31,
    -(2**31),
    2**63 - 1,
    -(2**63),
)
INTEGERS: Final = (0, 1, -1, 2, 5, 100, -100, 2**31 - 1, -(2**31), 2**31, 2**63 - 1, -(2**63))
NUMBERS: Final = (0.0, -0.0, 1.5, 1e308, -1e308, 5e-324, 1e22)
TEXTS: Final = (
    "",
    "a",
    "A",
    "true",
    "null",
    "0",
    "nan",
    "-",
    ".",
    "..",
    "../secrets",
    "?watch=true&x=",
    "%2e%2e%2f",
    "a/b",
    "a//b",
    "*",
    "#",
    "\x00",
    "\u2028",
    "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
    "ﬀ",
    "İ",
    "ß" * 60,
    "x" * 63,
    "x" * 64,
    "x" * 253,
    "x" * 254,
    "x" * 5_000,
    "é" * 1_000,
    "a\nb",
    "a\tb",
    "{{",
    "$(x)",
    "'\"\\",
    "[[[[",
    "__class__",
    "9" * 4_301,
    "1e309",
    "2030-01-01T00:00:00+99:00",
)
LABELS: Final = ("", "a", "prod", "x" * 63, "x" * 64, "A.b_c-d", "-a", "a-", "ä", "a b", "1", "true")
KEYS: Final = (
    "a",
    "env",
    "cloud",
    "region",
    "cluster.open-cluster-management.io/clusterset",
    "example.com/key",
    "example.com/",
    "/a",
    "x" * 63,
    "x" * 64,
    "x" * 253 + "/a",
    "é",
    "a b",
    "",
    "kubernetes.io/hostname",
    "__proto__",
)
_DOUBLED: Final = "[[1]]" + ".map(a,[a,a])" * 40
EXPRESSIONS: Final = (
    "true",
    "managedCluster.metadata.labels.env == 'prod'",
    "managedCluster.metadata.labels.nosuch == 'x'",
    "managedCluster.metadata.labels.sortBy(k, k) == []",
    "managedCluster.metadata.labels.distinct() == []",
    "managedCluster.status.clusterClaims.exists(c, c.name == 'a' && c.value.matches('(a+)+$'))",
    "managedCluster.scores('hostile-0').exists(s, s.quantity > 1)",
    "managedCluster.scores('hostile-0').all(s, s.value < 0)",
    "quantity(managedCluster.status.allocatable.cpu).isGreaterThan(quantity('1'))",
    "semver(managedCluster.status.version.kubernetes).major() > 1",
    "managedCluster.spec.taints.exists(t, timestamp(t.timeAdded) < timestamp('2030-01-01T00:00:00Z'))",
    "parseJSON(managedCluster.status.clusterClaims[0].value).a == 1",
    "managedCluster.status.properties.map(p, p.value).join(',').size() > 3",
    "1 / 0 == 1",
    "'a'",
    "nosuch(",
    "managedCluster",
    f"[?dyn({_DOUBLED})] == []",
    f'{{?"a": dyn({_DOUBLED})}} == {{}}',
    f"optional.of({_DOUBLED}) == optional.of({_DOUBLED})",
    f"json.encode({_DOUBLED}) == ''",
    "[1].map(x, x)" + ".optMap(x, x + x)" * 13,
    "optional.of(1)" + ".optMap(x, x + x)" * 12 + ".hasValue()",
    " || ".join(f"managedCluster.metadata.name.matches('a{{{n},}}b{n}')" for n in range(300)),
    "[" * 300 + "]" * 300 + " == []",
    "x" * 20_000,
    "",
)
QUERIES: Final = (
    ".hostname",
    "true",
    ".cpu.count > 4",
    ".memory.physical_bytes / 1073741824 | floor | tostring",
    '"a" + .nosuch',
    "error(reduce range(60) as $i ([1];[.,.]))",
    "try error(reduce range(60) as $i ([1];[.,.])) catch .",
    "error(reduce range(60) as $i ([1];[.,.]))? // 1",
    "reduce range(60) as $i ([1];[.,.]) | halt_error",
    "reduce range(60) as $i ([1];[.,.]) | tojson",
    "[range(100000)] | indices([1,2])",
    'reduce range(1000) as $i ("";. + "aaaaaaaaaa") | indices("a") | length',
    '"%c" * 100000 as $f | now | strftime($f)',
    "[limit(1000000; repeat(1))] | group_by(.) | length",
    "reduce range(100000) as $i (3; . * .)",
    "def f: f; f",
    "def f: 1 + f; f",
    "[range(1e9)] | length",
    "last(range(1e12))",
    ".[1e9] = 1",
    '"' + "(" * 500 + '"',
    "[[[[" * 200,
    "input",
    "$ENV.HOME",
    ". as [$a] ?// $a | $a",
    "..|..|..|..",
    "",
)
# What a field is about, by its name: a field that a controller reads gets what it could read.
_BY_NAME: Final[Mapping[str, Sequence[Any]]] = {
    "celExpressions": EXPRESSIONS,
    "query": QUERIES,
    "clusterSet": SETS,
    "clusterSets": SETS,
    "clusterName": CLUSTERS,
    "labelKey": KEYS,
    "labelValue": LABELS,
    "exclusiveKey": KEYS,
    "topologyKey": KEYS,
    "key": KEYS,
    "selectorType": ("LabelSelector", "ExclusiveClusterSetLabel", "nosuch"),
    "cpu": QUANTITIES,
    "memory": QUANTITIES,
    "kubernetes": ("v1.30.0", "1.30", "v1." + "9" * 5_000 + ".0", "latest", ""),
    "version": ("1.2.3", ">=1.0.0 <2", "9" * 5_000 + ".0.0", "x", ""),
    "package": ("argo", "", "x" * 1_000),
    "operator": ("In", "Exists", "In", "NotIn", "DoesNotExist", "Equal", "Inn", "", "GreaterThan"),
    "url": (
        "https://example.com:6443",
        "https://[::1]:1",
        "https://a",
        "https://b",
        "http://",
        "::",
        "https://" + "a" * 300,
    ),
    "data": ("YQ==", "", "YWI=", "YWJj", "é", "A", "x" * 10_000),
    "apiVersion": ("v1", "apps/v1", "v1", "v1", "a/b/c", "", "/"),
}
_PLAIN: Final[Mapping[str, Sequence[str]]] = {
    "labels": LABELS[:3],
    "matchLabels": LABELS[:3],
    "values": LABELS[:3],
    "status": ("True", "False", "Unknown"),
    "reason": ("Reason",),
    "type": ("Available", "HubAcceptedManagedCluster", "ManagedClusterConditionAvailable", "Ready"),
    "verbs": ("get", "list", "*"),
    "apiGroups": ("", "*"),
    "resources": ("configmaps", "*"),
    "apiGroup": ("rbac.authorization.k8s.io",),
    "roleRef": ("ClusterRole",),
    "scoreRateLimit": ("1m",),
}


@dataclass(frozen=True)
class Write:
    """One object to store, and where."""

    resource: Resource
    version: Version
    obj: Object

    @property
    def collection(self) -> str:
        prefix = f"/apis/{self.resource.group}" if self.resource.group else "/api"
        namespace = f"/namespaces/{self.obj['metadata']['namespace']}" if self.resource.namespaced else ""
        return f"{prefix}/{self.version.name}{namespace}/{self.resource.plural}"

    @property
    def path(self) -> str:
        return f"{self.collection}/{self.obj['metadata']['name']}"


def stored_kinds() -> list[tuple[Resource, Version]]:
    """Every kind that is stored, in each of its versions."""
    kinds = (each for key, each in RESOURCES.items() if key not in _LEFT_OUT and not each.virtual)
    return [(each, version) for each in kinds for version in each.versions if version.served]


def writes(seed: int, count: int) -> Iterator[Write]:
    """That many objects, each kind in turn; the same for the same seed."""
    kinds = stored_kinds()
    for number in range(count):
        resource, version = kinds[number % len(kinds)]
        yield Write(resource, version, _an_object(random.Random(f"{seed}/{number}"), resource, version))


def _an_object(chance: random.Random, resource: Resource, version: Version) -> Object:
    properties = version.schema.get("properties", {})
    made = _Maker(chance).fields(version.schema, skip=("apiVersion", "kind", "metadata"))
    if "status" in properties and "status" not in made:
        made["status"] = _Maker(chance).value(properties["status"], "status", 1)
    metadata: Object = {"name": _a_name(chance, resource)}
    if resource.namespaced:
        metadata["namespace"] = chance.choice(CLUSTERS if resource.plural == "addonplacementscores" else NAMESPACES)
    metadata |= _metadata(chance)
    return {"apiVersion": resource.api_version(version), "kind": resource.kind, "metadata": metadata, **made}


def _a_name(chance: random.Random, resource: Resource) -> str:
    match resource.plural:
        case "managedclusters" | "clusterprofiles" | "leases":
            return chance.choice(CLUSTERS)
        case "managedclustersets" | "managedclustersetbindings":
            return chance.choice(SETS)
    return chance.choice(NAMES)


def _metadata(chance: random.Random) -> Object:
    found: Object = {}
    odd = 0.04
    if chance.random() < 0.6:
        found["labels"] = {key: chance.choice(("", "a", "prod", *SETS[:3])) for key in chance.sample(KEYS[:6], 3)}
    if chance.random() < odd:
        found["labels"] = {chance.choice(KEYS): chance.choice(LABELS) for _ in range(3)}
    if chance.random() < odd:
        found["labels"] = {f"l{number}": "v" for number in range(chance.choice((200, 2_000)))}
    if chance.random() < odd:
        found["annotations"] = {chance.choice(KEYS): chance.choice(TEXTS) for _ in range(3)}
    if chance.random() < odd:
        found["finalizers"] = chance.choice(([], ["a"], ["example.com/x"], [None], ["x" * 300], "a", [1]))
    if chance.random() < odd:
        found["ownerReferences"] = [_owner(chance) for _ in range(chance.choice((1, 3, 300)))]
    return found


def _owner(chance: random.Random) -> Any:
    return chance.choice(
        (
            None,
            {"apiVersion": "v1", "kind": "ConfigMap", "name": chance.choice(TEXTS), "uid": str(chance.random())},
            {"apiVersion": "v1", "kind": "ConfigMap", "name": "?watch=true&x=", "uid": "u"},
            {"apiVersion": "v1", "kind": "Secret", "name": "../secrets", "uid": "u"},
            {"apiVersion": "nosuch/v1", "kind": "Nosuch", "name": "a", "uid": "u", "blockOwnerDeletion": True},
        )
    )


class _Maker:
    """Values for a schema. How many of an object's values are extreme differs from object to object: one odd value in
    an object that is stored does more harm than a hundred in one that is refused."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._extreme = chance.choice((0.03, 0.1, 0.1, 0.4))
        self._left = 400  # values in one object, so that sizes stay those of requests

    def _is_extreme(self, share: float = 1.0) -> bool:
        return self._chance.random() < self._extreme * share

    def value(self, schema: Mapping[str, Any], name: str, depth: int) -> Any:
        self._left -= 1
        if self._is_extreme(0.05):
            return self._chance.choice((None, True, "text", 7, [], {}, [None], {"a": None}))
        if "enum" in schema:
            return self._chance.choice(schema["enum"])
        if schema.get("x-kubernetes-int-or-string"):
            return self._chance.choice(QUANTITIES if self._is_extreme() else (1, "3", "300Mi"))
        if schema.get("x-kubernetes-preserve-unknown-fields") and not schema.get("properties"):
            return self._anything(depth)
        return self._by_type(schema, name, depth)

    def _by_type(self, schema: Mapping[str, Any], name: str, depth: int) -> Any:
        makers: Mapping[str, Callable[[Mapping[str, Any], str, int], Any]] = {
            "object": self._object,
            "array": self._array,
            "string": self._string,
            "integer": self._integer,
        }
        kind = schema.get("type", "")
        if kind == "boolean":
            return self._chance.random() < 0.5
        if kind == "number":
            return self._chance.choice(NUMBERS if self._is_extreme() else (0.5, 1.0))
        maker = makers.get(kind)
        return self._anything(depth) if maker is None else maker(schema, name, depth)

    def fields(self, schema: Mapping[str, Any], skip: Sequence[str] = (), depth: int = 0) -> Object:
        properties = schema.get("properties", {})
        required = schema.get("required", ())
        wanted = 0.85 if depth < 2 else 0.5
        chosen = [
            name
            for name in properties
            if name not in skip and (name in required or (self._left > 0 and self._chance.random() < wanted))
        ]
        return {name: self.value(properties[name], name, depth + 1) for name in chosen}

    def _object(self, schema: Mapping[str, Any], name: str, depth: int) -> Any:
        if schema.get("properties"):
            return self.fields(schema, depth=depth)
        below = schema.get("additionalProperties")
        if not isinstance(below, dict):
            return self._anything(depth)
        if self._is_extreme(0.05):
            return {f"k{number}": self.value(below, name, depth + 1) for number in range(800)}
        keys = KEYS if self._is_extreme() else KEYS[:6]
        return {key: self.value(below, name, depth + 1) for key in self._chance.sample(keys, self._chance.randrange(4))}

    def _array(self, schema: Mapping[str, Any], name: str, depth: int) -> Any:
        size = 300 if self._is_extreme(0.1) else self._chance.choice((0, 1, 1, 2))
        items = schema.get("items", {})
        made = [self.value(items, name, depth + 1) for _ in range(size if self._left > 0 else min(size, 1))]
        keys = schema.get("x-kubernetes-list-map-keys")
        if keys and not self._is_extreme():  # one of each, or the list is refused
            made = list(
                {repr([item.get(key) for key in keys]): item for item in made if isinstance(item, dict)}.values()
            )
        return made

    def _string(self, schema: Mapping[str, Any], name: str, _: int) -> Any:
        if schema.get("format") == "date-time":
            return self._chance.choice(TIMES if self._is_extreme(3) else TIMES[:1])
        if name in _BY_NAME:
            return self._chance.choice(_BY_NAME[name] if self._is_extreme(4) else _BY_NAME[name][:4])
        pattern = str(schema.get("pattern", ""))
        plain = ("2h", "1m") if "ns|us" in pattern else _PLAIN.get(name, NAMES)
        return self._chance.choice(TEXTS if self._is_extreme() else plain)

    def _integer(self, schema: Mapping[str, Any], _: str, __: int) -> int:
        low, high = schema.get("minimum", -(2**63)), schema.get("maximum", 2**63 - 1)
        if schema.get("format") == "int32":
            low, high = max(low, -(2**31)), min(high, 2**31 - 1)
        if self._is_extreme(0.1):
            return self._chance.choice((2**63, -(2**63) - 1, 10**30))
        return self._chance.choice([number for number in (*INTEGERS, low, high) if low <= number <= high])

    def _anything(self, depth: int) -> Any:
        roll = self._chance.random()
        if self._is_extreme(0.2):
            return _nested(self._chance.choice((20, 60, 900)))
        if depth > 6 or roll < 0.5 or self._left <= 0:
            return self._chance.choice((None, True, *INTEGERS[:6], *NUMBERS, *TEXTS[:20]))
        self._left -= 3
        if roll < 0.75:
            return [self._anything(depth + 1) for _ in range(3)]
        return {self._chance.choice(KEYS): self._anything(depth + 1) for _ in range(3)}


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def without(obj: Object, path: str) -> bool:
    """Take out what a refusal names, such as `spec.predicates[0].requiredClusterSelector`; whether it was there."""
    steps: list[str | int] = []
    for part in path.replace("]", "").split("."):
        name, *indices = part.split("[")
        steps += [name, *(int(each) if each.isdigit() else each for each in indices)]
    if steps[0] in ("apiVersion", "kind") or steps in (["metadata"], ["metadata", "name"], ["metadata", "namespace"]):
        return False
    at: Any = obj
    for step in steps[:-1]:
        at = _below(at, step)
    return _taken(at, steps[-1])


def _below(value: Any, step: str | int) -> Any:
    if isinstance(value, dict):
        return value.get(step)
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        return value[step]
    return None


def _taken(value: Any, step: str | int) -> bool:
    if isinstance(value, dict) and step in value:
        del value[step]
        return True
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        del value[step]
        return True
    return False
