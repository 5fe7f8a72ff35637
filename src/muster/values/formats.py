"""The named formats of Kubernetes' CEL library: each says what is wrong with a text, in the server's words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from muster.values.names import dns_label_problems, label_value_problems, qualified_name_problems, subdomain_problems
from muster.values.urls import InvalidUrlError, parse_request_uri

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_DNS_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_UUID = re.compile("[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE | re.ASCII)
_BASE64 = re.compile("(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})")
_DATE = re.compile("([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIME = re.compile("([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})")
_LABEL_LENGTH = 63


@dataclass(frozen=True, slots=True)
class NamedFormat:
    """A format: its name, what finds its problems, and the size of the pattern it is charged for."""

    name: str
    problems: Callable[[str], list[str]]
    pattern_size: int


def dns_1035_label_problems(text: str) -> list[str]:
    problems = []
    if len(text.encode("utf-8", "surrogatepass")) > _LABEL_LENGTH:
        problems.append(f"must be no more than {_LABEL_LENGTH} characters")
    if not re.fullmatch(_DNS_1035, text):
        problems.append(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
            "character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
            f"regex used for validation is '{_DNS_1035}')"
        )
    return problems


def uri_problems(text: str) -> list[str]:
    try:
        parse_request_uri(text)
    except InvalidUrlError as error:
        return [str(error)]
    return []


def uuid_problems(text: str) -> list[str]:
    return [] if _UUID.fullmatch(text) else ["does not match the UUID format"]


def byte_problems(text: str) -> list[str]:
    return [] if _BASE64.fullmatch(text) else ["invalid base64"]


def date_problems(text: str) -> list[str]:
    return [] if _is_date(text) else ["invalid date"]


def datetime_problems(text: str) -> list[str]:
    """RFC 3339, in either case; what follows a second T is not looked at."""
    parts = text.lower().split("t")
    time = _TIME.fullmatch(parts[1]) if len(parts) > 1 and _is_date(parts[0]) else None
    fits = time is not None and time[1] <= "23" and time[2] <= "59" and time[3] <= "59"
    return [] if fits else ["invalid datetime"]


def _is_date(text: str) -> bool:
    found = _DATE.fullmatch(text)
    if found is None:
        return False
    year, month, day = map(int, found.groups())
    try:
        date(year or 400, month, day)  # year 0 is a leap year that Python does not know
    except ValueError:
        return False
    return True


def _of_prefix(problems: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    """The same for the beginning of a name, which may end in a dash. Kubernetes then overlooks one more character."""

    def prefix_problems(text: str) -> list[str]:
        return problems(text[:-2] + "a" if len(text) > 1 and text.endswith("-") else text)

    return prefix_problems


FORMATS: Mapping[str, NamedFormat] = {
    "dns1123Label": NamedFormat("DNS1123Label", dns_label_problems, 30),
    "dns1123Subdomain": NamedFormat("DNS1123Subdomain", subdomain_problems, 60),
    "dns1035Label": NamedFormat("DNS1035Label", dns_1035_label_problems, 30),
    "qualifiedName": NamedFormat("QualifiedName", qualified_name_problems, 60),
    "dns1123LabelPrefix": NamedFormat("DNS1123LabelPrefix", _of_prefix(dns_label_problems), 30),
    "dns1123SubdomainPrefix": NamedFormat("DNS1123SubdomainPrefix", _of_prefix(subdomain_problems), 60),
    "dns1035LabelPrefix": NamedFormat("DNS1035LabelPrefix", _of_prefix(dns_1035_label_problems), 30),
    "labelValue": NamedFormat("LabelValue", label_value_problems, 40),
    "uri": NamedFormat("URI", uri_problems, 1103),
    "uuid": NamedFormat("uuid", uuid_problems, 70),
    "byte": NamedFormat("byte", byte_problems, 84),
    "date": NamedFormat("date", date_problems, 71),
    "datetime": NamedFormat("datetime", datetime_problems, 71),
}
