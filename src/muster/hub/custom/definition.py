"""What a CustomResourceDefinition may say, in the order and the words of a Kubernetes server.

Called for every write of a definition; schemas are judged by `openapi_schema`. Works on definitions that `reading` has
cleaned and completed. What all versions say alike a server keeps once, and its refusals speak of it there:
`spec.validation` is the schema of all versions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from muster.cel import CompileBudget
from muster.hub.custom.field_paths import InvalidPathError, read_path
from muster.hub.custom.go_values import go_versions
from muster.hub.custom.nodes import is_known_format, same
from muster.hub.custom.openapi_schema import schema_causes
from muster.hub.custom.rules import MOST_COMPILING
from muster.hub.custom.schema_props import everywhere
from muster.values.causes import Cause, duplicate, forbidden, invalid, not_supported, required, too_many
from muster.values.formats import dns_1035_label_problems
from muster.values.json import Json, JsonObject
from muster.values.names import subdomain_problems
from muster.values.urls import InvalidUrlError, parse_request_uri, parse_url

if TYPE_CHECKING:
    from collections.abc import Iterator

Definition = JsonObject
Spec = JsonObject

APPROVED: Final = "api-approved.kubernetes.io"
_SEE: Final = "see https://github.com/kubernetes/enhancements/pull/1111"
_PER_VERSION: Final = ("schema", "subresources", "additionalPrinterColumns", "selectableFields")
_AT_TOP: Final = {"schema": "validation"}  # what a server calls it where it stands for all versions
_COLUMN_TYPES: Final = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS: Final = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_REVIEW_VERSIONS: Final = ("v1", "v1beta1")
_MOST_SELECTABLE: Final = 8
_LONGEST_WARNING: Final = 256
_IMMUTABLE: Final = "field is immutable"


@dataclass(frozen=True, slots=True)
class Definitions:
    """A definition as it is to be, and as it was."""

    new: Definition
    old: Definition | None = None
    budget: CompileBudget = field(default_factory=lambda: CompileBudget(MOST_COMPILING))

    @property
    def spec(self) -> Spec:
        spec: Spec = self.new.get("spec") or {}
        return spec

    @property
    def old_spec(self) -> Spec | None:
        return None if self.old is None else self.old.get("spec") or {}


def definition_causes(both: Definitions) -> list[Cause]:
    """What is wrong with a definition beyond its metadata, and with the change."""
    stored = (both.new.get("status") or {}).get("storedVersions") or []
    found = [*_spec(both), *_names((both.new.get("status") or {}).get("acceptedNames") or {}, "status.acceptedNames")]
    found += _stored_versions(stored, both.spec.get("versions") or [])
    found += _approval(both)
    if both.spec.get("preserveUnknownFields") and not (both.old_spec or {}).get("preserveUnknownFields"):
        detail = (
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        )
        found.append(invalid("spec.preserveUnknownFields", True, detail))
    return found


def status_causes(definition: Definition) -> list[Cause]:
    """What is wrong with a status that somebody writes."""
    return list(_names((definition.get("status") or {}).get("acceptedNames") or {}, "status.acceptedNames"))


def stored_causes(definition: Definition) -> list[Cause]:
    """What is wrong with the versions that a definition says are stored."""
    stored = (definition.get("status") or {}).get("storedVersions") or []
    return list(_stored_versions(stored, (definition.get("spec") or {}).get("versions") or []))


def name_cause(definition: Definition) -> Cause | None:
    """A definition is called after what it defines."""
    spec = definition.get("spec") or {}
    name = (definition.get("metadata") or {}).get("name", "")
    wanted = f"{(spec.get('names') or {}).get('plural', '')}.{spec.get('group', '')}"
    if name == wanted:
        return None
    return invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')


def unknown_formats(definition: Definition) -> list[str]:
    """Formats that nobody checks, for warnings, as often as they are used."""
    found: list[str] = []
    spec = definition.get("spec") or {}
    moved = _moved(spec)
    versions = spec.get("versions") or []
    for version in versions[:1] if "schema" in moved else versions:
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if schema is not None:
            found += [
                each["format"]
                for each in everywhere(schema)
                if "format" in each and not is_known_format(each.get("type", ""), each["format"])
            ]
    return found


def wants_webhook(definition: Definition) -> bool:
    """Whether objects would have to be converted by somebody else."""
    spec = definition.get("spec") or {}
    return (spec.get("conversion") or {}).get("strategy") == "Webhook" and len(spec.get("versions") or ()) > 1


def _moved(spec: Spec) -> set[str]:
    """What all versions say alike."""
    versions = spec.get("versions") or []
    if not versions:
        return set()
    first = versions[0]
    return {name for name in _PER_VERSION if all(same(each.get(name), first.get(name)) for each in versions)}


def _spec(both: Definitions) -> Iterator[Cause]:
    spec, old = both.spec, both.old_spec
    versions: list[JsonObject] = spec.get("versions") or []
    moved = _moved(spec)
    shown = go_versions(spec.get("versions"), moved)
    group = spec.get("group", "")
    if not group:
        yield required("spec.group")
    elif problems := subdomain_problems(group):
        yield invalid("spec.group", group, ",".join(problems))
    elif "." not in group:
        yield invalid("spec.group", group, "should be a domain with at least one dot")
    yield from _one_of("spec.scope", spec.get("scope", ""), ("Cluster", "Namespaced"))
    for index, version in enumerate(versions):
        if (version.get("schema") or {}).get("openAPIV3Schema") is None:
            yield required(f"spec.versions[{index}].schema.openAPIV3Schema")
    for index, version in enumerate(versions):
        if problems := dns_1035_label_problems(version.get("name", "")):
            yield invalid(f"spec.versions[{index}].name", version.get("name", ""), ",".join(problems))
        yield from _version(version, f"spec.versions[{index}]", moved, both)
    names = [version.get("name", "") for version in versions]
    if len(set(names)) != len(names):
        yield invalid("spec.versions", shown, "must contain unique version names")
    if sum(bool(version.get("storage")) for version in versions) != 1:
        yield invalid("spec.versions", shown, "must have exactly one version marked as storage version")
    if names and names[0] and (problems := dns_1035_label_problems(names[0])):
        yield invalid("spec.version", names[0], ",".join(problems))
    wanted = spec.get("names") or {}
    yield from (
        required(f"spec.names.{name}") for name in ("plural", "singular", "kind", "listKind") if not wanted.get(name)
    )
    yield from _names(wanted, "spec.names")
    if versions:
        alike = {name: versions[0].get(name) for name in moved}
        yield from _parts(alike, "spec", versions[0].get("name", ""), both, status=_any_status(versions), at_top=True)
    yield from _conversion(spec.get("conversion"), "spec.conversion")
    if both.old is not None and old is not None:
        yield from _changes(both.old, spec, old)


def _changes(old: Definition, spec: Spec, old_spec: Spec) -> Iterator[Cause]:
    names, old_names = spec.get("names") or {}, old_spec.get("names") or {}
    if is_condition_true(old, "Established"):
        if spec.get("scope") != old_spec.get("scope"):
            yield invalid("spec.scope", spec.get("scope", ""), _IMMUTABLE)
        if names.get("kind") != old_names.get("kind"):
            yield invalid("spec.names.kind", names.get("kind", ""), _IMMUTABLE)
    if spec.get("group") != old_spec.get("group"):
        yield invalid("spec.group", spec.get("group", ""), _IMMUTABLE)
    if names.get("plural") != old_names.get("plural"):
        yield invalid("spec.names.plural", names.get("plural", ""), _IMMUTABLE)


def is_condition_true(definition: Definition, kind: str) -> bool:
    conditions = (definition.get("status") or {}).get("conditions") or ()
    return any(each.get("type") == kind and each.get("status") == "True" for each in conditions)


def _one_of(path: str, value: str, accepted: tuple[str, ...]) -> Iterator[Cause]:
    if not value:
        yield required(path)
    elif value not in accepted:
        yield not_supported(path, value, accepted)


def _has_status(subresources: Json) -> bool:
    return isinstance(subresources, dict) and subresources.get("status") is not None


def _any_status(versions: list[JsonObject]) -> bool:
    return any(_has_status(version.get("subresources")) for version in versions)


def _version(version: JsonObject, path: str, moved: set[str], both: Definitions) -> Iterator[Cause]:
    for problem in _warning_problems(version):
        yield invalid(f"{path}.deprecationWarning", version.get("deprecationWarning"), problem)
    own = {name: version.get(name) for name in _PER_VERSION if name not in moved}
    status = _has_status(version.get("subresources"))
    yield from _parts(own, path, version.get("name", ""), both, status=status, at_top=False)


def _warning_problems(version: JsonObject) -> Iterator[str]:
    warning = version.get("deprecationWarning")
    if warning is None:
        return
    if not version.get("deprecated"):
        yield "can only be set for deprecated versions"
        return
    if len(warning.encode("utf-8", "surrogatepass")) > _LONGEST_WARNING:
        yield "must be <= 256 characters long"
    if not warning:
        yield "must not be an empty string"
    for index, character in enumerate(warning):
        if not character.isprintable():
            place = len(warning[:index].encode("utf-8", "surrogatepass"))
            yield f"must only contain printable UTF-8 characters; non-printable character found at index {place}"
            return


def _parts(
    said: JsonObject, path: str, version: str, both: Definitions, *, status: bool, at_top: bool
) -> Iterator[Cause]:
    """Schema, subresources, columns and selectable fields: of one version, or of all of them."""
    schema = (said.get("schema") or {}).get("openAPIV3Schema")
    if schema is not None:
        place = f"{path}.{_AT_TOP['schema'] if at_top else 'schema'}.openAPIV3Schema"
        unchanged = both.old_spec is not None and same(schema, _schema_of(both.old_spec, version))
        yield from schema_causes(schema, place, both.budget, status=status, old_cost_accepted=unchanged)
    yield from _subresources(said.get("subresources"), f"{path}.subresources")
    for index, column in enumerate(said.get("additionalPrinterColumns") or ()):
        yield from _column(column, f"{path}.additionalPrinterColumns[{index}]")
    fields = said.get("selectableFields") or ()
    if fields and schema is not None:
        yield from _selectable(fields, schema, f"{path}.selectableFields")


def _schema_of(spec: Spec, version: str) -> Json:
    for each in spec.get("versions") or ():
        if each.get("name") == version:
            return (each.get("schema") or {}).get("openAPIV3Schema")
    return None


def _subresources(value: Json, path: str) -> Iterator[Cause]:
    scale = value.get("scale") if isinstance(value, dict) else None
    if scale is None:
        return
    for name, prefix, words in (
        ("specReplicasPath", (".spec.",), "should be a json path under .spec"),
        ("statusReplicasPath", (".status.",), "should be a json path under .status"),
        ("labelSelectorPath", (".spec.", ".status."), "should be a json path under either .spec or .status"),
    ):
        place, given = f"{path}.scale.{name}", scale.get(name) or ""
        if not given:
            if name != "labelSelectorPath":
                yield required(place)
        elif not given.startswith("."):
            yield invalid(place, given, "must be a simple json path starting with .")
        elif not given.startswith(prefix):
            yield invalid(place, given, words)


def _column(column: JsonObject, path: str) -> Iterator[Cause]:
    if not column.get("name"):
        yield required(f"{path}.name")
    kind, form, given = column.get("type", ""), column.get("format", ""), column.get("jsonPath", "")
    types = f"must be one of {','.join(_COLUMN_TYPES)}"
    if not kind:
        yield required(f"{path}.type", types)
    elif kind not in _COLUMN_TYPES:
        yield invalid(f"{path}.type", kind, types)
    if form and form not in _COLUMN_FORMATS:
        yield invalid(f"{path}.format", form, f"must be one of {','.join(_COLUMN_FORMATS)}")
    if not given:
        yield required(f"{path}.JSONPath")
    elif not given.startswith("."):
        yield invalid(f"{path}.JSONPath", given, "must be a simple json path starting with .")


def _selectable(fields: list[JsonObject], schema: JsonObject, path: str) -> Iterator[Cause]:
    seen: set[str] = set()
    for index, each in enumerate(fields):
        place, given = f"{path}[{index}].jsonPath", each.get("jsonPath", "")
        if not given:
            yield required(place)
            continue
        try:
            found = read_path(given, schema, brackets=False)
        except InvalidPathError as error:
            yield invalid(place, given, f"is an invalid path: {error}")
            continue
        if found.root == "metadata":
            yield invalid(place, given, "must not point to fields in metadata")
        if found.schema.get("type") not in ("string", "boolean", "integer"):
            detail = (
                "must point to a field of type string, boolean or integer. "
                "Enum string fields and strings with formats are allowed."
            )
            yield invalid(place, given, detail)
        if found.text in seen:
            yield duplicate(place, given)
        seen.add(found.text)
    if len(seen) > _MOST_SELECTABLE:
        yield too_many(path, len(seen), _MOST_SELECTABLE)


def _names(names: JsonObject, path: str) -> Iterator[Cause]:
    mixed = "may have mixed case, but should otherwise match: "
    for name in ("plural", "singular"):
        if names.get(name) and (problems := dns_1035_label_problems(names[name])):
            yield invalid(f"{path}.{name}", names[name], ",".join(problems))
    for name in ("kind", "listKind"):
        if names.get(name) and (problems := dns_1035_label_problems(names[name].lower())):
            yield invalid(f"{path}.{name}", names[name], mixed + ",".join(problems))
    for index, name in enumerate(names.get("shortNames") or ()):
        if problems := dns_1035_label_problems(name):
            yield invalid(f"{path}.shortNames[{index}]", name, ",".join(problems))
    if names.get("kind") and names["kind"] == names.get("listKind"):
        yield invalid(f"{path}.listKind", names["listKind"], "kind and listKind may not be the same")
    for index, name in enumerate(names.get("categories") or ()):
        if problems := dns_1035_label_problems(name):
            yield invalid(f"{path}.categories[{index}]", name, ",".join(problems))


def _conversion(conversion: JsonObject | None, path: str) -> Iterator[Cause]:
    if conversion is None:
        return
    strategy = conversion.get("strategy", "")
    yield from _one_of(f"{path}.strategy", strategy, ("None", "Webhook"))
    webhook = conversion.get("webhook") or {}
    client, versions = webhook.get("clientConfig"), webhook.get("conversionReviewVersions") or []
    if strategy != "Webhook":
        detail = "should not be set when strategy is not set to Webhook"
        if client is not None:
            yield forbidden(f"{path}.webhookClientConfig", detail)
        if versions:
            yield forbidden(f"{path}.conversionReviewVersions", detail)
        return
    if client is None:
        yield required(f"{path}.webhookClientConfig", "required when strategy is set to Webhook")
    else:
        yield from _client(client, f"{path}.webhookClientConfig")
    yield from _review_versions(versions, f"{path}.conversionReviewVersions")


def _client(client: JsonObject, path: str) -> Iterator[Cause]:
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        yield required(path, "exactly one of url or service is required")
    elif url is not None:
        yield from _url(url, f"{path}.url")
    elif service is not None:
        for name in ("name", "namespace"):
            if not service.get(name):
                yield required(f"{path}.service.{name}", f"service {name} is required")
        if not 1 <= service.get("port", 443) <= 65535:
            detail = "port is not valid: must be between 1 and 65535, inclusive"
            yield invalid(f"{path}.service.port", service["port"], detail)


def _url(url: str, path: str) -> Iterator[Cause]:
    form = "desired format: https://host[/path]"
    try:
        parsed = parse_url(url)
    except InvalidUrlError as error:
        yield required(path, f"url must be a valid URL: {error}; {form}")
        return
    if parsed.scheme != "https":
        yield invalid(path, parsed.scheme, f"'https' is the only allowed URL scheme; {form}")
    if not parsed.host:
        yield invalid(path, parsed.host, f"host must be specified; {form}")


def _review_versions(versions: list[str], path: str) -> Iterator[Cause]:
    if not versions:
        yield required(path)
        return
    seen: set[str] = set()
    for index, version in enumerate(versions):
        if version in seen:
            yield invalid(f"{path}[{index}]", version, "duplicate version")
            continue
        seen.add(version)
        yield from (invalid(f"{path}[{index}]", version, problem) for problem in dns_1035_label_problems(version))
    if not seen.intersection(_REVIEW_VERSIONS):
        yield invalid(path, versions, f"must include at least one of {', '.join(_REVIEW_VERSIONS)}")


def _stored_versions(stored: list[str], versions: list[JsonObject]) -> Iterator[Cause]:
    path = "status.storedVersions"
    if not stored:
        yield invalid(path, None, "must have at least one stored version")
        return
    known = {version.get("name", "") for version in versions}
    left = set(stored)
    for version in versions:
        if version.get("storage") and version.get("name") not in left:
            yield invalid(path, stored, f"must have the storage version {version.get('name')}")
        left.discard(version.get("name", ""))
    for index, name in enumerate(stored):
        if name not in known:
            detail = (
                f"missing from spec.versions; {name} was previously a storage version, and must remain in "
                f"spec.versions until a storage migration ensures no data remains persisted in {name} and removes "
                f"{name} from status.storedVersions"
            )
            yield invalid(f"{path}[{index}]", name, detail)


def _approval(both: Definitions) -> Iterator[Cause]:
    """Groups of the Kubernetes community want a word of it."""
    group = both.spec.get("group", "")
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
        yield invalid(place, _annotation(both.new), detail)


def _annotation(definition: Definition) -> str:
    return str(((definition.get("metadata") or {}).get("annotations") or {}).get(APPROVED, ""))


def _approval_state(definition: Definition) -> str:
    text = _annotation(definition)
    if not text:
        return "missing"
    if text.startswith("unapproved"):
        return "bypassed"
    try:
        url = parse_request_uri(text)
    except InvalidUrlError:
        return "invalid"
    return "approved" if url.host and url.scheme else "invalid"
