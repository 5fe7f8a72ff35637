"""What generated expressions are evaluated over: variables with their types, sets of values, sizes for estimates.

One file holds it for the peers; we use the same values in their Python form. Values are written [type, content], the
form in which the peers answer too; plain JSON stands under "json".
"""

from __future__ import annotations

import base64
import datetime as dt
import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from muster.cel import Range, Variable, environment
from muster.cel.checking.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    UINT,
    Type,
    list_of,
    map_of,
)
from muster.cel.values import Duration, MapValue, OptionalValue, Timestamp, TypeValue, Uint, type_of
from muster.cel.values.timestamps import parse_timestamp

if TYPE_CHECKING:
    from muster.cel import Env, SizePath

LARGEST: Final = 20_000  # parts of a value; above it only its type is compared


def _cluster(name: str, **more: Any) -> dict[str, Any]:
    """A ManagedCluster as fleets have them."""
    return {
        "apiVersion": "cluster.open-cluster-management.io/v1",
        "kind": "ManagedCluster",
        "metadata": {
            "name": name,
            "labels": {"env": "prod", "region": "eu-west-1", "version": "1.31.4", "odd-key/x": ""},
            "annotations": {
                "note": "first line\nsecond",
                "json": '{"a": [1, 2.5, {"b": null}], "c": "é"}',
                "empty": "",
            },
            "creationTimestamp": "2026-01-31T23:59:59Z",
            "generation": 3,
        },
        "spec": {
            "hubAcceptsClient": True,
            "leaseDurationSeconds": 60,
            "taints": [
                {"key": "gpu", "value": "a100", "effect": "NoSelect", "timeAdded": "2026-02-01T00:00:00Z"},
                {"key": "old", "effect": "PreferNoSelect"},
            ],
        },
        "status": {
            "version": {"kubernetes": "v1.31.4"},
            "clusterClaims": [
                {"name": "id.k8s.io", "value": name},
                {"name": "platform.open-cluster-management.io", "value": "AWS"},
                {"name": "kubeversion.open-cluster-management.io", "value": "v1.31.4+rke2"},
                {"name": "cidr", "value": "10.0.0.0/16"},
            ],
            "capacity": {"cpu": "64", "memory": "256Gi", "pods": "0.5k"},
            "allocatable": {"cpu": "63500m", "memory": "250Gi"},
            "conditions": [{"type": "ManagedClusterConditionAvailable", "status": "True"}],
            "load": 0.75,
            "nothing": None,
        },
        "@scores": {"default": [{"name": "cpuAvailable", "value": 66}, {"name": "memAvailable", "value": -7}]},
        **more,
    }


TYPES: Final[dict[str, Type]] = {
    "managedCluster": map_of(STRING, DYN),
    "properties": list_of(map_of(STRING, DYN)),
    "i": INT,
    "u": UINT,
    "d": DOUBLE,
    "b": BOOL,
    "s": STRING,
    "y": BYTES,
    "t": TIMESTAMP,
    "p": DURATION,
    "x": DYN,
    "li": list_of(INT),
    "ls": list_of(STRING),
    "ld": list_of(DYN),
    "ms": map_of(STRING, STRING),
    "md": map_of(STRING, DYN),
    "lm": list_of(map_of(STRING, STRING)),
}
_PROPERTIES = [
    {"type": "olm.package", "value": {"packageName": "etcd", "version": "0.9.4"}},
    {"type": "olm.gvk", "value": {"group": "etcd.database.coreos.com", "kind": "EtcdCluster", "version": "v1beta2"}},
    {"type": "olm.maxOpenShiftVersion", "value": "4.10"},
]
SETS: Final[tuple[dict[str, Any], ...]] = (
    {
        "managedCluster": _cluster("bravelion"),
        "properties": _PROPERTIES,
        "i": 7,
        "u": Uint(3),
        "d": 2.5,
        "b": True,
        "s": "eu-west-1",
        "y": b"ab\xff",
        "t": parse_timestamp("2026-03-29T01:30:00.123456789Z"),
        "p": Duration(3_723_004_005_006),
        "x": {"a": 1, "b": [True, None, "z"], "c": {"d": 2.5}},
        "li": [3, 1, 2, 3],
        "ls": ["b", "a", "", "é"],
        "ld": [1, "a", 2.0, None, [1]],
        "ms": {"env": "prod", "a": "1"},
        "md": {"n": 1, "s": "x", "l": [1, 2], "m": {"k": "v"}},
        "lm": [{"name": "a", "value": "1"}, {"name": "b", "value": "2"}],
    },
    {
        "managedCluster": _cluster("calmotter", spec=None, status={"clusterClaims": [{"name": 5}, "odd"]}),
        "properties": [],
        "i": -(2**63),
        "u": Uint(2**64 - 1),
        "d": -0.0,
        "b": False,
        "s": "",
        "y": b"",
        "t": parse_timestamp("0001-01-01T00:00:00Z"),
        "p": Duration(-1),
        "x": "10.1.2.3",
        "li": [],
        "ls": [],
        "ld": [],
        "ms": {},
        "md": {},
        "lm": [],
    },
    {
        "managedCluster": {"metadata": {"name": "tiny"}},
        "properties": [{"type": "x", "value": 1}, {"value": None}],
        "i": 2**63 - 1,
        "u": Uint(0),
        "d": 1e300,
        "b": True,
        "s": "1.2.3",
        "y": "𝛀".encode(),
        "t": parse_timestamp("9999-12-31T23:59:59.999999999Z"),
        "p": Duration(2**63 - 1),
        "x": -3,
        "li": list(range(-20, 20)),
        "ls": [f"name-{n}" for n in range(30)],
        "ld": [[1, 1.0], [2.0, 2], {"k": []}],
        "ms": {"k1": "v1", "k2": "", "env": "x"},
        "md": {"n": -1.5, "l": [], "none": None},
        "lm": [{}, {"name": "a"}],
    },
)
SIZES: Final[dict[str, tuple[int, int]]] = {
    "managedCluster": (0, 8),
    "managedCluster.metadata": (1, 20),
    "managedCluster.metadata.labels": (0, 128),
    "managedCluster.metadata.labels.@values": (0, 63),
    "managedCluster.metadata.labels.@keys": (0, 317),
    "managedCluster.metadata.name": (1, 253),
    "managedCluster.status.clusterClaims": (0, 128),
    "managedCluster.status.clusterClaims.@items": (0, 2),
    "managedCluster.status.clusterClaims.@items.name": (0, 253),
    "managedCluster.status.clusterClaims.@items.value": (0, 1024),
    "managedCluster.spec.taints": (0, 64),
    "properties": (0, 50),
    "properties.@items": (0, 2),
    "s": (0, 40),
    "y": (2, 9),
    "li": (0, 40),
    "ls": (0, 30),
    "ls.@items": (0, 12),
    "ms": (0, 12),
    "ms.@values": (0, 5),
    "lm": (1, 10),
    "x": (0, 100),
}


