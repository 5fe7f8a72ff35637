"""Whatever is handed to whatever is public: an answer, or an error of ours; never one from deep inside."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

import muster
from muster import cel, jq, selectors
from muster.cli.references.python import MODULES, public

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]
CLUSTER = {"kind": "ManagedCluster", "metadata": {"name": "a", "labels": {"cloud": "Amazon"}}}
PLACEMENT = {
    "apiVersion": "cluster.open-cluster-management.io/v1beta1",
    "kind": "Placement",
    "metadata": {"name": "p", "namespace": "n"},
    "spec": {},
}
HOST = {"kind": "Agent", "metadata": {"name": "h", "namespace": "n"}, "status": {"inventory": {"cpu": {"count": 64}}}}
BIG = {"labelKey": "size", "labelValue": "big", "query": ".cpu.count > 8"}
CLASSIFICATION = {"kind": "AgentClassification", "metadata": {"name": "c", "namespace": "n"}, "spec": BIG}
SHOP = str(ROOT / "examples" / "03-resolve-operators" / "catalog.yaml")
ENV = cel.environment("standard").with_variables(x=cel.DYN)
TREE = cel.parse("x.a == 1", ENV)
PROGRAM = cel.compile_program("x.a == 1", ENV)
SIZE = cel.call("f_string", (cel.STRING,), cel.INT, len)
QUERY = jq.compile_query(".a + $least", variables=["least"])
INPUT = {"x": {"a": 1}}
FLEET = muster.load(ROOT / "examples" / "05-why-not" / "fleet.yaml")
EVERY = selectors.IdentityLabelPurposeSelector


class Odd:
    """What no function of ours has heard of."""


WRONG: Final[tuple[object, ...]] = (
    None,
    5,
    -1,
    1.5,
    float("nan"),
    10**400,
    True,
    "text",
    "\0",
    "\ud800",
    b"x",
    [],
    {},
    {1},
    Odd(),
    int,
    [5],
    [None],
    [[]],
    {5: 5},
    {"a": 5},
    {"metadata": 5},
    {"metadata": {"name": 5}},
    {"metadata": {"name": "x"}, "spec": {"predicates": [5]}},
    [{"kind": "ManagedCluster", "metadata": {"name": "x", "labels": {"a": "\ud800"}}}],
    [{"kind": "AgentClassification", "metadata": {"name": "x"}, "spec": 5}],
    {"matchLabels": {"a": 5}},
    {"matchPurposes": [5]},
)

Made = dict[str, tuple["Callable[..., object]", dict[str, Any]]]

# Every public function, with arguments that it takes; each of them is then replaced by all that is wrong.
FUNCTIONS: Final[Made] = {
    "muster.load": (lambda path: muster.load(path), {"path": str(ROOT / "examples" / "05-why-not" / "fleet.yaml")}),
    "muster.select": (
        muster.select,
        {"fleet": [CLUSTER], "cel": "true", "labels": "cloud=Amazon", "kind": "ManagedCluster", "now": None},
    ),
    "muster.select by selector": (muster.select, {"fleet": [CLUSTER], "selector": {"matchLabels": {}}}),
    "muster.select by placement": (muster.select, {"fleet": [CLUSTER], "placement": PLACEMENT}),
    "muster.explain": (muster.explain, {"fleet": [CLUSTER], "placement": PLACEMENT, "cluster": "a", "now": None}),
    "muster.explain a set": (muster.explain, {"fleet": FLEET, "cluster_set": "prod"}),
    "muster.plan": (
        muster.plan,
        {
            "fleet": [CLUSTER],
            "objects": [PLACEMENT],
            "delete": (),
            "fail_if_removes": 1,
            "fail_if_empty": False,
            "with_status": False,
            "now": None,
        },
    ),
    "muster.lint": (muster.lint, {"objects": [PLACEMENT], "fleet": [CLUSTER], "now": None}),
    "muster.classify": (muster.classify, {"hosts": [HOST], "classifications": [CLASSIFICATION]}),
    "muster.resolve": (
        muster.resolve,
        {"catalogs": SHOP, "want": "shop", "installed": [], "facts": {}, "optional": "install", "seconds": 30},
    ),
    "muster.resolve installed": (
        lambda **given: muster.resolve(SHOP, "shop", installed=[given]),
        {"name": "x", "package": "y", "version": "1.0.0", "properties": [], "owner": ""},
    ),
    "muster.cel.call": (
        cel.call,
        {"overload_id": "a", "args": (cel.STRING,), "result": cel.STRING, "impl": str, "metered": False},
    ),
    "muster.cel.method": (
        cel.method,
        {"overload_id": "a", "args": (cel.STRING,), "result": cel.STRING, "impl": str, "metered": False},
    ),
    "muster.cel.check": (cel.check, {"tree": TREE, "env": ENV, "budget": None}),
    "muster.cel.check_input": (cel.check_input, {"value": {"a": 1}, "path": ""}),
    "muster.cel.compile_expression": (cel.compile_expression, {"text": "1", "env": ENV, "budget": None}),
    "muster.cel.compile_program": (cel.compile_program, {"text": "1", "env": ENV, "budget": None}),
    "muster.cel.make_program": (cel.make_program, {"text": "1", "env": ENV, "charging": None, "budget": None}),
    "muster.cel.displayed": (cel.displayed, {"shown": cel.INT}),
    "muster.cel.environment": (cel.environment, {"name": "standard"}),
    "muster.cel.list_of": (cel.list_of, {"element": cel.INT}),
    "muster.cel.map_of": (cel.map_of, {"key": cel.INT, "value": cel.INT}),
    "muster.cel.no_hints": (lambda path, kind: cel.no_hints(path, kind), {"path": ("x",), "kind": cel.INT}),
    "muster.cel.optional_of": (cel.optional_of, {"value": cel.INT}),
    "muster.cel.opaque": (lambda name, of: cel.opaque(name, of), {"name": "x", "of": cel.INT}),
    "muster.cel.struct": (cel.struct, {"name": "x"}),
    "muster.cel.type_param": (cel.type_param, {"name": "x"}),
    "muster.cel.parse": (cel.parse, {"text": "1", "env": ENV, "budget": None}),
    "muster.cel.show_path": (cel.show_path, {"path": ("a", "b")}),
    "muster.cel.unparse": (cel.unparse, {"tree": TREE, "node": None}),
    "muster.jq.compile_query": (jq.compile_query, {"text": ".", "variables": []}),
    "muster.jq.decode_prefix": (jq.decode_prefix, {"text": "1", "start": 0}),
    "muster.jq.decoded_json": (jq.decoded_json, {"value": 1}),
    "muster.jq.from_json": (jq.from_json, {"text": "1"}),
    "muster.jq.pretty_json": (jq.pretty_json, {"value": 1, "meter": None, "indent": 2}),
    "muster.jq.short_json": (jq.short_json, {"value": 1, "longest": 2}),
    "muster.jq.to_json": (jq.to_json, {"value": 1, "meter": None}),
    "muster.selectors.compile_selector": (
        selectors.compile_selector,
        {"spec": selectors.CelSelectorSpec(("true",)), "limits": None},
    ),
    "muster.selectors.spec_of": (selectors.spec_of, {"given": {"matchLabels": {"a": "b"}}}),
}

# What objects of public classes do. Uint is left out: it is Python's int with another name.
METHODS: Final[Made] = {
    "Objects.named": (FLEET.named, {"name": "aws-1", "kind": "ManagedCluster"}),
    "Objects.of_kind": (lambda kind: FLEET.of_kind(kind), {"kind": "ManagedCluster"}),
    "Selection.why": (muster.select([CLUSTER], "true").why, {"name": "a"}),
    "CompileBudget": (lambda limit: cel.compile_program("1 + 1", ENV, cel.CompileBudget(limit)), {"limit": 9000}),
    "Timestamp": (cel.Timestamp, {"ns": 1}),
    "Duration": (cel.Duration, {"ns": 1}),
    "Env.extend": (ENV.extend, {"functions": [], "variables": [], "macros": [], "constants": [], "validators": []}),
    "Env.extend libraries": (lambda given: ENV.extend(given), {"given": cel.Library("x")}),
    "Env.extend fields": (ENV.extend, {"container": "", "options": cel.Options(), "limits": cel.Limits()}),
    "Env.extend overloads": (
        lambda name, given: cel.compile_program("f('a')", ENV.extend(functions=[cel.Function(name, given)])),
        {"name": "f", "given": (SIZE,)},
    ),
    "Env.with_variables": (lambda of: ENV.with_variables(y=of), {"of": cel.INT}),
    "Env.with_options": (ENV.with_options, {"optional_syntax": True}),
    "Program.evaluate": (PROGRAM.evaluate, {"variables": INPUT, "cost_limit": 100}),
    "Program.evaluate values": (lambda x: PROGRAM.evaluate({"x": x}), {"x": {"a": 1}}),
    "Program.cost": (PROGRAM.cost, {"variables": INPUT, "cost_limit": 100}),
    "Program.trace": (PROGRAM.trace, {"variables": INPUT, "cost_limit": 100}),
    "Program.estimate": (
        # `int` is among the wrong values and can be called, as hints can: it would be taken for one. Wrong on purpose.
        lambda sizes: PROGRAM.estimate(None if sizes is int else sizes),  # type: ignore[arg-type]
        {"sizes": cel.no_hints},
    ),
    "jq Program.run": (QUERY.run, {"value": {"a": 1}, "variables": {"least": 1}, "limits": jq.Limits()}),
    "jq Program.run host": (lambda host: jq.compile_query("now").run(1, host=host), {"host": jq.Host()}),
    "jq Program.run values": (lambda least: QUERY.run({"a": 1}, variables={"least": least}), {"least": 1}),
    "jq Program.outputs": (
        lambda **given: list(QUERY.outputs(**given)),
        {"value": {"a": 1}, "variables": {"least": 1}, "limits": jq.Limits(), "host": jq.Host()},
    ),
    "jq Program.explain": (
        QUERY.explain,
        {"value": {"a": 1}, "variables": {"least": 1}, "limits": jq.Limits(), "host": jq.Host(), "at_most": 9},
    ),
    "jq Program.metered": (
        lambda meter: list(QUERY.metered({"a": 1}, meter, {"least": 1})),
        {"meter": QUERY.meter()},
    ),
    "jq Limits": (
        jq.Limits,
        {"steps": 9, "cells": 9, "depth": 9, "outputs": 9, "integer_bits": 9, "seconds": 1.0},
    ),
    "jq Host": (jq.Host, {"zone": jq.Host().zone}),
    "EmbeddedSelector.of": (EVERY.of, {"document": {}, "path": "x"}),
    "EmbeddedSelector.matches": (EVERY().matches, {"obj": CLUSTER}),
    "EmbeddedSelector.match": (EVERY().match, {"obj": CLUSTER}),
    **{
        f"EmbeddedSelector({field}).{method}": (
            lambda value, field=field, method=method: getattr(EVERY(**{field: value}), method)(
                *([CLUSTER] if method.startswith("match") else [])
            ),
            {"value": None},
        )
        for field in ("match_identities", "match_labels", "match_expressions", "match_purposes")
        for method in ("document", "empty", "matches", "match", "validate", "faults")
    },
    **{
        f"Selector.match of {next(iter(given))}": (
            selectors.compile_selector(selectors.spec_of(given)).match,
            {"cluster" if "kind" in given else "obj": CLUSTER},
        )
        for given in (
            {"matchLabels": {"a": "b"}},
            {"labelSelector": {"matchLabels": {"a": "b"}}},
            {"claimSelector": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}},
            {"celExpressions": ["true"]},
            {"kind": "ManagedClusterSet", "metadata": {"name": "x"}},
        )
        if "labelSelector" not in given and "claimSelector" not in given
    },
    "Selector.match of labels": (
        selectors.compile_selector(selectors.LabelSelectorSpec({"matchLabels": {"a": "b"}})).match,
        {"obj": CLUSTER},
    ),
    "Selector.match of claims": (
        selectors.compile_selector(selectors.ClaimSelectorSpec({"matchLabels": {"a": "b"}})).match,
        {"obj": CLUSTER},
    ),
    **{
        f"{each.__name__}": (lambda given, each=each: selectors.compile_selector(each(given)), {"given": right})
        for each, right in (
            (selectors.CelSelectorSpec, ("true",)),
            (selectors.LabelSelectorSpec, {}),
            (selectors.ClaimSelectorSpec, {}),
            (selectors.ClusterSelectorSpec, {}),
            (selectors.MembershipSpec, {"kind": "ManagedClusterSet", "metadata": {"name": "x"}}),
        )
    },
}


def test_every_public_function_is_tried() -> None:
    expected = {
        f"{module}.{name}"
        for module in MODULES
        for name in public(import_module(module))
        if inspect.isfunction(getattr(import_module(module), name))
    }
    assert {name.partition(" ")[0] for name in FUNCTIONS} == expected


@pytest.mark.parametrize("name", [*FUNCTIONS, *METHODS])
def test_whatever_is_handed_in_gives_an_answer_or_an_error_of_ours(name: str) -> None:
    function, right = (FUNCTIONS | METHODS)[name]
    str(function(**right))
    foreign = []
    for argument in right:
        for wrong in WRONG:
            try:
                str(function(**{**right, argument: wrong}))
            except muster.MusterError as error:
                str(error)  # its words can be written
            except Exception as error:
                foreign.append(f"{argument}={wrong!r:.60}: {type(error).__name__}: {error}")
    assert foreign == []
