"""From objects to the templates of a Helm chart: a file for each concern, conditions where settings differ.

Objects are made with marks instead of values; `variants` finds which lines depend on which switches; here both become
the language of templates. The chart has no Namespace: Helm makes the one of the release.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec
import yaml

from muster.kubernetes.installing.plan import NEWER_KINDS
from muster.kubernetes.manifests import objects
from muster.kubernetes.objects.companions import COMPANIONS
from muster.kubernetes.objects.console import CONSOLE
from muster.kubernetes.objects.crds import CRD
from muster.kubernetes.packaging.variants import Both, Either, Is, Switch, combinations, condition, relevant, woven
from muster.kubernetes.settings import NAME, HomeSettings, Resources
from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from muster.kubernetes.packaging.variants import Choice, Condition, Line

SWITCHES: Final = (
    Switch("crds", ("ours", "upstream", "none")),
    Switch("mode", ("alone", "beside", "instead")),
    Switch("policies", (True, False)),
    Switch("webhooks", (True, False)),
    Switch("questions", (True, False)),
    Switch("certManager", (True, False)),
    Switch("console", (True, False)),
    Switch("sync", (True, False)),
    Switch("registration", (True, False)),
    Switch("clusterProfiles", (True, False)),
    Switch("monitoring", (True, False)),
    Switch("networkPolicy", (True, False)),
)
#: Programs beside the controllers have objects of their own, which nothing else depends on: each part is tried alone.
_BESIDE: Final = ("sync", "registration")
_COMPANIONS: Final = tuple(each for each in SWITCHES if each.name in (*_BESIDE, "monitoring", "networkPolicy"))
_HOME: Final = tuple(each for each in SWITCHES if each.name not in _BESIDE)
_FIELDS: Final = {
    "certManager": "cert_manager",
    "networkPolicy": "network_policy",
    "clusterProfiles": "cluster_profiles",
}
_NAMESPACE: Final = "mark-of-the-namespace"
_CONSOLE: Final = "mark-of-the-console.example"
_REPLICAS: Final = 987654321
_POD: Final = "markOfThePod"
_ITEM: Final = re.compile(r"\s*- [^\s'\"]+:( |$)")  # of a list of objects
_KEEP: Final = {"helm.sh/resource-policy": "keep"}  # what users wrote is in it
#: What each mark stands for; as a whole value it is quoted, within others it is not.
_MARKS: Final[Mapping[str, str]] = {
    _NAMESPACE: ".Release.Namespace",
    "mark-of-the-image": ".Values.image",
    f"https://{_CONSOLE}": ".Values.console",
    _CONSOLE: '(trimPrefix "https://" .Values.console)',
    "mark-of-the-log-level": ".Values.logLevel",
    "mark-of-cpu": ".Values.resources.cpu",
    "mark-of-memory": ".Values.resources.memory",
    "mark-of-the-cpu-limit": ".Values.resources.cpuLimit",
    "mark-of-the-memory-limit": ".Values.resources.memoryLimit",
}
_FILES: Final[Mapping[str, str]] = {
    "ServiceAccount": "roles",
    "ClusterRole": "roles",
    "ClusterRoleBinding": "roles",
    "Role": "roles",
    "RoleBinding": "roles",
    "Service": "network",
    "NetworkPolicy": "network",
    "Ingress": "console",
    "Issuer": "certificates",
    "Certificate": "certificates",
    "Deployment": "workload",
    "PodDisruptionBudget": "workload",
    "ServiceMonitor": "monitoring",
    "PrometheusRule": "monitoring",
    "ValidatingAdmissionPolicy": "policies",
    "ValidatingAdmissionPolicyBinding": "policies",
    "MutatingAdmissionPolicy": "policies",
    "MutatingAdmissionPolicyBinding": "policies",
    "ValidatingWebhookConfiguration": "webhooks",
    "MutatingWebhookConfiguration": "webhooks",
    "APIService": "questions",
}


def templates() -> dict[str, str]:
    """The text of every template, by the name of its file."""
    files: dict[str, list[str]] = {}
    for among in (_HOME, _COMPANIONS):
        every_choice = combinations(among)
        for (kind, name), found in _variants(among).items():
            switches, every = relevant({choice: found.get(choice, ()) for choice in every_choice}, among)
            file = f"crds/{name.partition('.')[0]}.yaml" if kind == CRD else f"{_file(kind, name)}.yaml"
            files.setdefault(file, []).append(_Template(kind, woven(every), switches).text())
    return {file: "".join(texts) for file, texts in files.items()}


def _variants(among: Sequence[Switch]) -> dict[tuple[str, str], dict[Choice, Sequence[str]]]:
    """The objects that these switches are for, by kind and name, as lines for each combination."""
    found: dict[tuple[str, str], dict[Choice, Sequence[str]]] = {}
    texts = _Texts()
    for choice in combinations(among):
        for obj in objects(_marked(among, choice)):
            name = obj["metadata"]["name"]
            if obj["kind"] != "Namespace" and (name in COMPANIONS) == (among is _COMPANIONS):
                found.setdefault((obj["kind"], name), {})[choice] = texts.lines(obj)
    return found


def _file(kind: str, name: str) -> str:
    if name in COMPANIONS:
        return name.removeprefix(f"{NAME}-")
    return "console" if name == CONSOLE else _FILES[kind]


class _Texts:
    """Objects as lines of YAML; most are the same in most variants."""

    def __init__(self) -> None:
        self._known: dict[bytes, list[str]] = {}

    def lines(self, obj: JsonObject) -> list[str]:
        kept = obj if obj["kind"] != CRD else _with_annotations(obj, _KEEP)
        key = msgspec.json.encode(kept)
        if key not in self._known:
            self._known[key] = units(yaml_lines(kept))
        return self._known[key]


def yaml_lines(obj: Json) -> list[str]:
    """Block style, keys in the given order, no line broken: where a text breaks must not depend on a value."""

    class Plain(yaml.CSafeDumper):
        def ignore_aliases(self, data: Json) -> bool:  # noqa: ARG002 - PyYAML's signature
            return True

    return yaml.dump(obj, Dumper=Plain, sort_keys=False, allow_unicode=True, width=2**31 - 1).splitlines()


def units(lines: Sequence[str]) -> list[str]:
    """Lines, but items of lists that hold no further items in one piece: a rule is there or not, never a part of it."""
    found: list[str] = []
    place = 0
    while place < len(lines):
        end = place + 1
        if _ITEM.match(lines[place]):
            indent = len(lines[place]) - len(lines[place].lstrip())
            while end < len(lines) and lines[end].startswith(" " * (indent + 1)):
                end += 1
            if any(map(_ITEM.match, lines[place + 1 : end])):
                end = place + 1
        found.append("\n".join(lines[place:end]))
        place = end
    return found


def _with_annotations(obj: JsonObject, more: Mapping[str, str]) -> JsonObject:
    metadata: JsonObject = obj["metadata"]
    return obj | {"metadata": {**metadata, "annotations": {**metadata.get("annotations", {}), **more}}}


def _marked(among: Sequence[Switch], choice: Choice) -> HomeSettings:
    """Settings with a combination of switches, and marks for everything else."""
    switched: JsonObject = {_FIELDS.get(each.name, each.name): value for each, value in zip(among, choice, strict=True)}
    switched["console"] = f"https://{_CONSOLE}" if switched.get("console") else ""
    marked: JsonObject = {
        "namespace": _NAMESPACE,
        "image": "mark-of-the-image",
        "log_level": "mark-of-the-log-level",
        "replicas": _REPLICAS,
        "pod": {_POD: True},
        "resources": Resources("mark-of-cpu", "mark-of-memory", "mark-of-the-cpu-limit", "mark-of-the-memory-limit"),
    }
    return HomeSettings(**switched, **marked)


# ----------------------------------------------------------------------------------------------------------------------
# The language of templates.


class _Template:
    """One object: the condition under which it is there, around conditions of its lines."""

    def __init__(self, kind: str, lines: Sequence[Line], switches: Sequence[Switch]) -> None:
        self._kind = kind
        self._lines = lines
        self._switches = switches
        self._there = frozenset(choice for line in lines for choice in line.choices)
        self._everywhere = frozenset(combinations(switches))

    def text(self) -> str:
        outer = condition(self._there, self._everywhere, self._switches)
        asked = expression(outer) if outer is not True else ""
        if self._kind in NEWER_KINDS:
            served = f'.Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1/{self._kind}"'
            asked = f"and ({asked}) ({served})" if asked else served
        body = ["---", *self._body()]
        return "\n".join([f"{{{{- if {asked} }}}}", *body, "{{- end }}"] if asked else body) + "\n"

    def _body(self) -> Iterator[str]:
        """Neighbours that depend on the same share a condition."""
        before: Condition = True
        for line in self._lines:
            wanted = condition(line.choices, self._there, self._switches)
            if wanted != before:
                if before is not True:
                    yield "{{- end }}"
                if wanted is not True:
                    yield f"{{{{- if {expression(wanted)} }}}}"
            before = wanted
            yield from map(_filled, line.text.splitlines())
        if before is not True:
            yield "{{- end }}"


def expression(wanted: Condition) -> str:
    """A condition as templates write it."""
    match wanted:
        case Is(switch=name, value=True):
            return f".Values.{name}"
        case Is(switch=name, value=False):
            return f"not .Values.{name}"
        case Is(switch=name, value=value):
            return f'eq .Values.{name} "{value}"'
        case Both(parts=parts):
            return f"and {' '.join(map(_grouped, parts))}"
        case Either(parts=parts):
            return f"or {' '.join(map(_grouped, parts))}"
        case _:
            return str(wanted).lower()


def _grouped(wanted: Condition) -> str:
    text = expression(wanted)
    return f"({text})" if " " in text else text


def _filled(line: str) -> str:
    """A line with what its marks stand for. What looks like a template in an object is none."""
    text = line.replace("{{", '{{ "{{" }}')
    if text.strip() == f"{_POD}: true":
        indent = len(text) - len(text.lstrip())
        return f"{{{{- with .Values.pod }}}}{{{{ toYaml . | nindent {indent} }}}}{{{{- end }}}}"
    text = text.replace(str(_REPLICAS), "{{ .Values.replicas }}")
    for mark, value in _MARKS.items():
        text = re.sub(rf"(?<=: ){mark}$", f"{{{{ {value} | quote }}}}", text)
        text = text.replace(mark, f"{{{{ {value} }}}}")
    return text
