"""A conflict as a picture that fits into an eye: who requires what, and where requirements part; at most seven nodes.

Made of the facts of a story (`story.py`). Chains are shortened to their ends, with the packages in between on the
edge; what still does not fit becomes one node.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from muster.api.fleet_resolution import MOST_NODES, Conflict, ConflictEdge, ConflictNode
from muster.reasons import sentence
from muster.resolution.constraints import forms as c
from muster.resolution.constraints.reasons import what_is_asked
from muster.resolution.solving import reasons as r
from muster.resolution.solving.clauses import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from muster.resolution.solving.clauses import Clause
    from muster.resolution.solving.problem import Problem

WANT, INSTALLED, OPERATOR, MISSING, API, MORE = "want", "installed", "operator", "missing", "api", "more"
_ORDER: Final = (WANT, INSTALLED, OPERATOR, API, MISSING, MORE)
_UNUSABLE: Final = {"deprecated": "deprecated", "not-allowed": "not allowed", "faulty": "cannot be used"}
_MOST_TEXTS: Final = 3  # of one edge
_LONGEST: Final = 200


class _Id(NamedTuple):
    kind: str
    name: str


@dataclass(slots=True)
class _Node:
    text: str
    parts: bool = False


@dataclass(slots=True)
class _Edge:
    texts: list[str] = field(default_factory=list)
    through: tuple[str, ...] = ()


def conflict_graph(problem: Problem, facts: Iterable[r.Fact]) -> Conflict:
    """The graph of facts that cannot all hold."""
    wanted = list(dict.fromkeys(facts))
    by_fact: dict[r.Fact, list[Clause]] = {fact: [] for fact in wanted}
    for clause in problem.clauses:
        fact = r.group_of(clause)
        if isinstance(fact, r.Fact) and fact in by_fact:
            by_fact[fact].append(clause)
    graph = _Graph()
    for fact, clauses in by_fact.items():
        _draw(graph, problem, fact, clauses)
    graph.mark_ends()
    graph.shorten()
    graph.gather()
    return graph.finished()


def _draw(graph: _Graph, problem: Problem, fact: r.Fact, clauses: Sequence[Clause]) -> None:
    match fact.kind:
        case "want":
            for clause in clauses:
                _draw_want(graph, problem, clause)
        case "stays":
            for clause in clauses:
                entry = clause.reason.entry
                graph.edge(graph.node(INSTALLED, entry.name), graph.node(OPERATOR, r.family(entry)), "stays")
        case "needs":
            for clause in clauses:
                _draw_need(graph, problem, fact.about, clause)
        case "one-provider":
            api = graph.node(API, fact.about, parts=True)
            for package in sorted(_packages(problem, clauses)):
                graph.edge(graph.node(OPERATOR, package), api, "provides it")
        case "takes-place":
            for clause in clauses:
                graph.node(OPERATOR, r.family(clause.reason.current), parts=True)
        case kind:  # one-package and what makes all versions of a package unusable
            why = _UNUSABLE.get(kind, "")
            graph.node(OPERATOR, fact.about, f"{fact.about} ({why})" if why else "", parts=True)


def _draw_want(graph: _Graph, problem: Problem, clause: Clause) -> None:
    want = clause.reason.want
    node = graph.node(WANT, want.name, str(want))
    if clause.reason.impossible is not None:
        missing = sentence(clause.reason.impossible)
        graph.edge(node, graph.node(MISSING, missing, parts=True), want.package)
    elif clause.kind is Kind.DEPENDENCY:
        for package in dict.fromkeys(r.family(problem.entry(other)) for other in clause.others):
            graph.edge(node, graph.node(OPERATOR, package), want.version_range or "any version")


def _draw_need(graph: _Graph, problem: Problem, package: str, clause: Clause) -> None:
    node = graph.node(OPERATOR, package)
    constraint = clause.reason.requirement.constraint
    asked = f"an operator {sentence(what_is_asked(constraint))}"
    meeting = dict.fromkeys(r.family(problem.entry(other)) for other in clause.others)
    if not meeting:
        graph.edge(node, graph.node(MISSING, asked, parts=True), "needs")
    for each in meeting:
        text = constraint.version_range if isinstance(constraint, c.PackageConstraint) else asked
        graph.edge(node, graph.node(OPERATOR, each), text)


def _packages(problem: Problem, clauses: Sequence[Clause]) -> set[str]:
    return {r.family(problem.entry(other)) for clause in clauses for other in clause.others}


class _Graph:
    """Nodes and edges while they are being drawn."""

    def __init__(self) -> None:
        self._nodes: dict[_Id, _Node] = {}
        self._edges: dict[tuple[_Id, _Id], _Edge] = {}

    def node(self, kind: str, name: str, text: str = "", *, parts: bool = False) -> _Id:
        known = self._nodes.setdefault(_Id(kind, name), _Node(text or name))
        known.parts = known.parts or parts
        known.text = text or known.text
        return _Id(kind, name)

    def edge(self, begin: _Id, to: _Id, text: str) -> None:
        if begin != to:
            texts = self._edges.setdefault((begin, to), _Edge()).texts
            if text not in texts:
                texts.append(text)

    def mark_ends(self) -> None:
        """Where nothing says where requirements part, it is where they lead to."""
        if not any(node.parts for node in self._nodes.values()):
            begins = {begin for begin, _ in self._edges}
            for each, node in self._nodes.items():
                node.parts = each not in begins

    def shorten(self) -> None:
        """Leave out what only lies on the way, until it fits."""
        while len(self._nodes) > MOST_NODES:
            passed = next((each for each, node in self._nodes.items() if self._lies_between(each, node)), None)
            if passed is None:
                return
            before = [(begin, edge) for (begin, to), edge in self._edges.items() if to == passed]
            after = [(to, edge) for (begin, to), edge in self._edges.items() if begin == passed]
            for begin, first in before:
                for to, second in after:
                    if begin != to:
                        way = (*first.through, self._nodes[passed].text, *second.through)
                        self._edges.setdefault((begin, to), _Edge(list(second.texts), way))
            self._drop(passed)

    def _lies_between(self, each: _Id, node: _Node) -> bool:
        if node.parts or each.kind != OPERATOR:
            return False
        return any(to == each for _, to in self._edges) and any(begin == each for begin, _ in self._edges)

    def _drop(self, each: _Id) -> None:
        del self._nodes[each]
        self._edges = {ends: edge for ends, edge in self._edges.items() if each not in ends}

    def gather(self) -> None:
        """Make one node of whatever does not fit: last of all of what requirements part at, and of wants."""
        if len(self._nodes) <= MOST_NODES:
            return
        ranked = sorted(
            self._nodes, key=lambda each: (not self._nodes[each].parts, each.kind != WANT, _ORDER.index(each.kind))
        )
        rest = ranked[MOST_NODES - 1 :]
        parts = any(self._nodes[each].parts for each in rest)
        more = self.node(MORE, MORE, f"{len(rest)} more", parts=parts)
        standing = dict.fromkeys(rest, more)
        edges: dict[tuple[_Id, _Id], _Edge] = {}
        for (begin, to), edge in self._edges.items():
            ends = standing.get(begin, begin), standing.get(to, to)
            if ends[0] != ends[1]:
                edges.setdefault(ends, edge)
        self._edges = edges
        for each in rest:
            del self._nodes[each]

    def finished(self) -> Conflict:
        ordered = sorted(self._nodes, key=lambda each: _ORDER.index(each.kind))
        ids = {each: f"n{number}" for number, each in enumerate(ordered, start=1)}
        nodes = tuple(
            ConflictNode(ids[each], each.kind, _shortened(self._nodes[each].text), self._nodes[each].parts)
            for each in ordered
        )
        edges = sorted(self._edges.items(), key=lambda each: (ordered.index(each[0][0]), ordered.index(each[0][1])))
        return Conflict(
            nodes,
            tuple(
                ConflictEdge(begin=ids[begin], to=ids[to], text=_joined(edge.texts), through=edge.through)
                for (begin, to), edge in edges
            ),
        )


def _joined(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - _MOST_TEXTS} more" if len(texts) > _MOST_TEXTS else ""
    return "; ".join(_shortened(text) for text in texts[:_MOST_TEXTS]) + more


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
