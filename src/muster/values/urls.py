"""URLs with the rules and the words of Go's net/url, which is what Kubernetes' url() function and format use."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote

from muster.errors import MusterError
from muster.values.ip import InvalidAddressError, parse_address
from muster.values.quoting import go_quote
from muster.values.remembering import remembered

_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~")
_IN_HOST = _UNRESERVED | frozenset(b"!$&'()*+,;=:[]<>\"")
_IN_PATH = _UNRESERVED | frozenset(b"$&+,/:;=@")
_VALID_IN_PATH = _IN_PATH | frozenset(b"!'()*[]%")
_USER_INFO = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+\-.]*):")
_CONTROL = re.compile("[\x00-\x1f\x7f]")
_PORT = re.compile("(?::[0-9]*)?")
_HEX_PAIR = re.compile("%[0-9A-Fa-f]{2}")
_MOST_PARAMETERS = 10_000

_HOST_CHARACTERS = "!$&'()*+,;=:[]<>\"-_.~"  # what Go leaves as it is in a host


class InvalidUrlError(MusterError):
    """A text that is no URL, in the words of net/url."""


@dataclass(frozen=True, slots=True)
class Url:
    """A parsed URL. `path` is unescaped; `escaped_path` is what it was, or would be, written as."""

    scheme: str = ""
    opaque: str = ""
    user: str = ""
    host: str = ""
    path: str = ""
    escaped_path: str = ""
    raw_query: str = ""
    force_query: bool = False
    fragment: str = ""

    @property
    def hostname(self) -> str:
        return _split_host(self.host)[0]

    @property
    def port(self) -> str:
        return _split_host(self.host)[1]

    @property
    def query(self) -> dict[str, list[str]]:
        """The parameters; those that cannot be read are left out."""
        found: dict[str, list[str]] = {}
        if self.raw_query.count("&") >= _MOST_PARAMETERS:
            return found
        for parameter in self.raw_query.split("&"):
            if not parameter or ";" in parameter:
                continue
            key, _, value = parameter.partition("=")
            try:
                pair = _unescape_query(key), _unescape_query(value)
            except InvalidUrlError:
                continue
            found.setdefault(pair[0], []).append(pair[1])
        return found

    def __str__(self) -> str:
        text = f"{self.scheme}:" if self.scheme else ""
        if self.opaque:
            text += self.opaque
        else:
            if self.host or self.user:
                host = quote(self.host, safe=_HOST_CHARACTERS, errors="surrogatepass")
                text += f"//{self.user}{'@' if self.user else ''}{host}"
            text += self.escaped_path
        if self.raw_query or self.force_query:
            text += f"?{self.raw_query}"
        return f"{text}#{self.fragment}" if self.fragment else text


@remembered(4096)
def parse_request_uri(text: str) -> Url:
    """An absolute URI or an absolute path; a # is part of the path. Raises InvalidUrlError."""
    try:
        return _parse(text, via_request=True)
    except InvalidUrlError as error:
        raise InvalidUrlError(f"parse {go_quote(text)}: {error}") from None


@remembered(4096)
def parse_url(text: str) -> Url:
    """Any URL reference, with its fragment. Raises InvalidUrlError."""
    rest, _, fragment = text.partition("#")
    try:
        parsed = _parse(rest, via_request=False)
    except InvalidUrlError as error:
        raise InvalidUrlError(f"parse {go_quote(rest)}: {error}") from None
    if not fragment:
        return parsed
    try:
        _unescape(fragment)
    except InvalidUrlError as error:
        raise InvalidUrlError(f"parse {go_quote(text)}: {error}") from None
    return Url(
        parsed.scheme,
        parsed.opaque,
        parsed.user,
        parsed.host,
        parsed.path,
        parsed.escaped_path,
        parsed.raw_query,
        parsed.force_query,
        fragment,
    )


def _parse(text: str, *, via_request: bool) -> Url:
    if _CONTROL.search(text):
        raise InvalidUrlError("net/url: invalid control character in URL")
    if not text and via_request:
        raise InvalidUrlError("empty url")
    if text == "*":
        return Url(path="*", escaped_path="*")
    if text.startswith(":"):
        raise InvalidUrlError("missing protocol scheme")
    found = _SCHEME.match(text)
    scheme = found[1].lower() if found else ""
    rest = text[found.end() :] if found else text
    force_query = rest.endswith("?") and rest.count("?") == 1
    rest, _, query = rest.partition("?")
    if not rest.startswith("/"):
        if scheme:
            return Url(scheme, opaque=rest, raw_query=query, force_query=force_query)
        if via_request:
            raise InvalidUrlError("invalid URI for request")
        if ":" in rest.partition("/")[0]:
            raise InvalidUrlError("first path segment in URL cannot contain colon")
    user = host = ""
    if rest.startswith("//") and (scheme or (not via_request and not rest.startswith("///"))):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        user, host = _parse_authority(scheme, authority)
    path = _unescape(rest)
    return Url(scheme, "", user, host, path, _escaped_path(rest, path), query, force_query)


