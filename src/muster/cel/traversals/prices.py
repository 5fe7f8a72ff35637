"""Prices that can be told only by looking at everything in a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from muster.cel.costs.meter import exceeded, spend, spend_on_text
from muster.cel.costs.runtime import LIST, MAP, TRAVERSAL

if TYPE_CHECKING:
    from muster.cel.costs.meter import Meter
    from muster.cel.values.value import Value


_LEAVES = frozenset({int, bool, type(None)})  # beside texts and doubles


def tree_traversal(meter: Meter, value: Value) -> int:
    """Kubernetes' price of walking over a value with everything in it."""
    total = 0
    pending = [value]
    while pending:
        item = pending.pop()
        spend(meter, 1)
        if isinstance(item, str):
            spend_on_text(meter, len(item))
            total += int(len(item.encode("utf-8", "surrogatepass")) * TRAVERSAL)
        elif isinstance(item, bytes):
            total += int(len(item) * TRAVERSAL)
        elif isinstance(item, (list, tuple)):
            if len(item) > meter[0]:
                raise exceeded(meter)
            pending.extend(item)
        elif isinstance(item, Mapping):
            if 2 * len(item) > meter[0]:
                raise exceeded(meter)
            pending.extend(item.keys())
            pending.extend(item.values())
        else:
            total += 1
    return total


def json_tree(meter: Meter, value: Value) -> int:
    """What making a parsed document costs: each map and each list in it."""
    spend(meter, 1)
    total = 0
    containers = [value]
    for item in containers:
        kind = item.__class__
        if kind is dict:
            total += MAP
            items = item.values()
        elif kind is list or isinstance(item, (list, tuple)):
            total += LIST
            items = item
        elif isinstance(item, Mapping):  # an abstract class is slow to ask
            total += MAP
            items = item.values()
        else:
            continue
        meter[0] -= len(items)  # each of them is a visit, also those that are not worth a place in the queue
        if meter[0] < 0:
            raise exceeded(meter)
        for each in items:
            kind = each.__class__
            if kind is not str and kind is not float and kind not in _LEAVES:
                containers.append(each)
    return total
