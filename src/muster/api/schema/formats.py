"""The string formats that schemas name, without dashes. One that is not listed is documentation and checks nothing.

They are those a Kubernetes server knows, and as wide or narrow as its Go libraries are.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import date
from typing import TYPE_CHECKING, Final

from muster.values.formats import uri_problems
from muster.values.ip import InvalidAddressError, parse_address, parse_network
from muster.values.names import dns_label_problems, subdomain_problems

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_date_time = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[tT]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:.[0-9]+)?(?:[zZ]|[+-][0-9]{2}:[0-9]{2})"
).fullmatch
_base64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})").fullmatch
_day = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})").fullmatch
_go_duration = re.compile(r"[-+]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)", re.ASCII).fullmatch
_spans = re.compile(r"(\d+)\s*([A-Za-zµ]+)", re.ASCII).finditer
_UUID = "[0-9a-f]{8}-?[0-9a-f]{4}-?%s-?%s-?[0-9a-f]{12}"
_EMAIL = r"[^\s@<>()\[\]\\,;:\"]+(?:\.[^\s@<>()\[\]\\,;:\"]+)*@(?:[^\s@<>()\[\]\\,;:\"]+|\[[^\[\]\s]*\])"
_address = re.compile(_EMAIL).fullmatch
_in_brackets = re.compile(r"[^<>@]*<([^<>]*)>").fullmatch
_decimal = re.compile(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})\.(\d{1,9})", re.ASCII).fullmatch
_MAC = r"(?:[0-9a-f]{2}(?::[0-9a-f]{2})+|[0-9a-f]{2}(?:-[0-9a-f]{2})+|[0-9a-f]{4}(?:\.[0-9a-f]{4})+)"
_MAC_BYTES = (6, 8, 20)
_CREDIT_CARD = (
    r"4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|(?:222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}"
    r"|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11}|6[27][0-9]{14}"
)
_BYTE = r"(?:[0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])"
# Units of durations as Scala writes them: a word of a row, or anything that begins with the row's last word.
_UNITS: Final = (
    ("ns", "nano"),
    ("us", "µs", "micro"),
    ("ms", "milli"),
    ("s", "sec"),
    ("m", "min"),
    ("h", "hr", "hour"),
    ("d", "day"),
    ("w", "wk", "week"),
)
_LONGEST_HOSTNAME = 255


def is_date_time(text: str) -> bool:
    """RFC 3339, with a day that exists."""
    match = _date_time(text)
    return match is not None and _exists(match.group(1), match.group(2), match.group(3))


def is_date(text: str) -> bool:
    match = _day(text)
    if match is None:
        return False
    year = "0400" if match.group(1) == "0000" else match.group(1)  # a leap year that Python does not know
    return _exists(year, match.group(2), match.group(3))


def is_base64(text: str) -> bool:
    return _base64(text) is not None


def is_duration(text: str) -> bool:
    """As Go writes durations, or with something in it that looks like one of Scala's."""
    return _go_duration(text) is not None or any(_is_unit(span[2].lower()) for span in _spans(text))


def _is_unit(word: str) -> bool:
    return any(word in row or word.startswith(row[-1]) for row in _UNITS)


def _exists(year: str, month: str, day: str) -> bool:
    if "01" <= day <= "28" and "01" <= month <= "12" and year != "0000":
        return True
    try:
        date(int(year), int(month), int(day))
    except ValueError:
        return False
    return True


def _is_ipv4(text: str) -> bool:
    """Leading zeros are read over, and an address that stands for one of IPv4 is one."""
    found = _decimal(text)
    if found is not None:
        return all(int(part) <= 255 for part in found.groups())
    return "." in text and text.lower().startswith("::ffff:") and _is_address(text)


def _is_ipv6(text: str) -> bool:
    return ":" in text and "%" not in text and _is_address(text)


def _is_address(text: str) -> bool:
    try:
        parse_address(text)
    except InvalidAddressError:
        return False
    return True


def _is_network(text: str) -> bool:
    try:
        parse_network(text)
    except InvalidAddressError:
        return False
    return True


