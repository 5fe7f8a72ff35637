"""The reference of kinds, as Markdown, from the registry. A test keeps docs/reference/kinds.md equal to it.

python -m muster.api.reference > docs/reference/kinds.md
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from muster.api.registry import RESOURCES
from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from muster.api.resource import Resource, Version

_INTRODUCTION = """# Kinds

Every kind the hub serves: its names, its versions, what `kubectl get` shows, and its fields. Made from the code by
`python -m muster.api.reference`; `kubectl explain KIND` shows the same fields.
"""


def reference(resources: Iterable[Resource]) -> str:
    """The whole page."""
    chapters = [_INTRODUCTION, *("\n".join(_chapter(resource)) + "\n" for resource in resources)]
    return "\n".join(chapters)


def _chapter(resource: Resource) -> Iterator[str]:
    yield f"## {resource.kind}"
    yield ""
    yield resource.storage_version.schema.get("description", "")
    yield ""
    yield f"- Resource: `{resource.key}`, {'in a namespace' if resource.namespaced else 'cluster-scoped'}"
    if resource.short_names:
        yield f"- Short names: {', '.join(f'`{name}`' for name in resource.short_names)}"
    yield f"- Versions: {', '.join(_version_name(resource, version) for version in resource.versions)}"
    yield f"- Verbs: {', '.join(sorted(resource.verbs))}"
    if resource.virtual:
        yield "- Answered when created, never stored"
    version = resource.storage_version
    if version.columns:
        yield f"- Columns: {', '.join(_column_name(column.name, column.priority) for column in version.columns)}"
    if version.selectable_fields:
        yield f"- Field selectors: {', '.join(f'`{path[1:]}`' for path in version.selectable_fields)}"
    rows = list(_fields(version.schema, ""))
    if rows:
        yield ""
        yield "| field | type | meaning |"
        yield "|---|---|---|"
        yield from rows


def _version_name(resource: Resource, version: Version) -> str:
    notes = ["stored"] if version.storage and len(resource.versions) > 1 else []
    if version.deprecated:
        notes.append("deprecated")
    return f"`{resource.api_version(version)}`" + (f" ({', '.join(notes)})" if notes else "")


def _column_name(name: str, priority: int) -> str:
    return f"{name} (wide)" if priority else name


def _fields(schema: JsonObject | Json, path: str) -> Iterator[str]:
    needed = set(schema.get("required", ()))
    for name, child in schema.get("properties", {}).items():
        if not path and name in {"apiVersion", "kind", "metadata"}:
            continue
        below = f"{path}.{name}" if path else name
        notes = [child.get("description", "")]
        if name in needed:
            notes.append("Required.")
        if "enum" in child:
            notes.append(f"One of {', '.join(child['enum'])}.")
        if "default" in child and not isinstance(child["default"], dict):
            notes.append(f"Default `{child['default']}`.")
        text = " ".join(note for note in notes if note).replace("|", "\\|")
        yield f"| `{below}` | {_type(child)} | {text} |"
        yield from _fields(child.get("items", child), below + ("[]" if "items" in child else ""))


def _type(schema: JsonObject) -> str:
    if schema.get("x-kubernetes-int-or-string"):
        return "integer or string"
    match schema.get("type"):
        case "array":
            return f"list of {_type(schema['items'])}"
        case "object" if "additionalProperties" in schema:
            return f"map of {_type(schema['additionalProperties'])}"
        case "string" if schema.get("format") == "date-time":
            return "time"
        case other:
            return str(other)


def main() -> None:
    sys.stdout.write(reference(RESOURCES.values()))


if __name__ == "__main__":
    main()
