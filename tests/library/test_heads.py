"""Files read by their heads hold what files read whole hold: the same objects, the same places, the same refusals."""

from __future__ import annotations

import io
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muster.errors import InvalidObjectError
from muster.library.documents import Document, read_stream
from muster.library.heads import headed, newest, read_headed
from muster.library.overlays import overlaid

NAMES = st.sampled_from(["", "a", "b", "é"])
METADATA = st.fixed_dictionaries(
    {},
    optional={
        "name": NAMES | st.just(5),
        "generateName": NAMES,
        "namespace": NAMES | st.sampled_from([None, 0, {}]),
        "labels": st.just({"x": "y"}),
    },
)
KINDS = st.sampled_from(["", "Placement", "ManagedCluster", "ManagedClusterList", "Other"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-2, 2) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
OBJECTS = st.fixed_dictionaries(
    {},
    optional={
        "apiVersion": st.sampled_from(["", "v1", "g/v1"]),
        "kind": KINDS,
        "metadata": METADATA | st.just([]) | st.none(),
        "spec": VALUES,
        "items": st.just([]) | st.just([{"apiVersion": "v1", "kind": "Other", "metadata": {"name": "inner"}}]),
    },
)
USUAL = st.builds(
    lambda kind, metadata, spec: {"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec},
    KINDS,
    METADATA,
    VALUES,
)
WRITTEN = st.builds(
    lambda value, ascii_only: json.dumps(value, ensure_ascii=ascii_only), USUAL | OBJECTS, st.booleans()
)
LINES = st.lists(
    WRITTEN.map(str.encode)
    | st.sampled_from([b"", b"  ", b"{", b"[1]", b'{"a":"\xff"}', b"5", b"\xef\xbb\xbf{}", b"a: b"]),
    max_size=6,
)


def outcome(text: bytes, *, by_heads: bool) -> tuple[list[Any], str]:
    """What is found, and what is refused in the end."""
    found: list[Any] = []
    try:
        if by_heads:
            found.extend(
                (each.origin, each.kind, each.plain(), msgspec.json.decode(each.encoded()))
                for each in read_headed("file", io.BytesIO(text))
            )
        else:
            for document in read_stream("file", io.BytesIO(text)):
                kind = document.object["kind"]
                found.append((document.origin, kind, document.object, document.object))
    except InvalidObjectError as error:
        return found, str(error)
    return found, ""


@given(lines=LINES, end=st.sampled_from([b"", b"\n", b"\n\n", b"\r\n"]))
def test_what_is_read_by_heads_is_what_is_read_whole(lines: list[bytes], end: bytes) -> None:
    text = b"\n".join(lines) + end
    assert outcome(text, by_heads=True) == outcome(text, by_heads=False)


NAMED = st.builds(
    lambda kind, metadata, spec: {"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec},
    st.sampled_from(["Placement", "ManagedCluster", "Other"]),
    st.fixed_dictionaries({"name": st.sampled_from("ab")}, optional={"namespace": NAMES}),
    VALUES,
)


@given(objects=st.lists(NAMED, max_size=8))
def test_of_several_states_the_newest_counts_as_where_files_are_laid_over_each_other(
    objects: list[dict[str, Any]],
) -> None:
    text = b"\n".join(map(msgspec.json.encode, objects))
    from_lines = newest(read_headed("file", io.BytesIO(text)), "default")
    from_documents = newest([headed(Document("", each)) for each in objects], "default")
    expected = overlaid(objects, "default")
    assert [each.plain() for each in from_lines] == expected
    assert [each.plain() for each in from_documents] == expected
    assert [each.namespace for each in from_lines] == [each["metadata"].get("namespace", "") for each in expected]


def test_many_lines_are_read_in_parts_and_keep_their_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muster.library.heads._AT_ONCE", 50)
    lines = [msgspec.json.encode({"apiVersion": "v1", "kind": "K", "metadata": {"name": f"n{at}"}}) for at in range(40)]
    lines[20] = b""
    found = list(read_headed("file", io.BytesIO(b"\n".join(lines))))
    assert [(each.origin, each.name) for each in found] == [
        (f"file:{at + 1}", f"n{at}") for at in range(40) if at != 20
    ]


@pytest.mark.parametrize("number", ["1e999", "1" * 5000])
def test_a_number_that_is_none_is_told_where_somebody_looks_at_it(number: str) -> None:
    """The one difference from reading all of it: heads end before it."""
    line = f'{{"apiVersion":"v1","kind":"K","metadata":{{"name":"n"}},"spec":{{"x":{number}}}}}'.encode()
    usual = b'{"apiVersion":"v1","kind":"K","metadata":{"name":"m"}}'
    found = list(read_headed("file", io.BytesIO(usual + b"\n" + line)))
    assert [each.name for each in found] == ["m", "n"]
    with pytest.raises(InvalidObjectError, match=r"file:2: not valid JSON: .*out of range"):
        found[1].plain()
