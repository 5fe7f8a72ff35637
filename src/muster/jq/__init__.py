"""jq that cannot hurt you: gojq's language, compiled to Python, with budgets inside. It knows nothing of Kubernetes.

    >>> from muster.jq import compile_query
    >>> compile_query("[.disks[] | select(.ssd)] | length > 1").run({"disks": [{"ssd": True}, {"ssd": True}]})
    [True]

Reading order: lexer, parser, tree; resolve, resolved; reference (what everything means); codegen; program.
"""

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
