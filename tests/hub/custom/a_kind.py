"""A hub that custom kinds are defined in, spoken to over HTTP in a few words."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.hub.rest.running import RunningHub, running_hub

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Object = dict[str, Any]
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GROUP = "shop.example.com"
MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


def schema(spec: Object | None = None, **more: Any) -> Object:
    """The schema of a kind with a spec."""
    return {"type": "object", "properties": {"spec": {"type": "object", **(spec or {})}}, **more}


def fields(**properties: Object) -> Object:
    """A spec with these fields."""
    return {"properties": properties}


def version(name: str = "v1", of: Object | None = None, **more: Any) -> Object:
    shown = {"openAPIV3Schema": schema() if of is None else of}
    return {"name": name, "served": True, "storage": True, "schema": shown, **more}


def definition(
    of: Object | None = None,
    plural: str = "toys",
    kind: str = "Toy",
    *,
    group: str = GROUP,
    scope: str = "Namespaced",
    versions: Sequence[Object] | None = None,
    names: Object | None = None,
    **more: Any,
) -> Object:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": scope,
            "names": {"plural": plural, "kind": kind, **(names or {})},
            "versions": list(versions) if versions is not None else [version(of=of, **more)],
        },
    }


@dataclass
class Shop:
    """The hub, and what was said with the last answer."""

    hub: RunningHub
    code: int = 0
    warnings: list[str] = field(default_factory=list)

    def send(self, method: str, path: str, body: Any = None, content_type: str = "application/json", **kw: str) -> Any:
        headers = {"Content-Type": content_type, **kw} if body is not None else dict(kw)
        raw = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        self.code, answered, text = self.hub.request(method, path, raw, headers)
        self.warnings = [answered["warning"]] if "warning" in answered else []
        if answered.get("content-type", "").startswith("application/json"):
            return json.loads(text)
        return text.decode()

    def define(self, body: Object) -> Object:
        answer: Object = self.send("POST", DEFINITIONS, body)
        assert self.code == 201, answer
        return answer

    def refusal(self, body: Object) -> str:
        """Why a definition is refused."""
        answer = self.send("POST", DEFINITIONS, body)
        assert self.code == 422, answer
        return str(answer["message"]).partition(" is invalid: ")[2]

    def definition(self, name: str = f"toys.{GROUP}") -> Object:
        answer: Object = self.send("GET", f"{DEFINITIONS}/{name}")
        return answer

    def redefine(self, change: Object, name: str = f"toys.{GROUP}") -> Any:
        return self.send("PATCH", f"{DEFINITIONS}/{name}", change, MERGE)

    def condition(self, kind: str, name: str = f"toys.{GROUP}") -> tuple[str, str]:
        conditions = self.definition(name)["status"]["conditions"]
        found = next(each for each in conditions if each["type"] == kind)
        return found["status"], found["reason"]

    def create(self, name: str, spec: Object | None = None, **more: Any) -> Any:
        return self.send("POST", path(), toy(name, spec, **more))

    def message(self, name: str, spec: Object | None = None, **more: Any) -> str:
        """Why an object is refused."""
        answer = self.create(name, spec, **more)
        assert self.code == 422, answer
        return str(answer["message"]).partition(" is invalid: ")[2]

    def patch(self, name: str, change: Object, content_type: str = MERGE, query: str = "") -> Any:
        return self.send("PATCH", f"{path(name)}{query}", change, content_type)

    def get(self, name: str, version: str = "v1") -> Any:
        return self.send("GET", path(name, version))


def path(name: str = "", version: str = "v1", plural: str = "toys", namespace: str = "default") -> str:
    place = f"/apis/{GROUP}/{version}/namespaces/{namespace}/{plural}"
    return f"{place}/{name}" if name else place


def toy(name: str, spec: Object | None = None, version: str = "v1", **more: Any) -> Object:
    said = {} if spec is None else {"spec": spec}
    metadata = {"name": name, **more.pop("metadata", {})}
    return {"apiVersion": f"{GROUP}/{version}", "kind": "Toy", "metadata": metadata, **said, **more}


@contextmanager
def shop(**options: Any) -> Iterator[Shop]:
    with running_hub(**options) as hub:
        yield Shop(hub)
