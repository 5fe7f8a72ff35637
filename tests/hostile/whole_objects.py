"""A good object of every kind with every field filled in, made from its schema: what mutations start from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.api.resource import Resource, Version

NAME: Final = "a"
NAMESPACE: Final = "default"

# Fields whose schema does not say all that makes a value good, by the end of their paths.
_GOOD: Final[Mapping[str, Any]] = {
    "celSelector.celExpressions[]": "managedCluster.metadata.name == 'a'",
    "spec.query": "true",
    "matchExpressions[]": {"key": "tier", "operator": "In", "values": ["gold"]},
    "matchLabels": {"tier": "gold"},
    "spec.labelKey": "tier",
    "spec.labelValue": "gold",
    "spec.clusterSet": NAME,
    "spec.exclusiveKey": "",
    "spec.clusterLabel": None,
    "managedClusterClientConfigs[].url": "https://a.example.com",
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "a"},
    "subjects[]": {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "a"},
    "involvedObject.namespace": NAMESPACE,
    "rules[].nonResourceURLs": None,
    "rules[].verbs[]": "get",
    "secret.type": "Opaque",
    "spec.namespace": NAMESPACE,
    "spec.nonResourceAttributes": None,
    "spec.user": "a",
    "resourceAttributes.namespace": NAMESPACE,
    "binaryData": {"b": "YWJj"},
    "catalogs[].configMap": None,
    "catalogs[].directory": None,
    "catalogs[].inline": None,
    "wants[].pin": None,
    "wants[].range": ">=1.0.0",
    "installed[].version": "1.0.0",
    "prioritizerPolicy.mode": "Exact",
    "scoreCoordinate.builtIn": "Steady",
    "scoreCoordinate.addOn": None,
    "tolerations[].operator": "Equal",
}
_BY_PATTERN: Final = (("%)|", "50%"), ("[hms]", "5m"), ("[KMGTPE]i", "1Gi"))


def whole_object(resource: Resource, version: Version) -> dict[str, Any]:
    """An object of the kind that the hub takes."""
    obj: dict[str, Any] = {"apiVersion": resource.api_version(version), "kind": resource.kind}
    obj["metadata"] = {
        "name": NAME,
        "labels": {"tier": "gold"},
        "annotations": {"example.com/a": "b"},
        "finalizers": ["example.com/a"],
        "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "1", "controller": True}],
    }
    if resource.namespaced:
        obj["metadata"]["namespace"] = NAMESPACE
    for name, schema in version.schema.get("properties", {}).items():
        if name not in obj and (value := _value(schema, name)) is not None:
            obj[name] = value
    if resource.kind == "ManagedClusterSet":
        obj["spec"]["clusterSelector"]["selectorType"] = "LabelSelector"
    return obj


def _value(schema: Mapping[str, Any], path: str) -> Any:
    for end, value in _GOOD.items():
        if path.endswith(end):
            return value
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("x-kubernetes-int-or-string"):
        return 1
    match schema.get("type"):
        case "string":
            return _string(schema)
        case "integer" | "number":
            return max(schema.get("minimum", 1), 1)
        case "boolean":
            return True
        case "array":
            item = _value(schema["items"], f"{path}[]")
            return [] if item is None else [item]
        case "object":
            return _object(schema, path)
        case _:
            return {"a": 1}


def _string(schema: Mapping[str, Any]) -> str:
    form = schema.get("format", "")
    if form == "date-time":
        return "2026-01-01T00:00:00Z"
    if form == "byte":
        return "YWJj"
    pattern = schema.get("pattern", "")
    found = next((value for part, value in _BY_PATTERN if part in pattern), "aaa")
    return found * max(1, int(schema.get("minLength", 0)) // len(found))


def _object(schema: Mapping[str, Any], path: str) -> Any:
    if isinstance(schema.get("additionalProperties"), dict):
        item = _value(schema["additionalProperties"], f"{path}.a")
        return {} if item is None else {"a": item}
    found = {name: _value(child, f"{path}.{name}") for name, child in schema.get("properties", {}).items()}
    return {name: value for name, value in found.items() if value is not None}
