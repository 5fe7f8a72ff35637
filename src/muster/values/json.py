"""JSON as Python has it: the names under which free-form data goes through the program.

Whatever no struct of `api/` describes is one of these: bodies before they are checked, objects of kinds that users
define, schemas. `Any` stands here, and in `cel` and `jq` for their values, so that a signature says which kind of
free-form data it means. Decoding and checking are elsewhere: this module knows names only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""Any JSON value: null, a boolean, a number, a text, a list or an object."""

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object that may be written to."""

JsonMapping: TypeAlias = Mapping[str, Any]
"""A JSON object that is only read."""

Schema: TypeAlias = dict[str, Any]
"""An OpenAPI schema, as Kubernetes writes it."""
