"""What one pass over the JSON of an object finds: what it is, and where the parts stand that columns are filled from.

Whoever reads large files finds names and kinds in that pass, and hands the rest of it to the fleet (`Fleet.put_many`),
which then need not look again. It knows neither columns nor files.
"""

from __future__ import annotations

from msgspec import UNSET, Raw, Struct, UnsetType, field

__all__ = ["Shape"]


class _Metadata(Struct, gc=False):
    name: str | UnsetType = UNSET
    namespace: str = ""
    generate_name: str = field(default="", name="generateName")
    labels: Raw | UnsetType = UNSET
    deletion: Raw | UnsetType = field(default=UNSET, name="deletionTimestamp")


class _Spec(Struct, gc=False):
    taints: Raw | UnsetType = UNSET


class _Status(Struct, gc=False):
    claims: Raw | UnsetType = field(default=UNSET, name="clusterClaims")
    version: Raw | UnsetType = UNSET


class Shape(Struct, gc=False):
    """An object of any kind, if its parts are objects where clusters have objects."""

    metadata: _Metadata
    api_version: str = field(default="", name="apiVersion")
    kind: str = ""
    spec: _Spec | UnsetType = UNSET
    status: _Status | UnsetType = UNSET
