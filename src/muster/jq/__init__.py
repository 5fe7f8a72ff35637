"""jq that cannot hurt you: gojq's language, compiled to Python, with budgets inside. It knows nothing of Kubernetes.

    >>> from muster.jq import compile_query
    >>> compile_query("[.disks[] | select(.ssd)] | length > 1").run({"disks": [{"ssd": True}, {"ssd": True}]})
    [True]

Reading order: lexer, parser, tree; resolve, resolved; reference (what everything means); codegen; program.

Everything is imported with the first name that is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.lazy import lazy_names

if TYPE_CHECKING:
    from muster.jq.budgets import Host, Limits, Meter
    from muster.jq.errors import HaltError, JqError
    from muster.jq.program import Explanation, Program, Recorded, compile_query
    from muster.jq.values.json_reading import InvalidJsonError
    from muster.jq.values.printing import decode_prefix, decoded_json, from_json, pretty_json, short_json, to_json

__all__ = [
    "Explanation",
    "HaltError",
    "Host",
    "InvalidJsonError",
    "JqError",
    "Limits",
    "Meter",
    "Program",
    "Recorded",
    "compile_query",
    "decode_prefix",
    "decoded_json",
    "from_json",
    "pretty_json",
    "short_json",
    "to_json",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "muster.jq.budgets": ("Host", "Limits", "Meter"),
        "muster.jq.errors": ("HaltError", "JqError"),
        "muster.jq.program": ("Explanation", "Program", "Recorded", "compile_query"),
        "muster.jq.values.json_reading": ("InvalidJsonError",),
        "muster.jq.values.printing": (
            "decode_prefix",
            "decoded_json",
            "from_json",
            "pretty_json",
            "short_json",
            "to_json",
        ),
    },
)
