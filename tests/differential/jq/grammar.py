"""Queries by the grammar of the language: what is bound outside may be used inside. Also exchanges words of a query.

Used by generator.py. Loops end by themselves or are cut by `limit`, because the real program has no budgets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from muster.jq.syntax.lexer import Lexer
from tests.differential.jq import vocabulary as v

if TYPE_CHECKING:
    import random


@dataclass(frozen=True, slots=True)
class Names:
    """What a query may mention at some place."""

    variables: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


NO_NAMES: Final = Names()

_SMALL: Final = (
    "length", "keys", "type", "not", "add", "tostring", "tojson", "first", "last", "reverse", "sort", "unique",
    "to_entries", "from_entries", "flatten", "min", "max", "any", "all", "values", "scalars", "objects", "arrays",
    "numbers", "strings", "ascii_downcase", "explode", "floor", "tonumber", "paths", "tostream", "transpose", "keys[]",
    "to_entries[]", "@json", "@text", "@base64", "@csv", "@sh", "abs", "range(3)", "combinations", "trim",
    'ltrimstr("a")', "nan", "infinite", "env", "$ENV", "empty", "error", "iterables", "nulls", "booleans",
    "error(null)", "ascii", "implode", "fromjson", "utf8bytelength", "getpath([])", "isvalid(.a)", "halt_error", "sqrt",
    "@html", "@uri", "tojson | fromjson", "toarray", "have_decnum", "splits(\"a\")", "ascii_upcase", "isnan", "@tsv",
    "@base64d", "ltrim", "todate", "fromdate", "isempty(.[])", "error(\"x\")", "$__loc__", "trimstr(\"a\")",
    "limit(1; .[])", "halt", "recurse", "getpath([\"a\", \"b\"])", "input_filename", "@urid", "toboolean", "leaf_paths",
    "finites", "normals",
)  # fmt: skip
_ONE: Final = (
    "map({})", "select({})", "[{}]", "({})?", "try ({})", "first({})", "last({})", "any({})", "all({})", "isempty({})",
    "path({})", "del({})", "paths({})", "sort_by({})", "group_by({})", "min_by({})", "max_by({})", "unique_by({})",
    "map_values({})", "with_entries({})", "recurse({}; . != null)?", "limit(2; {})", "skip(1; {})", "nth(1; {})",
    "walk({})", "to_entries | map({})", "[.[]? | {}]", "-({})", "has({})", "getpath([{}])", "pick({})", "error({})",
    "(({}) | not)", "add({})", "IN({})", "[limit(3; repeat({}))]", "[limit(5; recurse({}))]",
    "[limit(4; while(. != null; {}))]", 'test("a"; {})', '[splits({})]', 'sub("a"; {})', "{{a: ({})}}", "{{({}): .}}",
    '"<\\({})>"', '@html "\\({})"', "ltrimstr({})", "join({})", "index({})", "inside({})", "contains({})",
    "startswith({})", "flatten({})", "range({})", "INDEX({})", "[fromstream(tostream | {})]", "tojson | fromjson | {}",
    "try error({}) catch .", "({}) | tojson", "[{}] | add", "({}) | ascii_downcase?", "if {} then 1 end", "[{}] | sort",
    "[{}] | unique", "{{a: 1}} | {}", ". as $v | {}", "[{}] | transpose?", "[{}] | @csv?", "[{}] | implode?",
    "@base64 \"x\\({})y\"", "@json \"x\\({})y\"", "@sh \"x\\({})y\"", "[combinations({})?] | length", "bsearch({})",
    "indices({})", "rindex({})", "tojson[0:({})]?", "splits({}; null)?", "ascii_downcase? // ({})", "in({})",
    "truncate_stream({})?", "limit({}; .[]?)", "skip({}; .[]?)", "until(. == null or true; {})", "abs? // ({})",
    "first(.[]?, {})", "halt_error({})", "trimstr({})", "getpath({})?", "setpath([{}]; 1)", "delpaths([[{}]])",
    "[.[]?] | .[{}]?", "(.a, .b) = ({})", "debug({})", "format({})", "reduce .[]? as $r (null; {})", "..|{}?",
    "[{}][0]", "[{}][1:]", "({})[]?", "({}).a?", "({}) as [$p] | $p", "({}) as {{a: $p, \"b\": [$q]}} | [$p, $q]",
)  # fmt: skip
_TWO: Final = (
    "{} | {}", "{} | {}", "{} | {}", "{}, {}", "({}) + ({})", "({}) - ({})", "({}) * ({})", "({}) / ({})",
    "({}) % ({})", "({}) == ({})", "({}) != ({})", "({}) < ({})", "({}) >= ({})", "({}) and ({})", "({}) or ({})",
    "({}) // ({})", "({}) |= ({})", "({}) = ({})", "({}) += ({})", "({}) //= ({})", "try ({}) catch ({})",
    "any({}; {})", "all({}; {})", ".[{}]?", ".[{}:{}]", "{{a: ({}), b: ({})}}", "{{({}): ({})}}", "[{}, {}]",
    "IN({}; {})", "range({}; {})", 'setpath(["a"]; {}) | {}', "limit({}; {})", "INDEX({}; {})", '"\\({})-\\({})"',
    "({}) as [$p, {{a: $q}}] | [$p, $q, ({})]", "({}) as [$p] ?// $p | [$p] | {}", "nth({}; {})", "skip({}; {})",
    "first({} | {})", "[{}] | map({})", "sub({}; {})?", "[.[]? | select({}) | {}]", "if {} then {} end",
    "path({} | {})", "join({}) + ({})", "({}) as {{a: $p}} ?// [$p, $q] ?// $q | [$p, $q, ({})]",
    "({}) as {{$a, b: [$c]}} | [$a, $c, ({})]", "({}) as {{(\"a\", \"b\"): $k}} | [$k, ({})]",
    "({}) as {{$a: [$b]}} | [$a, $b] | {}", "error({}) // ({})", "[{}] - [{}]", "({}) < ({}), .",
    "[({}), ({})] | sort, unique, min, max, group_by(.)", "{{\"a\\({})\": ({})}}", "{{a: {}}} | {}",
    "getpath([{}, {}])?", "[limit(4; recurse({}; {}))]", "({})[({})]?", "({})[({}):]?", "({} | {})?",
    "try ({} | error) catch ({})", "JOIN({}; {})?", "[({}), ({})] | add",
    "({}) as $x | ({}) as $y | [$x, $y] | .[0] == .[1]", "[limit(6; {} | {})] | length", "[{}] | contains([{}])?",
    "({}) as [[$p]] ?// [$p] | $p, ({})",
)  # fmt: skip
_WORDS: Final = (
    "|", ",", "//", "?", ".", "..", "and", "or", "not", "==", "<", ">=", "+", "-", "*", "/", "%", "=", "|=", "+=",
    "//=", "if", "then", "else", "elif", "end", "try", "catch", "reduce", "foreach", "as", "label", "break", "def",
    "null", "true", "false", "[", "]", "{", "}", "(", ")", ":", ";", "?//", "$x", "$__loc__", "@json", "@nope", ".a",
    ".[]", "empty", "error", "length", "select(.a)", "import", "include", "module", "__loc__", "0", "1.5", '"a"',
    "first", "$d", "1e1000", "!", "#x\n", "::", "a::b", "&", "not_there",
)  # fmt: skip


class Grammar:
    def __init__(self, dice: random.Random) -> None:
        self.dice = dice

    def leaf(self, names: Names) -> str:
        dice = self.dice
        bound = [
            *(f"${name}" for name in names.variables),
            *names.functions,
            *(f"break ${name}" for name in names.labels),
        ]
        if bound and dice.random() < 0.4:
            return dice.choice(bound)
        match dice.randrange(8):
            case 0 | 1 | 2:
                return dice.choice(v.PLACES)
            case 3 | 4:
                return dice.choice(_SMALL)
            case _:
                return dice.choice(dice.choice(v.LITERALS))

    def query(self, depth: int, names: Names) -> str:
        if depth <= 0:
            return self.leaf(names)
        inner = depth - 1
        match self.dice.randrange(14):
            case 0 | 1:
                return self.leaf(names)
            case 2 | 3 | 4 | 5:
                return self.dice.choice(_ONE).format(self.query(inner, names))
            case 6 | 7 | 8 | 9:
                return self.dice.choice(_TWO).format(self.query(inner, names), self.query(inner, names))
            case 10:
                return self.choice(inner, names)
            case 11:
                return self.path(depth, names)
            case 12:
                return self.binding(inner, names)
            case _:
                return self.function(inner, names)

    def question(self, depth: int) -> str:
        """What people ask of a host: true or false, from a few places of its inventory."""
        dice = self.dice
        if depth > 0 and dice.random() < 0.5:
            joined = dice.choice(
                (
                    "{} and {}",
                    "{} or {}",
                    "({}) and ({} | not)",
                    "if {} then {} else false end",
                    "[{}, {}] | all",
                    "({}) as $a | ({}) as $b | $a == $b",
                )
            )
            return joined.format(self.question(depth - 1), self.question(depth - 1))
        place, field, number = (
            dice.choice(v.ASKED),
            dice.choice(v.ASKED_FIELDS),
            dice.choice(("2", "1500", "1e12", "null", "137438953472", "0.5")),
        )
        text, many = (
            dice.choice(('"SSD"', '"nvme0n1"', '"ens0f0"', '"uefi"', '"Dell Inc."', '"x86_64"', '""')),
            dice.choice(v.ASKED_LISTS),
        )
        return dice.choice(
            (
                f"{place} {dice.choice(v.OPERATORS[5:11])} {number}", f"{place} == {text}",
                f"any({many}[]?; .{field} == {text})",
                f"any({many}[]; .{field} == {text} and .{dice.choice(v.ASKED_FIELDS)} == {number})",
                f"[{many}[] | select(.{field} == {text})] | length > 1",
                f"[{many}[]? | select(.{field} >= {number}) | .name] | length",
                f"{many} | map(.{field}) | index({text})", f"{many}[0].{field} == {text}",
                f"{many} | any(.{field} == {text})", f"all({many}[]; .{field} != {text})",
                f"has(\"gpus\") or ({place} == {text})",
                f"{place} as $p | {many}[{dice.randrange(3)}].{field} as $q | $p == $q",
                f"({place}? // {number}) == {number}", f"{place} | type == \"object\"", f"{many} | length >= {number}",
                f". as {{cpu: {{count: $c}}, memory: $m}} | $c == {number} and $m.physicalBytes > 1",
                f"def big: .{field} == {text}; [{many}[] | select(big)] | length",
                f"first({many}[] | select(.{field} == {text})) | .name", f"{many} | .[0], .[1] | .{field}?",
                f"try {place}.x catch {number}", f"reduce {many}[] as $d (0; . + ($d.{field} | length))",
                f"{place} | tostring | test(\"^[a-z]\")", f"[{many}[].{field}] | unique | length",
                f"{many}[] | select(.{field} == {text} or .{field} == null) | .path?",
                f"def f(x): x == {text}; f({place})", f"isempty({many}[] | select(.{field} == {text}))",
                f"{many} | map(select(.{field} == {text}))", f"{place} // ({many} | .[1]?.{field})",
                f"label $l | {many}[] | if .{field} == {text} then ., break $l else empty end",
                f"[limit(1; {many}[] | select(.{field} == {text} and .mtu == 1500))]",
                f"{{a: {place}, b: {many}[0].{field}}}", f"[{place}, {many}[0].{field}, {number}]",
                f"\"\\({place}) \\({many}[1].{field})\"", f"{many} as [$first, $second] | $second.{field} == {text}",
            )
        )  # fmt: skip

    def choice(self, depth: int, names: Names) -> str:
        parts = [self.query(depth, names) for _ in range(5)]
        if self.dice.random() < 0.3:
            return "if {} then {} elif {} then {} else {} end".format(*parts)
        return "if {} then {} else {} end".format(*parts)

    def path(self, depth: int, names: Names) -> str:
        """Mostly something that paths can follow."""
        dice = self.dice
        place = dice.choice(v.PLACES)
        for _ in range(dice.randrange(depth + 1)):
            piece = self.query(depth - 1, names)
            place = dice.choice(
                (
                    "{p}[{q}]?", "{p}.a", "{p}[]?", "{p} | select({q})", "{p} | first(.[]?)", "{p}[1:]", "{p}[:({q})]?",
                    "{p} | .[0]?", "({p}, {q})", "{p} // ({q})", "{p} | recurse(.[]?)", "({p})?",
                    "{p} | if {q} then .a? else . end", "{p} | getpath([{q}])", "{p} | to_entries", "{p} | last(.[]?)",
                    "{p} | limit(2; .[]?)", "{p} | . as $v | {q}", "{p} | .[({q})]", "{p} | error({q})", "{p} | empty",
                    "try ({p} | {q}) catch .b", "{p} | nth(0)", "{p} | map(.)",
                )
            ).format(p=place, q=piece)  # fmt: skip
        return place

    def binding(self, depth: int, names: Names) -> str:
        dice = self.dice
        variable = f"v{len(names.variables)}"
        known = replace(names, variables=(*names.variables, variable))
        source, start, inner = self.query(depth, names), self.query(depth - 1, names), self.query(depth, known)
        match dice.randrange(7):
            case 0:
                return f"reduce ({source}) as ${variable} ({start}; {inner})"
            case 1:
                return f"foreach ({source}) as ${variable} ({start}; {inner})"
            case 2:
                return f"foreach ({source}) as ${variable} ({start}; {inner}; {self.query(depth - 1, known)})"
            case 3:
                label = f"l{len(names.labels)}"
                labelled = replace(names, labels=(*names.labels, label))
                return f"(label ${label} | {self.query(depth, labelled)}, {self.query(depth - 1, labelled)})"
            case 4:
                more = replace(known, variables=(*known.variables, f"{variable}b"))
                pattern = dice.choice(
                    (
                        "[${a}, ${b}]",
                        "{{a: ${a}, b: ${b}}}",
                        "{{name: ${a}, $b: ${b}}}",
                        "[[${a}], {{c: ${b}}}]",
                        '{{("a", "hostname"): ${a}, cpu: {{count: ${b}}}}}',
                        "{{${a}: [${b}]}}",
                        "[${a}] ?// ${b}",
                        "{{a: ${a}}} ?// [${a}, ${b}] ?// ${b}",
                    )
                )
                return f"(({source}) as {pattern.format(a=variable, b=variable + 'b')} | {self.query(depth, more)})"
            case 5:
                return f"reduce ({source}) as [${variable}] ({start}; {inner})"
            case _:
                return f"(({source}) as ${variable} | {inner})"

    def function(self, depth: int, names: Names) -> str:
        dice = self.dice
        name = f"f{len(names.functions)}"
        match dice.randrange(4):
            case 0:
                known = replace(names, functions=(*names.functions, name))
                return f"(def {name}: {self.query(depth, names)}; {self.query(depth, known)})"
            case 1:
                body = self.query(depth, replace(names, functions=(*names.functions, "g")))
                called = replace(names, functions=(*names.functions, f"{name}({self.query(depth - 1, names)})"))
                return f"(def {name}(g): {body}; {self.query(depth, called)})"
            case 2:
                body = self.query(
                    depth, replace(names, variables=(*names.variables, "w"), functions=(*names.functions, "w"))
                )
                called = replace(names, functions=(*names.functions, f"{name}({self.query(depth - 1, names)})"))
                return f"(def {name}($w): {body}; {self.query(depth, called)})"
            case _:
                body = self.query(depth, names)
                return f"[limit(6; def {name}: ., ({body} | {name}); {name})]"

    def mutated(self, text: str) -> str:
        """Some words of a query exchanged, doubled, moved or left out."""
        dice = self.dice
        words = tokens(text)
        for _ in range(dice.choice((1, 1, 1, 2, 2, 3))):
            if not words:
                return text
            at = dice.randrange(len(words))
            match dice.randrange(7):
                case 0:
                    del words[at]
                case 1:
                    words.insert(at, dice.choice(words))
                case 2:
                    other = dice.randrange(len(words))
                    words[at], words[other] = words[other], words[at]
                case 3:
                    words[at] = dice.choice(_WORDS)
                case 4:
                    words[at] = f"({self.query(1, NO_NAMES)})"
                case 5:
                    words[at] = dice.choice(dice.choice(v.LITERALS))
                case _:
                    words.insert(at, dice.choice(_WORDS))
        return "".join(
            word if word in ("?", "[", ".") or word.startswith(".") else f" {word} " for word in words
        ).strip()


def tokens(text: str) -> list[str]:
    """The words and signs of a query; a string with queries in it is one word."""
    lexer = Lexer(text)
    found: list[str] = []
    while (token := lexer.next()).kind != "eof":
        if token.kind in ("invalid", "invalid-escape", "unterminated") or lexer.in_string:
            return [*found, text[token.start :]] if token.start < len(text) else found
        found.append(text[token.start : token.end])
    return found
