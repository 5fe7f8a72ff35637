"""Makes docs/reference/kubernetes.md: `python -m muster.kubernetes.reference > docs/reference/kubernetes.md`."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Final

import msgspec

from muster.kubernetes.checking.rules import RULES
from muster.kubernetes.manifests import objects
from muster.kubernetes.objects.crds import CRD
from muster.kubernetes.objects.monitoring import ALERTS
from muster.kubernetes.packaging.chart import OLDEST, meanings
from muster.kubernetes.settings import DEFAULTS, HomeSettings, Resources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.kubernetes.checking.rules import Rule
    from muster.values.json import JsonObject

_EVERYTHING: Final = HomeSettings(questions=True, monitoring=True, cert_manager=True)

_INTRODUCTION: Final = """\
# The Kubernetes home

Generated from the code that makes the objects; a test keeps it so. How to install, upgrade, check and remove it is in
the [guide](../guides/kubernetes.md), commands are in [cli.md](cli.md). Kubernetes from {oldest} on.

## Settings

`--set NAME=VALUE` and `-f FILE` of `muster kubernetes manifests|install|upgrade`; the values of the chart have the same
names (it takes the namespace of the release).

| setting | default | |
|---|---|---|
"""
_OBJECTS: Final = """
## Objects

In the order in which they are applied. All carry the label `app.kubernetes.io/part-of: muster`; `muster kubernetes
install` applies them as the field manager `muster-install` and keeps their list, the settings and the version in the
ConfigMap `muster-installation`. Our Pods make the Secret `muster-serving`, the Lease `muster-controllers` and the
ConfigMap of the quarantine themselves.

| object | when |
|---|---|
"""
_ROLES: Final = """
## Roles

| role | becomes part of | may |
|---|---|---|
"""
_RULES: Final = """
## Rules

Where each rule can be enforced; `muster kubernetes check` says where it is on a server. What a definition or a policy
says holds while our Pods are down. Webhooks named `…permissions.muster.dev` refuse then, the others let pass.

| rule | definition | policies | webhooks | if nobody does |
|---|---|---|---|---|
"""
_ALERTS: Final = """
## Alerts

With `monitoring=true`, for the Prometheus operator. What to do is in the [guide](../guides/kubernetes.md#alerts).

| alert | severity | for | |
|---|---|---|---|
"""


def page() -> str:
    """The whole text."""
    parts = [
        _INTRODUCTION.format(oldest=OLDEST.removesuffix(".0-0")),
        *_settings(),
        _OBJECTS,
        *_objects(),
        _ROLES,
        *_roles(),
        _RULES,
        *map(_rule, RULES),
        _ALERTS,
        *(f"| `{each.name}` | {each.severity} | {each.lasting} | {_cell(each.summary)} |\n" for each in ALERTS),
    ]
    return "".join(parts)


def _settings() -> Iterator[str]:
    defaults = msgspec.to_builtins(DEFAULTS)
    for name, told in meanings(HomeSettings).items():
        if name != "resources":
            yield f"| `{name}` | `{json.dumps(defaults[name])}` | {told} |\n"
            continue
        for part, words in meanings(Resources).items():
            yield f"| `{name}.{part}` | `{json.dumps(defaults[name][part])}` | {words} |\n"


def _objects() -> Iterator[str]:
    usual = {_key(each) for each in objects(DEFAULTS)}
    settings = {"questions": "questions", "monitoring": "monitoring", "cert_manager": "certManager"}
    for each in objects(_EVERYTHING):
        needed = [
            f"`{name}=true`"
            for field, name in settings.items()
            if _key(each)
            not in {_key(other) for other in objects(msgspec.structs.replace(_EVERYTHING, **{field: False}))}
        ]
        when = " and ".join(needed) if needed else ""
        if each["kind"] == CRD:
            when = "`crds=ours`" if not each["spec"]["group"].endswith(".muster.dev") else "`crds=ours` or `upstream`"
        assert when or _key(each) in usual  # noqa: S101 - what is not usual must say when it is there
        where = f"{each['metadata']['namespace']}/" if "namespace" in each["metadata"] else ""
        yield f"| {each['kind']} `{where}{each['metadata']['name']}` | {when} |\n"


def _roles() -> Iterator[str]:
    for each in objects(DEFAULTS):
        name: str = each["metadata"]["name"]
        if each["kind"] not in ("ClusterRole", "Role"):
            continue
        part_of = [key.rpartition("-to-")[2] for key in each["metadata"]["labels"] if "-to-" in key]
        told = "; ".join(_granted(rule) for rule in each["rules"])
        label = f"`{name}`" if each["kind"] == "ClusterRole" else f"`{name}` in our namespace"
        yield f"| {label} | {', '.join(part_of)} | {told} |\n"


def _granted(rule: JsonObject) -> str:
    resources = ", ".join(rule["resources"])
    limited = f" named {', '.join(rule['resourceNames'])}" if "resourceNames" in rule else ""
    return f"{', '.join(rule['verbs'])} {resources}{limited}"


def _rule(rule: Rule) -> str:
    stated = "yes" if rule.definition is not None else ""
    names = [", ".join(f"`{name}`" for name in each) for each in (rule.policies, rule.webhooks)]
    return f"| {rule.name} | {stated} | {names[0]} | {names[1]} | {rule.without} |\n"


def _key(obj: JsonObject) -> tuple[str, str]:
    return obj["kind"], obj["metadata"]["name"]


def _cell(text: str) -> str:
    return text.replace("{{ $labels.", "").replace("{{ $value }}", "Some").replace(" }}", "")


if __name__ == "__main__":
    sys.stdout.write(page())
