"""Accept headers and the forms they lead to."""

from __future__ import annotations

import pytest

from muster.hub.rest.negotiation import Form, NotAcceptableError, form_of

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", Form()),
        ("*/*", Form()),
        ("application/json", Form()),
        ("application/json, */*", Form()),
        ("application/*", Form()),
        ("text/html,application/xhtml+xml,*/*;q=0.8", Form()),
        ("application/vnd.kubernetes.protobuf,application/json", Form()),
        ("application/yaml", Form("application/yaml")),
        ("application/json;q=0.5,application/yaml", Form("application/yaml")),
        (TABLE, Form(transform="Table")),
        (f"{TABLE},application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json", Form(transform="Table")),
        ("application/json;as=Table;v=v1beta1;g=meta.k8s.io", Form(transform="Table", version="v1beta1")),
        ("application/json;as=Table;v=v9;g=meta.k8s.io,application/json", Form()),
        ("application/json;as=Chair,application/json", Form()),
        ("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", Form(transform="PartialObjectMetadata")),
        ("application/json;stream=watch", Form()),
    ],
)
def test_the_best_form_is_chosen(accept: str, form: Form) -> None:
    assert form_of(accept) == form


@pytest.mark.parametrize(
    ("accept", "protobuf"),
    [
        ("application/cbor", False),
        ("text/html", False),
        ("application/vnd.kubernetes.protobuf", True),
        ("application/json;as=Chair", False),
    ],
)
def test_what_cannot_be_served_is_refused_with_the_list_of_what_can(accept: str, protobuf: bool) -> None:
    with pytest.raises(NotAcceptableError) as caught:
        form_of(accept)
    assert (caught.value.code, caught.value.protobuf, caught.value.message) == (
        406,
        protobuf,
        (
            "only the following media types are accepted: "
            "application/json, application/yaml, application/vnd.kubernetes.protobuf"
        ),
    )
