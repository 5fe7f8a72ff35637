"""Protobuf bodies: the envelope, every kind of field, damaged bytes."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muster.api import RESOURCES
from muster.hub.rest.protobuf import (
    MAGIC,
    Field,
    InvalidProtobufError,
    Message,
    Scalar,
    decode,
    encode_status,
    open_envelope,
    varint_field,
)
from muster.hub.rest.protobuf_kinds import DELETE_OPTIONS, KINDS

# What kubectl 1.36 sends for `kubectl create ns foo`.
NAMESPACE = (
    b"k8s\x00\n\x0f\n\x02v1\x12\tNamespace"
    b'\x12\x1b\n\x15\n\x03foo\x12\x00\x1a\x00"\x00*\x002\x008\x00B\x00\x12\x00\x1a\x02\n\x00'
    b'\x1a\x00"\x00'
)


def test_a_namespace_of_kubectl_is_read() -> None:
    envelope = open_envelope(NAMESPACE)
    assert (envelope.api_version, envelope.kind) == ("v1", "Namespace")
    assert decode(envelope.raw, KINDS["", "Namespace"]) == {"metadata": {"name": "foo"}}


def _field(number: int, content: bytes) -> bytes:
    tag = number << 3 | 2
    return bytes([tag] if tag < 0x80 else [tag & 0x7F | 0x80, tag >> 7]) + bytes([len(content)]) + content


def test_every_kind_of_field_is_read() -> None:
    secret = (
        _field(
            1,
            _field(1, b"s") + _field(11, _field(1, b"env") + _field(2, b"prod")) + _field(14, b"a") + _field(14, b"b"),
        )
        + _field(2, _field(1, b"key") + _field(2, b"\x00\xff"))
        + b"\x28\x00"  # immutable: a pointer to false
    )
    assert decode(secret, KINDS["", "Secret"]) == {
        "metadata": {"name": "s", "labels": {"env": "prod"}, "finalizers": ["a", "b"]},
        "data": {"key": "AP8="},
        "immutable": False,
    }


def test_times_have_the_precision_of_their_kind() -> None:
    moment = b"\x08\x80\xe2\xcf\xaa\x06\x10\x80\x94\xef:"  # 1700000000 s and 123456000 ns
    message = Message(
        {1: Field("seconds", Scalar.TIME), 2: Field("micro", Scalar.MICRO_TIME), 3: Field("none", Scalar.TIME)}
    )
    found = decode(_field(1, moment) + _field(2, moment) + _field(3, b""), message)
    assert found == {"seconds": "2023-11-14T22:13:20Z", "micro": "2023-11-14T22:13:20.123456Z"}


def test_delete_options_keep_a_grace_period_of_zero() -> None:
    options = b"\x08\x00" + _field(2, _field(1, b"u")) + _field(4, b"Background") + _field(5, b"All")
    assert decode(options, DELETE_OPTIONS) == {
        "gracePeriodSeconds": 0,
        "preconditions": {"uid": "u"},
        "propagationPolicy": "Background",
        "dryRun": ["All"],
    }


def test_extra_values_are_lists() -> None:
    review = _field(2, _field(5, _field(1, b"scope") + _field(2, _field(1, b"a") + _field(1, b"b"))))
    assert decode(review, KINDS["authorization.k8s.io", "SubjectAccessReview"]) == {
        "spec": {"extra": {"scope": ["a", "b"]}}
    }


def test_managed_fields_carry_json() -> None:
    raw = _field(1, _field(17, _field(1, b"me") + _field(7, _field(1, b'{"f:spec":{}}'))))
    assert decode(raw, KINDS["", "ConfigMap"]) == {
        "metadata": {"managedFields": [{"manager": "me", "fieldsV1": {"f:spec": {}}}]}
    }


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"k8s",
        b"{}",
        MAGIC + b"\x0a",
        MAGIC + b"\x0a\xff",
        MAGIC + b"\xff" * 12,
        MAGIC + b"\x03",
        MAGIC + b"\x0a\x03\x0a\x05v",
    ],
)
def test_damaged_envelopes_are_refused(body: bytes) -> None:
    with pytest.raises(InvalidProtobufError):
        open_envelope(body)


@given(st.binary(max_size=200), st.sampled_from(sorted(KINDS)))
def test_any_bytes_are_read_or_refused(raw: bytes, kind: tuple[str, str]) -> None:
    with contextlib.suppress(InvalidProtobufError):
        assert isinstance(decode(raw, KINDS[kind]), dict)


def test_every_writable_built_in_kind_has_its_field_numbers() -> None:
    writable = {(kind.group, kind.kind) for kind in RESOURCES.values() if kind.builtin and "create" in kind.verbs}
    assert writable - set(KINDS) == set()


def test_a_status_is_written_as_a_go_client_reads_it() -> None:
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "m",
        "reason": "R",
        "code": 406,
    }
    assert encode_status(status) == (
        b'k8s\x00\n\x0c\n\x02v1\x12\x06Status\x12\x1a\n\x06\n\x00\x12\x00\x1a\x00\x12\x07Failure\x1a\x01m"\x01R0\x96\x03\x1a\x00"\x00'
    )


def test_times_of_the_first_years_have_years_of_four_digits() -> None:
    moment = varint_field(1, -62135596798 + 2**64)  # two seconds after the beginning of the year 1
    message = Message({1: Field("seconds", Scalar.TIME), 2: Field("micro", Scalar.MICRO_TIME)})
    found = decode(_field(1, moment) + _field(2, moment), message)
    assert found == {"seconds": "0001-01-01T00:00:02Z", "micro": "0001-01-01T00:00:02.000000Z"}
