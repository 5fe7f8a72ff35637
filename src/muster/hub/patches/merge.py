"""JSON merge patches (RFC 7396). Called by the API machinery; pure."""

from __future__ import annotations

from muster.values.json import Json


def merge_patched(target: Json, patch: Json) -> Json:
    """The target with the patch merged in: null removes a member, objects merge, everything else replaces."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge_patched(result.get(key), value)
    return result
