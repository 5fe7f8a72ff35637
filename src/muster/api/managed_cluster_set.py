"""ManagedClusterSet: a named group of clusters, by an exclusive label or by a label selector.

One stored form (v1beta2), three served versions:

    v1beta2    clusterSelector {selectorType: ExclusiveClusterSetLabel | LabelSelector, labelSelector}, exclusiveKey
    v1beta1    the same, with the exclusive type called LegacyClusterSetLabel
    v1alpha1   exclusiveKey; a clusterSelector is shown only where it says more than "exclusive"

Conversion loses nothing in either direction.
"""

from __future__ import annotations

from typing import Final

from muster.api import parts
from muster.api.cel_rules import CelRule
from muster.api.managed_cluster import GROUP
from muster.api.parts import Condition, LabelSelector, Node, ObjectMeta, Part
from muster.api.reading import Reader
from muster.api.resource import PrinterColumn, Resource, Version
from muster.values.causes import Cause, forbidden, invalid
from muster.values.json import Json, JsonObject, Schema
from muster.values.json_members import object_at
from muster.values.labels import label_selector_causes
from muster.values.names import LABEL_KEY_RULE, NAME_LENGTH, QUALIFIED_NAME_LENGTH, qualified_name_problems

DEFAULT_EXCLUSIVE_KEY: Final = "cluster.open-cluster-management.io/clusterset"
EXCLUSIVE: Final = "ExclusiveClusterSetLabel"
LEGACY_EXCLUSIVE: Final = "LegacyClusterSetLabel"
BY_LABELS: Final = "LabelSelector"


class ClusterSetSelector(Part, frozen=True):
    selector_type: str = ""
    label_selector: LabelSelector | None = None


class ManagedClusterSetSpec(Node, frozen=True):
    cluster_selector: ClusterSetSelector = ClusterSetSelector()
    exclusive_key: str = ""

    @property
    def effective_key(self) -> str:
        """The label that decides membership of an exclusive set."""
        return self.exclusive_key or DEFAULT_EXCLUSIVE_KEY


class ManagedClusterSetStatus(Node, frozen=True):
    conditions: tuple[Condition, ...] = ()


