"""The digest of a change: what an approval names. Pure.

It is of the placement (by uid, so that one of the same name is another), of the clusters that would go, of the number
of approvals that were used before, and of a salt that is kept with that number: an approval that has done its work
never fits again, whatever comes back, and neither does one from before the number was lost.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def change_digest(uid: str, approvals_used: int, clusters: Iterable[str], salt: str = "") -> str:
    """The same for the same clusters, in whatever order."""
    text = "\n".join((f"{uid} {salt}", str(approvals_used), *sorted(clusters)))
    return hashlib.blake2b(text.encode(), digest_size=10).hexdigest()
