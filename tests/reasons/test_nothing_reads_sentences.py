"""Sentences are for people: no code of ours compares, cuts up or matches them. Reasons are values, and are asked."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE: Final = Path(__file__).resolve().parents[2] / "src" / "muster"
WORDING: Final = tuple(sorted((SOURCE / "reasons").glob("*words.py")))
PACKAGES: Final = (
    "admission",
    "classification",
    "cli",
    "client",
    "clustersets",
    "controllers",
    "fleet",
    "hub",
    "placement",
    "reasons",
    "resolution",
    "selectors",
)
MODULES: Final = [
    *(path for name in PACKAGES for path in sorted((SOURCE / name).rglob("*.py"))),
    SOURCE / "catalog_files.py",
    SOURCE / "selection.py",
]
#: Attributes and calls that give sentences. `reason` is one on some objects and a code on others: it may be compared
#: with a code, and never be cut up or searched.
LISTS: Final = frozenset({"notes", "asked_by", "details", "problems"})
SENTENCES: Final = LISTS | {"message", "summary", "cut", "bare", "upstream_text", "why"}
MAKERS: Final = frozenset({"sentence", "told", "meant", "close_to"})
#: What reads a text.
READING: Final = frozenset(
    {
        "count",
        "endswith",
        "find",
        "findall",
        "finditer",
        "fullmatch",
        "index",
        "match",
        "partition",
        "removeprefix",
        "removesuffix",
        "replace",
        "rfind",
        "rpartition",
        "search",
        "split",
        "startswith",
        "sub",
    }
)
#: Texts of others, which have no other form: (module, what is read).
OF_OTHERS: Final = {
    ("selectors/purposes.py", "str(error)"),  # msgspec's: where in a document a value has the wrong type
    ("client/loop_errors.py", "message"),  # asyncio's: which of its complaints are about broken transports
    ("hub/expiry.py", "str(error)"),  # the disk's: the same complaint is logged once
    ("hub/following.py", "str(error)"),  # the same
    ("hub/questions.py", "refusal.message"),  # of what is not found: no sentence but its address, agents/NAME
}


def sentences_read(tree: ast.AST, named: frozenset[str] = frozenset()) -> Iterator[tuple[int, str]]:
    """Places at which a sentence is read: the line, and what is read there. `named` are variables that hold one."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr=method), args=args) if method in READING:
                for each in (value, *args):
                    if is_sentence(each, named, also_reason=True):
                        yield node.lineno, ast.unparse(each)
            case ast.Compare(left=left, ops=ops, comparators=right):
                searched = any(isinstance(op, ast.In | ast.NotIn) for op in ops)
                for each in (left, *right):
                    if is_sentence(each, named, also_reason=searched) and not is_emptiness(node):
                        yield node.lineno, ast.unparse(each)
            case ast.Subscript(value=value) if is_sentence(value, named, also_reason=True) and not is_cut(node):
                yield node.lineno, ast.unparse(value)
        if not named and (each_of_them := loop_names(node)):
            yield from sentences_read(node, each_of_them)


def loop_names(node: ast.AST) -> frozenset[str]:
    """The names under which a loop goes through sentences."""
    loops: list[tuple[ast.AST, ast.AST]] = []
    if isinstance(node, ast.For):
        loops = [(node.target, node.iter)]
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
        loops = [(each.target, each.iter) for each in node.generators]
    return frozenset(
        target.id
        for target, through in loops
        if isinstance(target, ast.Name) and isinstance(through, ast.Attribute) and through.attr in SENTENCES
    )


def is_sentence(node: ast.AST, named: frozenset[str], *, also_reason: bool) -> bool:
    match node:
        case ast.Attribute(attr=name):
            return name in SENTENCES or (also_reason and name == "reason")
        case ast.Call(func=ast.Name(id="str"), args=[ast.Name(id=name)]):
            return name in {"error", "reason", "why", "fault", "finding"}
        case ast.Call(func=ast.Name(id=name)):
            return name in MAKERS
        case ast.Name(id=name):
            return name in {"message", "sentence"} | named
    return False


def is_emptiness(node: ast.Compare) -> bool:
    return all(isinstance(each, ast.Constant) and each.value in ("", None) for each in node.comparators)


def is_cut(node: ast.Subscript) -> bool:
    """`text[:n]`: long texts are cut, by nobody who reads them. `message["type"]` is none of ours at all.

    A list gives its items to whoever asks.
    """
    if isinstance(node.value, ast.Attribute) and node.value.attr in LISTS:
        return True
    is_key = isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
    return is_key or (isinstance(node.slice, ast.Slice) and node.slice.lower is None)


def fragments(*paths: Path) -> frozenset[str]:
    """The words between the gaps of all sentences that modules make, as far as nobody says them by chance."""
    found = set()
    nodes = (node for path in paths for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value.strip(" :;,()'"))
    return frozenset(text for text in found if " " in text)


def literals_compared(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Texts that something is compared with, searched for or matched against."""
    for node in ast.walk(tree):
        operands: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in READING | {"compile"}
        ):
            operands = list(node.args)
        for operand in operands:
            for part in ast.walk(operand):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.lineno, part.value


def test_no_module_reads_a_sentence() -> None:
    found = [
        (name, line, what)
        for path in MODULES
        for name in [path.relative_to(SOURCE).as_posix()]
        for line, what in sentences_read(ast.parse(path.read_text(encoding="utf-8")))
        if (name, what) not in OF_OTHERS
    ]
    assert found == []


def test_nothing_is_compared_with_words_that_reasons_are_worded_with() -> None:
    words = fragments(*WORDING)
    assert {"is not tolerated", "it is deprecated"} <= words  # the scan sees something
    found = [
        (str(path.relative_to(SOURCE)), line, text)
        for path in MODULES
        for line, text in literals_compared(ast.parse(path.read_text(encoding="utf-8")))
        if " " in text.strip() and any(text.strip() in each or each in text for each in words)
    ]
    assert found == []


@pytest.mark.parametrize(
    "code",
    [
        "if match.reason.startswith('x is '): pass",
        "if 'failed: ' in error.message: pass",
        "found = _PATTERN.match(str(error))",
        "rest = sentence(why).removeprefix('a')",
        "if report.summary == 'selected': pass",
        "kind = check.reason.partition(':')[0]",
        "if 'did you' in meant(name, known): pass",
        "roots = [step for step in steps if any('you want' in each for each in step.asked_by)]",
        "if any(asked.startswith('you want ') for asked in step.asked_by): pass",
        "if step.passed_over[0].why == 'it is deprecated': pass",
    ],
)
def test_the_scan_finds_such_code(code: str) -> None:
    assert list(sentences_read(ast.parse(code)))
