"""Pieces of CEL that the policies are made of, and texts with expressions in them.

The words of a refusal come from the functions that the hub uses: they are given expressions in the place of names
(`hole`), and what they return is turned into an expression that makes the text (`text`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from muster.api.managed_cluster_set import DEFAULT_EXCLUSIVE_KEY
from muster.clustersets.permissions import refusal_line
from muster.selectors.membership import EXCLUSIVE_TYPES

if TYPE_CHECKING:
    from muster.clustersets.permissions import Permission

_HOLE: Final = re.compile("<<(.*?)>>")


def quoted(value: str) -> str:
    """A string literal."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"'{escaped}'"


def hole(expression: str) -> str:
    """What stands in a text for the value of an expression."""
    return f"<<{expression}>>"


def text(template: str) -> str:
    """The expression that makes a text, with the values of the expressions in its holes."""
    parts = _HOLE.split(template)  # literals and expressions by turns
    shown = [quoted(part) if index % 2 == 0 else part for index, part in enumerate(parts)]
    return " + ".join(part for part in shown if part != "''")


USER: Final = hole("request.userInfo.username")


def refusal(permission: Permission) -> str:
    """The expression that makes the refusal of somebody who lacks a permission."""
    return text(refusal_line(USER, permission))


def allowed(permission: Permission, name: str) -> str:
    """Whether whoever asks has the permission; `name` is the expression of the name it is for."""
    resource = f"authorizer.group({quoted(permission.group)}).resource({quoted(permission.resource)})"
    part = f".subresource({quoted(permission.subresource)})" if permission.subresource else ""
    return f"{resource}{part}.name({name}).check({quoted(permission.verb)}).allowed()"


def label(obj: str, key: str) -> str:
    """The value of a label; empty where there is none. `oldObject` is null on create."""
    labels = f"{obj}.metadata.labels"
    there = f"has({labels}) && {key} in {labels}"
    guarded = f"{obj} != null && {there}" if obj == "oldObject" else there
    return f"({guarded} ? {labels}[{key}] : '')"


def labels_differ() -> str:
    """Whether a write changes labels: heartbeats and most other writes do not."""
    return f"oldObject == null || {_labels('object')} != {_labels('oldObject')}"


def _labels(obj: str) -> str:
    return f"(has({obj}.metadata.labels) ? {obj}.metadata.labels : {{}})"


def is_exclusive(cluster_set: str) -> str:
    """Whether a set has its members by a label of its own, in any of its versions."""
    selector = f"{cluster_set}.spec.clusterSelector"
    types = ", ".join(quoted(each) for each in EXCLUSIVE_TYPES)
    return (
        f"(!has({cluster_set}.spec) || !has({selector}) || !has({selector}.selectorType) || "
        f"{selector}.selectorType in [{types}])"
    )


def key_of(cluster_set: str) -> str:
    """The label that decides membership of an exclusive set."""
    key = f"{cluster_set}.spec.exclusiveKey"
    is_set = f"has({cluster_set}.spec) && has({key}) && {key} != ''"
    return f"({is_set} ? {key} : {quoted(DEFAULT_EXCLUSIVE_KEY)})"
