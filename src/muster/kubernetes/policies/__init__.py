"""Permissions that hold in the API server itself, as policies and as validations of definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.values.json import JsonObject, Schema

if TYPE_CHECKING:
    from muster.kubernetes.settings import HomeSettings


def policies(settings: HomeSettings) -> list[JsonObject]:  # noqa: ARG001 - the shape that manifests call
    """The policies and their bindings."""
    return []


def crd_validations(key: str, version: str, schema: Schema) -> Schema:  # noqa: ARG001 - the shape that manifests call
    """The schema of a kind's version, with the rules that a definition can carry."""
    return schema
