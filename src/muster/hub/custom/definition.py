"""What a CustomResourceDefinition may say, in the order and the words of a Kubernetes server.

Called by `reading` for every write of a definition that it has cleaned and completed. What a version says is judged by
`definition_versions`, what is said of conversion by `definition_conversion`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api.custom_resource_definition import Definition, read_definition
from muster.hub.custom.definition_conversion import conversion_causes, one_of
from muster.hub.custom.definition_versions import Definitions, shared_causes, shared_parts, version_causes
from muster.hub.custom.go_values import go_versions
from muster.hub.custom.nodes import is_known_format
from muster.hub.custom.schema_props import everywhere
from muster.values.causes import Cause, invalid, required
from muster.values.formats import dns_1035_label_problems
from muster.values.json_members import object_at
from muster.values.names import subdomain_problems
from muster.values.urls import InvalidUrlError, parse_request_uri

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.api.custom_resource_definition import DefinitionNames, DefinitionStatus, DefinitionVersion
    from muster.values.json import JsonObject

ESTABLISHED: Final = "Established"
APPROVED: Final = "api-approved.kubernetes.io"
_SEE: Final = "see https://github.com/kubernetes/enhancements/pull/1111"
_IMMUTABLE: Final = "field is immutable"


def definition_causes(new: JsonObject, old: JsonObject | None) -> list[Cause]:
    """What is wrong with a definition beyond its metadata, and with the change."""
    before = None if old is None else read_definition(old)
    both = Definitions(read_definition(new), before, shared_parts(object_at(new, "spec")))
    spec, status = both.new.spec, both.new.status
    found = [*_spec_causes(both, new), *status_causes(status)]
    found += stored_version_causes(both.new)
    found += _approval_causes(both)
    if spec.preserve_unknown_fields and not (before is not None and before.spec.preserve_unknown_fields):
        detail = (
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        )
        found.append(invalid("spec.preserveUnknownFields", True, detail))
    return found


def status_causes(status: DefinitionStatus) -> list[Cause]:
    """What is wrong with a status that somebody writes."""
    return list(_name_causes(status.accepted_names, "status.acceptedNames"))


def misnaming(definition: Definition) -> Cause | None:
    """A definition is called after what it defines."""
    spec, name = definition.spec, definition.metadata.name
    if name == f"{spec.names.plural}.{spec.group}":
        return None
    return invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')


def unknown_formats(obj: JsonObject) -> list[str]:
    """Formats that nobody checks, for warnings, as often as they are used."""
    found: list[str] = []
    versions = read_definition(obj).spec.versions
    for version in versions[:1] if "schema" in shared_parts(object_at(obj, "spec")) else versions:
        if version.schema.openapi is not None:
            found += [
                each["format"]
                for each in everywhere(version.schema.openapi)
                if "format" in each and not is_known_format(each.get("type", ""), each["format"])
            ]
    return found


def wants_webhook(definition: Definition) -> bool:
    """Whether objects would have to be converted by somebody else."""
    conversion = definition.spec.conversion
    return conversion is not None and conversion.strategy == "Webhook" and len(definition.spec.versions) > 1


def _spec_causes(both: Definitions, new: JsonObject) -> Iterator[Cause]:
    spec = both.new.spec
    yield from _group_causes(spec.group)
    yield from one_of("spec.scope", spec.scope, ("Cluster", "Namespaced"))
    for index, version in enumerate(spec.versions):
        if version.schema.openapi is None:
            yield required(f"spec.versions[{index}].schema.openAPIV3Schema")
    for index, version in enumerate(spec.versions):
        if problems := dns_1035_label_problems(version.name):
            yield invalid(f"spec.versions[{index}].name", version.name, ",".join(problems))
        yield from version_causes(version, f"spec.versions[{index}]", both)
    yield from _version_list_causes(spec.versions, both, new)
    for name, value in (
        ("plural", spec.names.plural),
        ("singular", spec.names.singular),
        ("kind", spec.names.kind),
        ("listKind", spec.names.list_kind),
    ):
        if not value:
            yield required(f"spec.names.{name}")
    yield from _name_causes(spec.names, "spec.names")
    yield from shared_causes(both)
    yield from conversion_causes(spec.conversion, "spec.conversion")
    if both.old is not None:
        yield from _change_causes(both.new, both.old)


def _group_causes(group: str) -> Iterator[Cause]:
    if not group:
        yield required("spec.group")
    elif problems := subdomain_problems(group):
        yield invalid("spec.group", group, ",".join(problems))
    elif "." not in group:
        yield invalid("spec.group", group, "should be a domain with at least one dot")


def _version_list_causes(
    versions: tuple[DefinitionVersion, ...], both: Definitions, new: JsonObject
) -> Iterator[Cause]:
    names = [version.name for version in versions]
    shown = go_versions(object_at(new, "spec").get("versions"), set(both.shared))
    if len(set(names)) != len(names):
        yield invalid("spec.versions", shown, "must contain unique version names")
    if sum(version.storage for version in versions) != 1:
        yield invalid("spec.versions", shown, "must have exactly one version marked as storage version")
    if names and names[0] and (problems := dns_1035_label_problems(names[0])):
        yield invalid("spec.version", names[0], ",".join(problems))


def _change_causes(new: Definition, old: Definition) -> Iterator[Cause]:
    spec, before = new.spec, old.spec
    if old.is_true(ESTABLISHED):
        if spec.scope != before.scope:
            yield invalid("spec.scope", spec.scope, _IMMUTABLE)
        if spec.names.kind != before.names.kind:
            yield invalid("spec.names.kind", spec.names.kind, _IMMUTABLE)
    if spec.group != before.group:
        yield invalid("spec.group", spec.group, _IMMUTABLE)
    if spec.names.plural != before.names.plural:
        yield invalid("spec.names.plural", spec.names.plural, _IMMUTABLE)


def _name_causes(names: DefinitionNames, path: str) -> Iterator[Cause]:
    mixed = "may have mixed case, but should otherwise match: "
    for name, value in (("plural", names.plural), ("singular", names.singular)):
        if value and (problems := dns_1035_label_problems(value)):
            yield invalid(f"{path}.{name}", value, ",".join(problems))
    for name, value in (("kind", names.kind), ("listKind", names.list_kind)):
        if value and (problems := dns_1035_label_problems(value.lower())):
            yield invalid(f"{path}.{name}", value, mixed + ",".join(problems))
    for index, value in enumerate(names.short_names):
        if problems := dns_1035_label_problems(value):
            yield invalid(f"{path}.shortNames[{index}]", value, ",".join(problems))
    if names.kind and names.kind == names.list_kind:
        yield invalid(f"{path}.listKind", names.list_kind, "kind and listKind may not be the same")
    for index, value in enumerate(names.categories):
        if problems := dns_1035_label_problems(value):
            yield invalid(f"{path}.categories[{index}]", value, ",".join(problems))


def stored_version_causes(definition: Definition) -> Iterator[Cause]:
    """What is wrong with the versions that a definition says are stored."""
    path, stored = "status.storedVersions", definition.status.stored_versions
    if not stored:
        yield invalid(path, None, "must have at least one stored version")
        return
    versions = definition.spec.versions
    known = {version.name for version in versions}
    left = set(stored)
    for version in versions:
        if version.storage and version.name not in left:
            yield invalid(path, list(stored), f"must have the storage version {version.name}")
        left.discard(version.name)
    for index, name in enumerate(stored):
        if name not in known:
            detail = (
                f"missing from spec.versions; {name} was previously a storage version, and must remain in "
                f"spec.versions until a storage migration ensures no data remains persisted in {name} and removes "
                f"{name} from status.storedVersions"
            )
            yield invalid(f"{path}[{index}]", name, detail)


def _approval_causes(both: Definitions) -> Iterator[Cause]:
    """Groups of the Kubernetes community want a word of it."""
    group = both.new.spec.group
    if not (group in ("k8s.io", "kubernetes.io") or group.endswith((".k8s.io", ".kubernetes.io"))):
        return
    state = _approval_state(both.new)
    if both.old is not None and _approval_state(both.old) == state:
        return
    place = f"metadata.annotations[{APPROVED}]"
    if state == "missing":
        yield required(place, f'protected groups must have approval annotation "{APPROVED}", {_SEE}')
    elif state == "invalid":
        detail = (
            f'protected groups must have approval annotation "{APPROVED}" with either a URL or a reason starting with '
            f'"unapproved", {_SEE}'
        )
        yield invalid(place, both.new.metadata.annotations[APPROVED], detail)


def _approval_state(definition: Definition) -> str:
    text = definition.metadata.annotations.get(APPROVED, "")
    if not text:
        return "missing"
    if text.startswith("unapproved"):
        return "bypassed"
    try:
        url = parse_request_uri(text)
    except InvalidUrlError:
        return "invalid"
    return "approved" if url.host and url.scheme else "invalid"
