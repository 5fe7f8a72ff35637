"""Whatever is given as a constraint or a blob is read or refused; nothing else happens."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from muster.reasons import sentence
from muster.resolution import CatalogBuilder, Property, Request, Requirement, Want, resolve
from muster.resolution.constraints.forms import (
    InvalidConstraintError,
    normal_form,
    shipped_form,
)
from muster.resolution.constraints.matching import Matcher
from muster.resolution.constraints.reasons import what_is_asked
from muster.resolution.constraints.spellings import read_any_spelling, read_requirement
from muster.resolution.constraints.upstream_spelling import read_upstream
from muster.resolution.lint import lint_catalogs
from muster.resolution.telling.upstream_words import constraint_text

SETTINGS = settings(max_examples=150, deadline=None)
KEYS = st.sampled_from(
    (
        *("cel", "CEL", "rule", "message", "failureMessage", "action", "id", "optional", "evaluator", "package"),
        *("packageName", "name", "versionRange", "gvk", "group", "version", "kind", "all", "any", "not", "none"),
        *("constraints", "propertyEquals", "value", "label", "schema", "entries", "properties", "type"),
    )
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 5),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["true", "cel", "require", ">=1.0.0", "a", "olm.bundle", "olm.channel", "", "x" * 50]),
    st.text(max_size=5),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=12,
)
TYPES = st.sampled_from(
    (
        *("olm.constraint", "olm.constraint.cel", "olm.gvk.required", "olm.package.required", "olm.label.required"),
        *("olm.gvk", "olm.package", "olm.label", "olm.deprecated", "olm.constraint.other", "certified"),
    )
)
PROPERTIES = st.builds(Property, TYPES, VALUES, st.one_of(st.none(), st.text(max_size=8)))


@SETTINGS
@given(PROPERTIES)
def test_a_property_is_a_requirement_or_none_or_refused(prop: Property) -> None:
    for read in (read_requirement, read_any_spelling, read_upstream):
        try:
            requirement = read(prop)
            if requirement is None:
                continue
            Matcher().check(requirement.constraint)
        except InvalidConstraintError:
            continue
        assert sentence(what_is_asked(requirement.constraint))
        assert isinstance(constraint_text(requirement.constraint), str)
        if read is read_requirement and prop.type.startswith("olm.constraint"):
            again = read_requirement(Property("olm.constraint", shipped_form(requirement)))
            assert isinstance(again, Requirement)
            assert normal_form(again) == normal_form(requirement)


@SETTINGS
@given(st.lists(st.dictionaries(KEYS, VALUES, max_size=6), max_size=4))
def test_any_blobs_make_a_catalog(blobs: list[dict[str, Any]]) -> None:
    builder = CatalogBuilder("cat")
    for place, blob in enumerate(blobs):
        builder.add_object(blob, f"f:{place}")
    catalog = builder.build()
    lint_catalogs([catalog], builder.places)
    resolve(Request((catalog,), (Want("a", "a"),)))


@SETTINGS
@given(st.lists(PROPERTIES, max_size=3), st.sampled_from(["muster", "olm-v0"]))
def test_any_properties_of_a_bundle_are_survived(properties: list[Property], dialect: Any) -> None:
    builder = CatalogBuilder("cat")
    raw = [{"type": prop.type, "value": prop.value} for prop in properties]
    builder.add_object({"schema": "olm.bundle", "name": "a.v1", "package": "a", "properties": raw})
    builder.add_object({"schema": "olm.channel", "name": "stable", "package": "a", "entries": [{"name": "a.v1"}]})
    catalog = builder.build()
    lint_catalogs([catalog])
    resolve(Request((catalog,), (Want("a", "a"),), dialect=dialect))
