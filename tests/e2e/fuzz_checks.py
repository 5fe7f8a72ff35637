"""The check that `make fuzz` adds to schemathesis': a server error that is none of the real server's own.

A kube-apiserver answers a few mistakes of clients with a bare 500 (a resourceVersion that is no number, for one), and
so does the hub. A failure of the hub itself has a reason, InternalError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import schemathesis

if TYPE_CHECKING:
    from schemathesis import Case, Response


@schemathesis.check
def no_failure_of_the_hub(ctx: Any, response: Response, case: Case[Any]) -> None:
    if response.status_code < 500:
        return
    status = response.json()
    reason = status.get("reason", "")
    if status.get("kind") != "Status" or reason not in ("", "Timeout"):
        raise AssertionError(f"{case.method} {case.path}: {response.status_code} {status}")
