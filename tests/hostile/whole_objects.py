"""A good object of every kind with every field filled in, made from its schema: what mutations start from."""

from __future__ import annotations

import base64
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

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
    if resource.key == "events.events.k8s.io":
        # What this group has no more can be read, and not be written.
        obj = {name: value for name, value in obj.items() if not name.startswith("deprecated")}
        obj |= {"type": "Normal", "series": {**obj["series"], "count": 2}}
    if resource.kind == "CertificateSigningRequest":
        spec = {"request": _certificate_request(), "signerName": "example.com/a", "usages": ["client auth"]}
        obj = {**obj, "spec": spec}
        obj.pop("status", None)
    if resource.kind == "CustomResourceDefinition":
        obj = {**obj, "metadata": {**obj["metadata"], "name": name_of(resource)}, "spec": _definition()}
        obj.pop("status", None)
    return obj


def name_of(resource: Resource) -> str:
    """What an object of the kind may be called: definitions are called after their kinds."""
    return "widgets.example.com" if resource.kind == "CustomResourceDefinition" else NAME


def _definition() -> dict[str, Any]:
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"a": {"type": "string"}}}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}
    return {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}


@cache
def _certificate_request() -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a")])
    request = x509.CertificateSigningRequestBuilder().subject_name(subject).sign(key, hashes.SHA256())
    return base64.b64encode(request.public_bytes(serialization.Encoding.PEM)).decode()


#: With six digits after the second, or a server takes them for none.
_MICRO_TIMES = ("acquireTime", "eventTime", "lastObservedTime", "renewTime")


def _value(schema: Mapping[str, Any], path: str) -> Any:
    for end, value in _GOOD.items():
        if path.endswith(end):
            return value
    if path.rpartition(".")[2] in _MICRO_TIMES:
        return "2026-01-01T00:00:00.000000Z"
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
