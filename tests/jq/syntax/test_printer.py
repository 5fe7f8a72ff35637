"""Tree to text: parentheses only where they are needed."""

from __future__ import annotations

import pytest

from muster.jq.syntax.parser import parse
from muster.jq.syntax.printer import print_query
from muster.source import Source


@pytest.mark.parametrize(
    "text",
    [
        ".a.b[0][1:2][]?",
        "1, 2 | .[]",
        "(1 | 2), .[]",
        "1 - (2 - 3)",
        "if .a then 1 elif .b then 2 else 3 end",
        "reduce .[] as [$a, {b: $c}] (0; . + $a)",
        "foreach .[] as $x (0; . + $x; [$x, .])",
        "label $out | 1, break $out",
        "def f($a; g): $a | g; f(1; .a)",
        "try error(1) catch .",
        '"a\\(.b)c"',
        '@base64 "x"',
        "{a, $b, c: 1 | 2, (.d): 3}",
        ". as [$a] ?// $a | $a",
        "1 .a",
        ".. | .a?",
        "-(1 + 2)",
        "(-.a).b",
    ],
)
def test_what_is_written_well_is_printed_as_it_is(text: str) -> None:
    assert print_query(parse(Source(text)).body) == text


def test_needless_parentheses_go() -> None:
    assert print_query(parse(Source("((1)) + ((2) * (3)) | (.a)")).body) == "1 + 2 * 3 | .a"
