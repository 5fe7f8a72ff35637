"""The grammars of Kubernetes names: labels, label keys, DNS names, path segments. Each check returns what is wrong.

Called by label selectors, by metadata validation and by the rules of single kinds. Lengths count bytes, as the real
server counts them. An empty list means the name is good.
"""

from __future__ import annotations

import re
from typing import Final

NAME_LENGTH: Final = 63
SUBDOMAIN_LENGTH: Final = 253
QUALIFIED_NAME_LENGTH: Final = SUBDOMAIN_LENGTH + 1 + NAME_LENGTH
GENERATED_SUFFIX_LENGTH: Final = 5

_NAME: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_VALUE: Final = f"({_NAME})?"
DNS_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = rf"{DNS_LABEL}(\.{DNS_LABEL})*"
_CONFIG_KEY: Final = "[-._a-zA-Z0-9]+"

_is_name = re.compile(_NAME).fullmatch
_is_label_value = re.compile(_LABEL_VALUE).fullmatch
_is_dns_label = re.compile(DNS_LABEL).fullmatch
_is_subdomain = re.compile(_SUBDOMAIN).fullmatch
_is_plain_key = re.compile(rf"(?:{_SUBDOMAIN}/)?{_NAME}").fullmatch
_is_config_key = re.compile(_CONFIG_KEY).fullmatch


def _mismatch(rule: str, pattern: str, *examples: str) -> str:
    shown = ",  or ".join(f"'{example}'" for example in examples)
    return f"{rule} (e.g. {shown}, regex used for validation is '{pattern}')"


_ALPHANUMERIC: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)
_BAD_NAME: Final = _mismatch(_ALPHANUMERIC, _NAME, "MyName", "my.name", "123-abc")
#: The grammars in one sentence, for servers that cannot say what exactly is wrong.
LABEL_KEY_RULE: Final = (
    f"must be a label key: a name of at most {NAME_LENGTH} characters, with an optional DNS subdomain and '/' before "
    "it (e.g. 'region' or 'example.com/region')"
)
LABEL_VALUE_RULE: Final = (
    f"must be a label value: at most {NAME_LENGTH} alphanumeric characters, '-', '_' or '.', with an alphanumeric "
    "character at both ends"
)
_BAD_LABEL_VALUE: Final = _mismatch(
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character",
    _LABEL_VALUE,
    "MyValue",
    "my_value",
    "12345",
)
_BAD_DNS_LABEL: Final = _mismatch(
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character",
    DNS_LABEL,
    "my-name",
    "123-abc",
)
_BAD_SUBDOMAIN: Final = _mismatch(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character",
    _SUBDOMAIN,
    "example.com",
)
_BAD_CONFIG_KEY: Final = _mismatch(
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    _CONFIG_KEY,
    "key.name",
    "KEY_NAME",
    "key-name",
)
_TOO_MANY_SLASHES: Final = (
    f"a valid label key {_BAD_NAME} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
)


def label_value_problems(value: str) -> list[str]:
    """`(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?`, at most 63 bytes."""
    if len(value) <= NAME_LENGTH and _is_label_value(value):
        return []
    problems = []
    if _longer_than(value, NAME_LENGTH):
        problems.append(_too_long(NAME_LENGTH))
    if not _is_label_value(value):
        problems.append(_BAD_LABEL_VALUE)
    return problems


def is_plain_key(value: str) -> bool:
    """Whether a label key is short, simple and good: the quick answer for almost all of them."""
    matches = _is_plain_key if "/" in value else _is_name
    return len(value) <= NAME_LENGTH and matches(value) is not None


def qualified_name_problems(value: str) -> list[str]:
    """`[subdomain "/"] name`: keys of labels, annotations and taints, names of finalizers."""
    problems = []
    parts = value.split("/")
    if len(parts) == 1:
        name = value
    elif len(parts) == 2:
        prefix, name = parts
        if not prefix:
            problems.append("prefix part must be non-empty")
        else:
            if _longer_than(prefix, SUBDOMAIN_LENGTH):
                problems.append(f"prefix part {_too_long(SUBDOMAIN_LENGTH)}")
            if not _is_subdomain(prefix):
                problems.append(f"prefix part {_BAD_SUBDOMAIN}")
    else:
        return [_TOO_MANY_SLASHES]
    if not name:
        problems.append("name part must be non-empty")
    elif _longer_than(name, NAME_LENGTH):
        problems.append(f"name part {_too_long(NAME_LENGTH)}")
    if not _is_name(name):
        problems.append(f"name part {_BAD_NAME}")
    return problems


def dns_label_problems(value: str) -> list[str]:
    """A lower-case RFC 1123 label of at most 63 bytes: names of namespaces."""
    problems = []
    if _longer_than(value, NAME_LENGTH):
        problems.append(_too_long_name(NAME_LENGTH))
    if not _is_dns_label(value):
        problems.append("must not contain dots" if _is_subdomain(value) else _BAD_DNS_LABEL)
    return problems


def subdomain_problems(value: str) -> list[str]:
    """A lower-case RFC 1123 subdomain of at most 253 bytes: names of most objects."""
    problems = []
    if _longer_than(value, SUBDOMAIN_LENGTH):
        problems.append(_too_long_name(SUBDOMAIN_LENGTH))
    if not _is_subdomain(value):
        problems.append(_BAD_SUBDOMAIN)
    return problems


def path_segment_problems(value: str) -> list[str]:
    """Whatever fits between two slashes of a URL: names of roles and role bindings."""
    if value in {".", ".."}:
        return [f"may not be '{value}'"]
    return [f"may not contain '{illegal}'" for illegal in "/%" if illegal in value]


def config_key_problems(value: str) -> list[str]:
    """A key of a ConfigMap or Secret: a file name that cannot leave its directory."""
    problems = []
    if _longer_than(value, SUBDOMAIN_LENGTH):
        problems.append(_too_long(SUBDOMAIN_LENGTH))
    if not _is_config_key(value):
        problems.append(_BAD_CONFIG_KEY)
    if value == ".":
        problems.append("must not be '.'")
    elif value == "..":
        problems.append("must not be '..'")
    elif value.startswith(".."):
        problems.append("must not start with '..'")
    return problems


def without_trailing_dash(prefix: str) -> str:
    """A `generateName` made checkable: what is appended to it starts with a letter, so a dash at its end is fine."""
    return prefix[:-1] + "a" if len(prefix) > 1 and prefix.endswith("-") else prefix


def _longer_than(value: str, limit: int) -> bool:
    return len(value) > limit or (not value.isascii() and len(value.encode("utf-8", "surrogatepass")) > limit)


def _too_long(limit: int) -> str:
    return f"must be no more than {limit} bytes"


def _too_long_name(limit: int) -> str:
    """DNS names are worded apart from label keys and values, though bytes are counted for all of them."""
    return f"must be no more than {limit} characters"


def place_text(*parts: str) -> str:
    """A namespace and a name, or more, as people write them in one word. For sentences and keys, never for requests."""
    return "/".join(part for part in parts if part)