def sizes(path: SizePath, _: Type) -> Range | None:
    known = SIZES.get(".".join(path))
    return None if known is None else Range(*known)


@lru_cache(maxsize=32)
def declared(name: str) -> Env:
    """The environment of that name with the variables of the world."""
    known = environment(name)
    missing = [Variable(each, TYPES[each]) for each in TYPES if each not in known.variables]
    return known.extend(variables=missing)


def written() -> str:
    """The file that the peers read."""
    sets = [{name: _written(value, TYPES[name]) for name, value in each.items()} for each in SETS]
    return json.dumps(
        {"variables": {name: str(each) for name, each in TYPES.items()}, "sets": sets, "sizes": SIZES}, sort_keys=True
    )


def _written(value: Any, declared_type: Type) -> list[Any]:
    return encode(value) if declared_type in (INT, UINT, DOUBLE, BYTES, TIMESTAMP, DURATION) else ["json", value]


def encode(value: Any) -> list[Any]:
    """As the peers write values."""
    left = [LARGEST]
    encoded = _part(value, left)
    return ["large", type_of(value).name] if left[0] < 0 else encoded


def _part(value: Any, left: list[int]) -> Any:
    left[0] -= 1
    if left[0] < 0:
        return None
    if value is None:
        return ["null_type", ""]
    if isinstance(value, bool):
        return ["bool", "true" if value else "false"]
    if isinstance(value, Uint):
        return ["uint", str(int(value))]
    if isinstance(value, int):
        return ["int", str(value)]
    if isinstance(value, float):
        return ["double", _number(value)]
    if isinstance(value, str):
        return ["string", value]
    if isinstance(value, bytes):
        return ["bytes", base64.b64encode(value).decode()]
    if isinstance(value, Timestamp):
        return ["google.protobuf.Timestamp", _moment(value)]
    if isinstance(value, Duration):
        return ["google.protobuf.Duration", str(value.ns)]
    if isinstance(value, TypeValue):
        return ["type", value.type.name]
    if isinstance(value, OptionalValue):
        return ["optional_type", [_part(value.content, left)] if value.present else []]
    if isinstance(value, (list, tuple)):
        return ["list", [_part(each, left) for each in value if left[0] >= 0]]
    if isinstance(value, (dict, MapValue)):
        entries = ([_part(key, left), _part(each, left)] for key, each in value.items() if left[0] >= 0)
        return ["map", sorted(entries, key=repr)]
    return ["opaque", type_of(value).name, str(value)]


def _number(value: float) -> str:
    """Its shortest decimals, in one spelling."""
    return repr(value)


def _moment(moment: Timestamp) -> str:
    seconds = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=moment.seconds)
    fraction = f".{moment.nanos:09d}".rstrip("0") if moment.nanos else ""
    return f"{seconds.year:04d}-{seconds:%m-%dT%H:%M:%S}{fraction}Z"


def canonical(value: Any) -> Any:
    """A peer's value with maps in one order and numbers in one spelling."""
    if not isinstance(value, list) or not value:
        return value
    kind = value[0]
    if kind == "double":
        return ["double", _number(float(value[1]))]
    if kind == "map":
        return ["map", sorted(([canonical(key), canonical(each)] for key, each in value[1]), key=repr)]
    if kind in ("list", "optional_type"):
        return [kind, [canonical(each) for each in value[1]]]
    return value
