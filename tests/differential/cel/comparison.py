"""One generated program in a peer and in our engine, judged: the same, filed under a documented rule, or different."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.differential.cel.cases import Case
from tests.differential.cel.comparing import aspects
from tests.differential.cel.ours import Answer, ask
from tests.differential.cel.peers import NEWEST
from tests.differential.cel.rules import OLDER, RULES
from tests.differential.cel.world import declared
from tests.differential.peer import Lost

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.differential.cel.peers import Peers


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a program. Without `what` the two sides agree, or `rule` says why they need not."""

    what: str = ""
    rule: str = ""
    ours: str = ""
    theirs: str = ""
    lost: bool = False


def judge(peers: Peers, peer: str, environment: str, texts: Sequence[tuple[str, int]]) -> list[Verdict]:
    """A verdict for each expression over its set of values."""
    answers = peers.ask(peer, environment, texts)
    return [
        _judged(peers, peer, environment, text, chosen, answer)
        for (text, chosen), answer in zip(texts, answers, strict=True)
    ]


def _judged(peers: Peers, peer: str, environment: str, text: str, chosen: int, theirs: Answer | Lost) -> Verdict:
    try:
        ours, faults = ask(text, declared(environment), chosen)
    except Exception as crash:  # whatever it is, it is this program's and not the end of the run
        return Verdict("crash", ours=f"{type(crash).__name__}: {crash}")
    if faults:
        return Verdict(faults[0].partition(":")[0], ours=ours.shown(), theirs=faults[0])
    if isinstance(theirs, Lost):
        return Verdict(lost=True)
    different = aspects(ours, theirs)
    if not different:
        return Verdict()
    case = Case(environment, text, chosen, ours, theirs, _asking(peers, peer, environment, chosen))
    rule = case.rule(RULES)
    if not rule and peer != NEWEST:
        rule = _older(peers, case)
    if rule:
        return Verdict(rule=rule)
    return Verdict(different[0], ours=ours.shown(), theirs=theirs.shown())


def _older(peers: Peers, case: Case) -> str:
    """The peer is of an older version: the newest one must say exactly what we say, or differ by a rule."""
    ask_newest = _asking(peers, NEWEST, case.environment, case.chosen)
    newest = ask_newest(case.text, 1)
    if not newest:
        return ""
    if not aspects(case.ours, newest[0]):
        return OLDER
    return replace(case, theirs=newest[0], ask=ask_newest).rule(RULES)


def _asking(peers: Peers, peer: str, environment: str, chosen: int) -> Callable[[str, int], list[Answer]]:
    """A function that has a program answered so many times; what the peer says nothing to is left out."""

    def asked(text: str, count: int) -> list[Answer]:
        answers = peers.ask(peer, environment, [(text, chosen)] * count)
        return [answer for answer in answers if isinstance(answer, Answer)]

    return asked
