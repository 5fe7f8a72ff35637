"""Three ways through the house, step by step: which function, what it takes, what it gives.

The steps are named here; their types are read off the functions themselves, and a traced run shows that it takes the
steps in this order (test_ways.py). `python -m tests.house` writes them into docs/architecture.md.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from typing import Final

from tests.house.tracing import SOURCE


@dataclass(frozen=True, slots=True)
class Step:
    """One function on the way. `takes` is the parameter that carries what is on its way."""

    module: str
    function: str
    takes: str
    what: str


@dataclass(frozen=True, slots=True)
class Way:
    title: str
    steps: tuple[Step, ...]


PLACEMENT: Final = Way(
    "One Placement, from POST to PlacementDecision",
    (
        Step("hub/rest/application.py", "Application._http", "scope", "a request comes in"),
        Step("hub/auth/authentication.py", "Authentication.enter", "user", "who asks, and how much of it at once"),
        Step("hub/rest/routes.py", "Routes.find", "path", "which resource it is about"),
        Step("hub/rest/verbs.py", "Verbs._create", "call", "POST is create; the body is received within limits"),
        Step("hub/api.py", "Api.create", "body", "the verb without HTTP: permission first"),
        Step("hub/bodies.py", "read_object", "body", "decoded, checked for its type, pruned, defaulted"),
        Step("hub/creation.py", "Creation.create", "obj", "the road of every new object"),
        Step("hub/write_checks.py", "WriteChecks.validated", "new", "schema and admission: all faults at once"),
        Step("admission/placement.py", "checked", "write", "every expression compiles, or says where it does not"),
        Step("hub/objects.py", "stored_form", "obj", "bytes in the version that is stored"),
        Step("hub/storage/store.py", "Store.commit", "changes", "into the next transaction"),
        Step("hub/storage/writer.py", "Writer._run_batch", "first", "one thread writes, commits, fsyncs"),
        Step("hub/storage/store.py", "Store._publish", "commits", "memory and watchers learn of it"),
        Step("client/reflector.py", "Reflector._tell", "encoded", "the controllers' watch brings it"),
        Step("controllers/runtime/mirror.py", "Mirror.put", "encoded", "JSON becomes a struct, once"),
        Step("controllers/placements/world.py", "PlacementWorld.put_placement", "new", "its plan is compiled"),
        Step("controllers/runtime/queue.py", "WorkQueue.add", "key", "it has work to do"),
        Step("controllers/placements/controller.py", "PlacementController.reconcile", "key", "its turn"),
        Step("fleet/masks.py", "Mask.fill", "rows", "selectors over the fleet, each kind of cluster once"),
        Step("placement/schedule/pipeline.py", "schedule", "cycle", "filter, score, pick, spread, group"),
        Step(
            "controllers/placements/guards/guarding.py",
            "PlacementGuards.judge",
            "result",
            "which removals may go now",
        ),
        Step("controllers/placements/drafts.py", "draft_of", "result", "pages, with clusters that guards hold"),
        Step("controllers/placements/decisions.py", "DecisionWriter.write", "draft", "page by page, the mark last"),
        Step("client/guarded.py", "GuardedClient.request", "path", "only while it leads, only from a known version"),
        Step("hub/api.py", "Api.create", "body", "the PlacementDecision goes the way of every write"),
    ),
)

EXPLANATION: Final = Way(
    "One `muster explain placement --cluster`",
    (
        Step("cli/main.py", "main", "", "the command's module is found and run"),
        Step("cli/explain/command.py", "placement", "name", "the command"),
        Step("cli/explain/showing.py", "explain_placement", "name", "what it does, also where it is plainly asked"),
        Step("cli/inputs/askers.py", "ask", "files", "whom to ask: a server, an observer, files"),
        Step("questions/local.py", "FileFleet.__init__", "objects", "files become a world, as a server's lists do"),
        Step("client/explanations.py", "Explainer.placement", "asked", "one question, page by page"),
        Step("questions/local.py", "LocalAsker.ask", "spec", "answered here, as a server would"),
        Step(
            "questions/checking.py",
            "checked_spec",
            "spec",
            "defaulted and checked, by the kind's schema where it is no struct of ours",
        ),
        Step("controllers/questions/answering.py", "QuestionService.explain", "question", "as in the controllers"),
        Step("placement/schedule/plan.py", "plan_read", "placement", "the spec compiled; faults are values"),
        Step("placement/schedule/pipeline.py", "schedule", "cycle", "filter, score, pick, spread, group"),
        Step("placement/explain/explanation.py", "explain_cluster", "result", "what decided, stage by stage"),
        Step("reasons/words.py", "sentence", "reason", "each reason gets its sentence"),
        Step("cli/explain/text.py", "cluster_lines", "found", "lines for people"),
    ),
)

EXPRESSION: Final = Way(
    "One expression, from text to column",
    (
        Step("selectors/cel.py", "compile_cel", "text", "an expression about `managedCluster`"),
        Step("cel/program.py", "compile_program", "text", "compile once"),
        Step("cel/syntax/parser.py", "parse", "text", "text to tree"),
        Step("cel/syntax/lexer.py", "tokenize", "text", "text to tokens"),
        Step("cel/checking/checker.py", "check", "tree", "types, names, overloads"),
        Step("cel/running/planner.py", "plan", "tree", "nothing left to look up"),
        Step("cel/generating/generator.py", "generate", "plan", "one Python function"),
        Step("cel/costs/estimate.py", "estimate_cost", "tree", "what it may cost, before it runs"),
        Step("cel/reads.py", "reads_of", "plan", "what it can see of a cluster, as paths"),
        Step("fleet/fleet.py", "Fleet.subscribe", "selectors", "columns for those paths, a mask for the verdicts"),
        Step("fleet/columns.py", "Column.fill", "values", "equal values share a number"),
        Step("fleet/masks.py", "Mask.fill", "rows", "one evaluation for all clusters that look the same"),
        Step("selectors/cel.py", "CelSelector.match", "obj", "yes, no or error; the reason is made when asked"),
    ),
)

WAYS: Final = (PLACEMENT, EXPLANATION, EXPRESSION)


@cache
def _module(module: str) -> ast.Module:
    return ast.parse((SOURCE / module).read_text(encoding="utf-8"))


@cache
def definition(module: str, function: str) -> ast.FunctionDef | ast.AsyncFunctionDef:
    """A function or method by its name."""
    body: list[ast.stmt] = _module(module).body
    *classes, name = function.split(".")
    for each in classes:
        body = next(node.body for node in body if isinstance(node, ast.ClassDef) and node.name == each)
    return next(
        node
        for node in reversed(body)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name
    )


def taken(step: Step) -> str:
    """The type of what a step takes, as its author wrote it."""
    if not step.takes:
        return ""
    given = definition(step.module, step.function).args
    parameters = [*given.posonlyargs, *given.args, *given.kwonlyargs, *([given.vararg] if given.vararg else [])]
    found = next(each for each in parameters if each.arg == step.takes)
    assert found.annotation is not None
    return ast.unparse(found.annotation)


def given(step: Step) -> str:
    returns = definition(step.module, step.function).returns
    assert returns is not None
    text = ast.unparse(returns)
    return "" if text == "None" else text


def page() -> str:
    """The ways as docs/architecture.md has them."""
    lines: list[str] = []
    for way in WAYS:
        modules = len({step.module for step in way.steps})
        lines += [f"### {way.title}", "", f"{len(way.steps)} steps in {modules} modules.", ""]
        lines += ["| module | function | takes | gives | what happens |", "|---|---|---|---|---|"]
        for step in way.steps:
            types = (f"`{text}`".replace("|", "\\|") if text else "" for text in (taken(step), given(step)))
            lines.append(" | ".join(("| `" + step.module + "`", f"`{step.function}`", *types, step.what + " |")))
        lines.append("")
    return "\n".join(lines)
