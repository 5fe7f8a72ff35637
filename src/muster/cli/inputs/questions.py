"""Asking a server a question of `fleet.muster.dev`, and knowing when it does not answer such questions.

Commands ask first and do the same themselves, over what they may list, where nobody answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from muster.cli.inputs.options import with_client
from muster.errors import ApiError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from muster.api.resource import Resource
    from muster.client import Client

Result = TypeVar("Result")
_FORBIDDEN: Final = 403
_NOT_FOUND: Final = 404
_BUSY: Final = (503, 504)  # nobody is there who answers, or not in time


def answered(
    kind: Resource, ask: Callable[[Client], Awaitable[Result]], context: str | None, kubeconfig: str | None
) -> Result | None:
    """The answer; None where a server does not know the kind, does not let this user ask, or nobody answers there."""
    try:
        return with_client(ask, context, kubeconfig)
    except ApiError as error:
        is_unknown = error.code == _NOT_FOUND and not error.name
        is_closed = error.code == _FORBIDDEN and error.kind == kind.plural
        if is_unknown or is_closed or error.code in _BUSY:
            return None
        raise