def _is_hostname(text: str) -> bool:
    """Labels with inner dashes, the last one of letters; or a single label, with a dash behind its first character."""
    if not text or len(text.encode("utf-8", "surrogatepass")) > _LONGEST_HOSTNAME:
        return False
    *labels, last = text.split(".")
    if not labels:
        rest = last[2:] if last[1:2] == "-" else last[1:]
        return _is_named(last[0]) and len(rest) <= 62 and all(map(_is_named, rest))
    inner = all(0 < len(label) <= 63 and _is_label(label) for label in labels)
    return inner and 2 <= len(last) <= 63 and all(map(_is_letter, last))


def _is_label(label: str) -> bool:
    return _is_named(label[0]) and _is_named(label[-1]) and all(map(_is_named, label.replace("-", "")))


def _is_letter(character: str) -> bool:
    return unicodedata.category(character)[0] == "L"


def _is_named(character: str) -> bool:
    """A letter, a symbol or a digit."""
    return character in "0123456789" or unicodedata.category(character)[0] in "LS"


def _is_email(text: str) -> bool:
    """An address, with or without a name before it."""
    inner = _in_brackets(text)
    return _address(inner[1] if inner is not None else text) is not None


def _is_mac(text: str) -> bool:
    digits = re.sub("[:.-]", "", text)
    plain = re.fullmatch("[0-9a-fA-F]+", text) is not None
    return (plain or re.fullmatch(_MAC, text, re.IGNORECASE) is not None) and len(digits) / 2 in _MAC_BYTES


def _is_isbn10(text: str) -> bool:
    digits = re.sub(r"[\s-]", "", text)
    if not re.fullmatch("[0-9]{9}[0-9Xx]", digits):
        return False
    values = [10 if digit in "Xx" else int(digit) for digit in digits]
    return sum((index + 1) * value for index, value in enumerate(values)) % 11 == 0


def _is_isbn13(text: str) -> bool:
    digits = re.sub(r"[\s-]", "", text)
    if not re.fullmatch("[0-9]{13}", digits):
        return False
    return sum(int(digit) * (3 if index % 2 else 1) for index, digit in enumerate(digits)) % 10 == 0


def _is_credit_card(text: str) -> bool:
    digits = re.sub(r"[^0-9]+", "", text)
    if not re.fullmatch(_CREDIT_CARD, digits):
        return False
    doubled = (int(digit) * (2 if index % 2 else 1) for index, digit in enumerate(reversed(digits)))
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


def _matching(pattern: str, flags: re.RegexFlag = re.ASCII) -> Callable[[str], bool]:
    """Patterns of ours, all of them linear."""
    matches = re.compile(pattern, flags).fullmatch
    return lambda text: matches(text) is not None


def _uuid(third: str, fourth: str) -> Callable[[str], bool]:
    return _matching(_UUID % (third, fourth), re.ASCII | re.IGNORECASE)


FORMATS: Final[Mapping[str, Callable[[str], bool]]] = {
    "bsonobjectid": _matching("[0-9a-fA-F]{24}"),
    "byte": is_base64,
    "cidr": _is_network,
    "creditcard": _is_credit_card,
    "date": is_date,
    "datetime": is_date_time,
    "duration": is_duration,
    "email": _is_email,
    "hexcolor": _matching("#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "hostname": _is_hostname,
    "ipv4": _is_ipv4,
    "ipv6": _is_ipv6,
    "isbn": lambda text: _is_isbn10(text) or _is_isbn13(text),
    "isbn10": _is_isbn10,
    "isbn13": _is_isbn13,
    "k8slongname": lambda text: not subdomain_problems(text),
    "k8sshortname": lambda text: not dns_label_problems(text),
    "mac": _is_mac,
    "password": lambda _: True,
    "rgbcolor": _matching(rf"rgb\(\s*{_BYTE}\s*,\s*{_BYTE}\s*,\s*{_BYTE}\s*\)"),
    "ssn": _matching(r"[0-9]{3}[- ][0-9]{2}[- ][0-9]{4}"),
    "uri": lambda text: not uri_problems(text),
    "uuid": _uuid("[0-9a-f]{4}", "[0-9a-f]{4}"),
    "uuid3": _uuid("3[0-9a-f]{3}", "[0-9a-f]{4}"),
    "uuid4": _uuid("4[0-9a-f]{3}", "[89ab][0-9a-f]{3}"),
    "uuid5": _uuid("5[0-9a-f]{3}", "[89ab][0-9a-f]{3}"),
}
