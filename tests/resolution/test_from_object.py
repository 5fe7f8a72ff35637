"""Specs of Resolutions as requests."""

from __future__ import annotations

import msgspec

from muster.api.resolution import ResolutionSpec
from muster.resolution import Dialect, Installed, OptionalPolicy, Property, Want
from muster.resolution.from_object import request_of
from tests.resolution.builders import a_catalog, bundle


def test_a_spec_becomes_a_request() -> None:
    spec = msgspec.convert(
        {
            "wants": [
                {"package": "a", "channel": "beta", "range": ">1.0.0", "priority": 3, "catalog": "cat"},
                {"package": "b", "pin": "1.2.3", "startingCSV": "b.v1.2.3"},
            ],
            "installed": [
                {"name": "a.v1.0.0"},
                {"name": "x.v1", "package": "x", "version": "1.0.0", "properties": [{"type": "p", "value": [1]}]},
            ],
            "facts": [{"type": "kubernetes", "value": "1.33"}],
            "optional": "ignore",
            "compat": "olm-v0",
        },
        ResolutionSpec,
    )
    catalog = a_catalog(bundle("a", "1.0.0", {"type": "q", "value": 1}))
    request = request_of(spec, [catalog])
    assert request.catalogs == (catalog,)
    assert request.wants == (
        Want("a", "a", "beta", ">1.0.0", catalog="cat", installed="a.v1.0.0", priority=3),
        Want("b", "b", version_range="=1.2.3", starting="b.v1.2.3"),
    )
    # What is not said of an installed bundle is taken from the catalogs.
    own = Property("olm.package", {"packageName": "a", "version": "1.0.0"})
    assert request.installed == (
        Installed("a.v1.0.0", "1.0.0", "a", (Property("q", 1), own)),
        Installed("x.v1", "1.0.0", "x", (Property("p", [1]),)),
    )
    assert request.facts == (Property("kubernetes", "1.33"),)
    assert (request.dialect, request.optional) == (Dialect.OLM_V0, OptionalPolicy.IGNORE)


def test_an_empty_spec_asks_for_nothing() -> None:
    request = request_of(ResolutionSpec(), [])
    assert (request.wants, request.installed, request.dialect) == ((), (), Dialect.MUSTER)
