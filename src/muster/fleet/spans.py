"""Rows that follow each other, as nearly all do after a load: a slice takes them at once, and copies nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def span(rows: NDArray[np.intp]) -> slice | None:
    """The slice of these rows, which are in ascending order; None where some in between are not among them.

    >>> import numpy as np
    >>> span(np.array([3, 4, 5])), span(np.array([3, 5]))
    (slice(3, 6, None), None)
    """
    if not len(rows):
        return slice(0)
    first, after = int(rows[0]), int(rows[-1]) + 1
    return slice(first, after) if after - first == len(rows) else None