class ManagedClusterSet(Node, frozen=True):
    """The stored form, v1beta2."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ManagedClusterSetSpec = ManagedClusterSetSpec()
    status: ManagedClusterSetStatus = ManagedClusterSetStatus()


_READER: Final = Reader(ManagedClusterSet)


def _selector(exclusive: str | None) -> Schema:
    """`exclusive` is what the version calls the exclusive type and defaults to; None: no default."""
    names = [exclusive or EXCLUSIVE, BY_LABELS]
    kind = parts.string("How clusters are selected: by the exclusive label, or by any labels.", enum=names)
    schema = parts.obj(
        "Which clusters belong to the set.",
        properties={
            "selectorType": kind | ({"default": exclusive} if exclusive else {}),
            "labelSelector": parts.label_selector("The labels of member clusters, for the type LabelSelector."),
        },
    )
    return schema | ({"default": {"selectorType": exclusive}} if exclusive else {})


def _schema(exclusive: str | None) -> Schema:
    default: JsonObject = {"clusterSelector": {"selectorType": exclusive}} if exclusive else {}
    spec = parts.obj(
        "Which clusters belong to the set.",
        properties={
            "clusterSelector": _selector(exclusive),
            "exclusiveKey": parts.string(
                "The key of the label that puts a cluster into this set: the clusters labelled "
                f"<exclusiveKey>=<name of the set>. {DEFAULT_EXCLUSIVE_KEY} if empty. Cannot be changed.",
                maxLength=QUALIFIED_NAME_LENGTH,
            ),
            "clusterLabel": parts.anything("Not supported; use exclusiveKey."),
            "managedNamespaces": parts.map_list(
                parts.obj(
                    "A namespace on every cluster of the set.",
                    ("name",),
                    {"name": parts.string("The namespace.", maxLength=63, pattern="^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")},
                ),
                ("name",),
                "Namespaces that the set manages on its clusters.",
            ),
        },
        default=default,
    )
    status = parts.obj("What is known of the set.", properties={"conditions": parts.CONDITIONS})
    return parts.kind("A group of clusters.", spec, status)


def convert(obj: JsonObject, version: str) -> JsonObject:
    """The set as a version shows it. The argument is left alone."""
    stored = _to_stored(obj)
    match version:
        case "v1beta2":
            return stored
        case "v1beta1":
            return _with_spec(stored, version, _renamed(stored.get("spec"), EXCLUSIVE, LEGACY_EXCLUSIVE))
        case "v1alpha1":
            spec = _or_nothing(stored.get("spec"))
            if isinstance(spec, dict) and spec.get("clusterSelector") == {"selectorType": EXCLUSIVE}:
                spec = {name: value for name, value in spec.items() if name != "clusterSelector"}
            return _with_spec(stored, version, spec)
        case _:
            raise ValueError(f"ManagedClusterSet has no version {version}")


def _to_stored(obj: JsonObject) -> JsonObject:
    version = obj.get("apiVersion", "").rpartition("/")[2]
    if version == "v1beta1":
        return _with_spec(obj, "v1beta2", _renamed(obj.get("spec"), LEGACY_EXCLUSIVE, EXCLUSIVE))
    if version == "v1alpha1":
        spec = _or_nothing(obj.get("spec"))
        if isinstance(spec, dict) and isinstance(selector := _or_nothing(spec.get("clusterSelector")), dict):
            spec = spec | {"clusterSelector": {"selectorType": EXCLUSIVE} | selector}
        return _with_spec(obj, "v1beta2", spec)  # what has another shape is refused by the schema
    return obj


def _or_nothing(value: Json) -> Json:
    """What was never said is an empty object."""
    return {} if value is None else value


def _renamed(spec: Json, old: str, new: str) -> Json:
    if not isinstance(spec, dict):
        return spec
    chosen = spec.get("clusterSelector")
    if not isinstance(chosen, dict) or chosen.get("selectorType") != old:
        return spec
    return spec | {"clusterSelector": chosen | {"selectorType": new}}


def _with_spec(obj: JsonObject, version: str, spec: Json) -> JsonObject:
    changed = obj | {"apiVersion": f"{GROUP}/{version}"}
    return changed if spec is None else changed | {"spec": spec}


_NO_CLUSTER_LABEL: Final = "clusters are selected by exclusiveKey and the name of the set; remove it"
_NOT_WITH_SELECTOR: Final = f"may not be set when spec.clusterSelector.selectorType is {BY_LABELS}"
_NAME_TOO_LONG: Final = f"must be no more than {NAME_LENGTH} characters: with an exclusiveKey the name is a label value"
_IMMUTABLE: Final = "field is immutable"


def rules(new: JsonObject, old: JsonObject | None) -> list[Cause]:
    """What the schema cannot say about the exclusive key and the selector. Both states are in the stored form."""
    given = _READER.of(new)
    before = None if old is None else _READER.of(old).spec
    return _key_causes(given, before, object_at(new, "spec")) + _selector_causes(given.spec, before, new)


def _selector_causes(spec: ManagedClusterSetSpec, before: ManagedClusterSetSpec | None, new: JsonObject) -> list[Cause]:
    """A selector that cannot match would empty the set, and every placement that is bound to it. One that was stored
    before this was checked may stay: such a set must remain writable."""
    selector = spec.cluster_selector
    if selector.selector_type != BY_LABELS or (before is not None and selector == before.cluster_selector):
        return []
    if selector.label_selector is None:
        return []
    written = object_at(new, "spec", "clusterSelector", "labelSelector")
    return label_selector_causes(written, "spec.clusterSelector.labelSelector")


def _key_causes(given: ManagedClusterSet, before: ManagedClusterSetSpec | None, written: JsonObject) -> list[Cause]:
    spec, name = given.spec, given.metadata.name
    key = spec.exclusive_key
    causes = []
    if "clusterLabel" in written:
        causes.append(forbidden("spec.clusterLabel", _NO_CLUSTER_LABEL))
    if key:
        causes.extend(invalid("spec.exclusiveKey", key, problem) for problem in qualified_name_problems(key))
        if spec.cluster_selector.selector_type == BY_LABELS:
            causes.append(invalid("spec.exclusiveKey", key, _NOT_WITH_SELECTOR))
        if key != DEFAULT_EXCLUSIVE_KEY and len(name) > NAME_LENGTH:
            causes.append(invalid("metadata.name", name, _NAME_TOO_LONG))
    if before is not None and spec.effective_key != before.effective_key:
        causes.append(invalid("spec.exclusiveKey", key, _IMMUTABLE))
    return causes


_KEY_IS_SET: Final = "has(self.exclusiveKey) && self.exclusiveKey != ''"
_ROOT_KEY: Final = (
    "(has({0}.spec) && has({0}.spec.exclusiveKey) && {0}.spec.exclusiveKey != '' ? "
    f"{{0}}.spec.exclusiveKey : '{DEFAULT_EXCLUSIVE_KEY}')"
)

#: `_key_causes` once more, for every version: they differ in the name of the exclusive type alone.
CEL_RULES: Final = (
    CelRule(f"{_ROOT_KEY.format('self')} == {_ROOT_KEY.format('oldSelf')}", _IMMUTABLE, field=".spec.exclusiveKey"),
    CelRule(
        f"oldSelf.hasValue() || {_ROOT_KEY.format('self')} == '{DEFAULT_EXCLUSIVE_KEY}' || "
        f"size(self.metadata.name) <= {NAME_LENGTH}",
        f"metadata.name {_NAME_TOO_LONG}",
        optional_old=True,
    ),
    CelRule(
        f"!({_KEY_IS_SET}) || !has(self.clusterSelector) || !has(self.clusterSelector.selectorType) || "
        f"self.clusterSelector.selectorType != '{BY_LABELS}'",
        _NOT_WITH_SELECTOR,
        at=("spec",),
        field=".exclusiveKey",
    ),
    CelRule(
        "!has(self.clusterLabel)", _NO_CLUSTER_LABEL, at=("spec",), field=".clusterLabel", reason="FieldValueForbidden"
    ),
    CelRule(
        "self == '' || !format.qualifiedName().validate(self).hasValue()",
        LABEL_KEY_RULE,
        at=("spec", "exclusiveKey"),
    ),
)

_COLUMNS = (
    parts.condition_column("Empty", "ClusterSetEmpty"),
    PrinterColumn("Exclusive Key", "string", ".spec.exclusiveKey", priority=1),
    parts.AGE,
)
_DEPRECATED = "{0}/{1} ManagedClusterSet is deprecated; use {0}/v1beta2 ManagedClusterSet"

MANAGED_CLUSTER_SET: Final = Resource(
    group=GROUP,
    kind="ManagedClusterSet",
    plural="managedclustersets",
    singular="managedclusterset",
    list_kind="ManagedClusterSetList",
    namespaced=False,
    short_names=("mclset", "mclsets"),
    rules=rules,
    cel_rules=CEL_RULES,
    convert=convert,
    versions=(
        Version("v1beta2", _schema(EXCLUSIVE), _COLUMNS, status=True),
        Version(
            "v1beta1",
            _schema(LEGACY_EXCLUSIVE),
            _COLUMNS,
            status=True,
            storage=False,
            deprecated=_DEPRECATED.format(GROUP, "v1beta1"),
        ),
        Version("v1alpha1", _schema(None), _COLUMNS, status=True, storage=False),
    ),
)
