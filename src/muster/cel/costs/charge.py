"""Whose numbers there are, and what a call is charged: declared beside each function and overload, as its price when it
runs and its estimate before.

cel-go asks three in turn: the library a function came with, the estimator that the program brought (Kubernetes has one,
Open Cluster Management another), and its own table for the language. Each may leave a call to the next; what nobody
charges for costs 1. charging.py says whom an environment asks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NewType

if TYPE_CHECKING:
    from muster.cel.costs.operands import CallFormula
    from muster.cel.costs.runtime import Price

Tariff = NewType("Tariff", str)

LIBRARY = Tariff("library")  # the costs that cel-go's extensions declare for their overloads
KUBERNETES = Tariff("kubernetes")  # by the name of the function, whichever library it came from
OCM = Tariff("ocm")
LANGUAGE = Tariff("language")  # cel-go's own, for what takes longer the more there is


@dataclass(frozen=True, slots=True)
class Charge:
    """What calling costs when it runs, and what is expected of it before."""

    price: Price | None = None
    estimate: CallFormula | None = None