def _parse_authority(scheme: str, authority: str) -> tuple[str, str]:
    user, at, host_text = authority.rpartition("@")
    host = _parse_host(scheme, host_text)
    if at and not _USER_INFO.fullmatch(user):
        raise InvalidUrlError("net/url: invalid userinfo")
    if at:
        _unescape(user)
    return user, host


def _parse_host(scheme: str, host: str) -> str:
    bracket = host.rfind("[")
    if bracket > 0:
        raise InvalidUrlError("invalid IP-literal")
    if bracket == 0:
        return _parse_bracketed(host)
    colon = host.find(":")
    if colon != -1:
        if scheme not in {"http", "https"}:
            colon = host.rfind(":")
        _check_port(host[colon:])
    return _unescape_host(host)


def _parse_bracketed(host: str) -> str:
    """An IPv6 address in brackets, perhaps with a zone and a port."""
    closing = host.rfind("]")
    if closing == -1:
        raise InvalidUrlError("missing ']' in host")
    port = host[closing + 1 :]
    _check_port(port)
    name = host[1:closing]
    zone = name.find("%25")
    plain = _unescape_host(name) if zone == -1 else _unescape_host(name[:zone]) + _unescape_zone(name[zone:])
    try:
        address, _ = parse_address(plain)
    except InvalidAddressError as error:
        raise InvalidUrlError(f"invalid host: {error}") from None
    if address.version == 4:
        raise InvalidUrlError("invalid IP-literal")
    return f"[{plain}]{port}"


def _check_port(port: str) -> None:
    if not _PORT.fullmatch(port):
        raise InvalidUrlError(f"invalid port {go_quote(port)} after host")


def _split_host(host: str) -> tuple[str, str]:
    name, port = host, ""
    colon = host.rfind(":")
    if colon != -1 and _PORT.fullmatch(host[colon:]):
        name, port = host[:colon], host[colon + 1 :]
    if name.startswith("[") and name.endswith("]"):
        name = name[1:-1]
    return name, port


def _bad_escape(text: str) -> InvalidUrlError:
    return InvalidUrlError(f"invalid URL escape {go_quote(text)}")


def _unescape(text: str) -> str:
    """The text with %xx decoded."""
    position = text.find("%")
    if position == -1:
        return text
    while position != -1:
        if not _HEX_PAIR.match(text, position):
            raise _bad_escape(text[position : position + 3])
        position = text.find("%", position + 3)
    return (
        _HEX_PAIR.sub(lambda pair: chr(int(pair[0][1:], 16)), _as_latin(text))
        .encode("latin-1")
        .decode("utf-8", "replace")
    )


def _as_latin(text: str) -> str:
    """One character per byte of the UTF-8 form, so that decoded bytes join up with their neighbours."""
    return text.encode("utf-8", "surrogatepass").decode("latin-1")


def _unescape_query(text: str) -> str:
    return _unescape(text.replace("+", " "))


def _unescape_host(text: str) -> str:
    """A host may have only bytes above ASCII escaped, and only some characters unescaped."""
    for index, char in enumerate(text):
        if char == "%":
            if not _HEX_PAIR.match(text, index):
                raise _bad_escape(text[index : index + 3])
            if text[index + 1] < "8" and text[index : index + 3] != "%25":
                raise _bad_escape(text[index : index + 3])
        elif ord(char) < 0x80 and ord(char) not in _IN_HOST:
            raise InvalidUrlError(f"invalid character {go_quote(char)} in host name")
    return _unescape(text)


def _unescape_zone(text: str) -> str:
    for pair in _HEX_PAIR.finditer(text):
        code = int(pair[0][1:], 16)
        if pair[0] != "%25" and code != 0x20 and code not in _IN_HOST:
            raise _bad_escape(pair[0])
    return _unescape(text)


def _escaped_path(raw: str, path: str) -> str:
    """The path as it was written if that is a valid way to write it, otherwise escaped anew."""
    if all(byte in _VALID_IN_PATH for byte in raw.encode("utf-8", "surrogatepass")):
        return raw
    return "".join(chr(byte) if byte in _IN_PATH else f"%{byte:02X}" for byte in path.encode("utf-8", "surrogatepass"))
