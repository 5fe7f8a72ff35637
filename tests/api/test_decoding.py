"""The quick look at types says yes exactly where the slow one finds nothing to complain about."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muster.api import decoding
from muster.api.registry import RESOURCES
from muster.api.schema.object_meta import OBJECT_META

VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.sampled_from([0, 1, -1, 2**31, 2**63, 1.5]),
        st.sampled_from(["", "a", "YQ==", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000000Z", "é"]),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("ab"), inner, max_size=2)),
    max_leaves=4,
)
SCHEMAS = {
    f"{resource.key} {version.name}": (resource, version)
    for resource in RESOURCES.values()
    if resource.builtin
    for version in resource.versions
}


def a_value(data: st.DataObject, schema: dict[str, Any]) -> Any:
    """Mostly what the schema asks for, and now and then anything."""
    if data.draw(st.integers(0, 7)) == 0:
        return data.draw(VALUES)
    match schema.get("type"):
        case "object" if "additionalProperties" in schema:
            return {"k": a_value(data, schema["additionalProperties"])}
        case "object":
            properties = schema.get("properties", {})
            names = (
                data.draw(st.lists(st.sampled_from(sorted(properties)), unique=True, max_size=4)) if properties else []
            )
            return {name: a_value(data, properties[name]) for name in names}
        case "array":
            return [a_value(data, schema["items"]) for _ in range(data.draw(st.integers(0, 2)))]
        case "boolean":
            return True
        case "integer":
            return 1
        case "string" if schema.get("format") == "date-time":
            return data.draw(st.sampled_from(["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000000Z"]))
        case "string":
            return "YQ=="
        case _:
            return data.draw(VALUES)


@given(data=st.data())
def test_metadata_fits_where_nothing_is_wrong_with_it(data: st.DataObject) -> None:
    metadata = a_value(data, dict(OBJECT_META))
    words = decoding._mismatch(metadata, OBJECT_META, "Kind", "metadata", "ObjectMeta")
    assert decoding._METADATA_FITS(metadata) == (words is None)
    assert decoding.metadata_problem(metadata, "Kind") == words


@pytest.mark.parametrize("name", SCHEMAS)
@settings(max_examples=25)
@given(data=st.data())
def test_objects_of_built_in_kinds_fit_where_nothing_is_wrong_with_them(name: str, data: st.DataObject) -> None:
    resource, version = SCHEMAS[name]
    properties = {key: each for key, each in version.schema["properties"].items() if key != "metadata"}
    obj = {key: a_value(data, each) for key, each in properties.items() if data.draw(st.booleans())}
    words = [
        decoding._mismatch(obj[key], each, resource.kind, key, decoding._struct(resource.kind, key))
        for key, each in properties.items()
        if key in obj
    ]
    found = next((each for each in words if each is not None), None)
    assert decoding._fits(version.schema)(obj) == (found is None)
    assert decoding.decode_problem(resource, version, {"metadata": {}, **obj}) == found
