"""Objects from files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from muster.cli.inputs.documents import Document, read_documents
from muster.errors import InvalidObjectError

if TYPE_CHECKING:
    from pathlib import Path


def an_object(name: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def test_yaml_documents_json_lines_and_lists_are_all_read(tmp_path: Path) -> None:
    (tmp_path / "1.yaml").write_text(
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\n---\n"
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: b}\n"
    )
    (tmp_path / "2.json").write_text(
        '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"c"}}\n\n'
        '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"d"}}\n'
    )
    (tmp_path / "3.json").write_text(
        '{\n"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"e"}}]}'
    )
    (tmp_path / "notes.txt").write_text("not an object")
    assert list(read_documents([str(tmp_path)])) == [
        Document(f"{tmp_path}/1.yaml:1", an_object("a")),
        Document(f"{tmp_path}/1.yaml:6", an_object("b")),
        Document(f"{tmp_path}/2.json:1", an_object("c")),
        Document(f"{tmp_path}/2.json:3", an_object("d")),
        Document(f"{tmp_path}/3.json:1", an_object("e")),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1", "x.yaml:2:1: not valid YAML"),
        ("- 1", "x.yaml:1: an object is a mapping with apiVersion and kind, this is list"),
        ("kind: Namespace", "x.yaml:1: the object has no apiVersion"),
        ("apiVersion: v1\nkind: Namespace", "x.yaml:1: Namespace has no metadata.name"),
        (
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: 5}",
            "x.yaml:1: metadata.name: expected a text, this is of type int",
        ),
        (
            '{"apiVersion":"v1","kind":"N","metadata":{"name":"a","namespace":[]}}',
            "x.yaml:1: metadata.namespace: expected a text, this is of type list",
        ),
        ('{"apiVersion":"v1","kind":"N","metadata":{"name":"a"}}\n{"a":', "x.yaml:2: not valid JSON"),
        (
            "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)),
            "with its aliases written out the text has more than",
        ),
        ("x: " + "[" * 40_000, "not valid YAML: values nest deeper than 100 levels"),
        ("- " * 40_000, "not valid YAML: values nest deeper than 100 levels"),
        ('{"a":' * 40_000, "not valid YAML: values nest deeper than 100 levels"),
        ("a: 1\nb: &b {c: *b}", ":2: not valid YAML: a value contains itself through *b"),
        ("a: !!python/object/apply:os.system [ls]", "not valid YAML: cannot read a value with the tag"),
    ],
)
def test_bad_files_are_refused_with_place_and_reason(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(text)
    with pytest.raises(InvalidObjectError) as caught:
        list(read_documents([str(path)]))
    assert message in str(caught.value)


def test_a_missing_file_and_an_empty_directory_are_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidObjectError, match="no such file or directory"):
        list(read_documents([str(tmp_path / "none")]))
    with pytest.raises(InvalidObjectError, match="no file in this directory ends in"):
        list(read_documents([str(tmp_path)]))
