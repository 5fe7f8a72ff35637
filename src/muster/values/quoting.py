"""Texts and bytes in quotes as Go's %q writes them, which is how upstream error messages name what they refuse."""

from __future__ import annotations

_SHORT = {
    "\a": r"\a",
    "\b": r"\b",
    "\f": r"\f",
    "\n": r"\n",
    "\r": r"\r",
    "\t": r"\t",
    "\v": r"\v",
    "\\": r"\\",
    '"': r"\"",
}


def go_quote(text: str) -> str:
    """The text in double quotes; what cannot be printed is escaped."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return f'"{"".join(map(_escaped, text))}"'


def go_byte(character: str) -> str:
    """The first byte of a character in single quotes: Go reads JSON, and times, byte by byte, and prints the byte as
    the character of that number. A byte that was no UTF-8 has come as a surrogate."""
    code = ord(character)
    byte = chr(code - 0xDC00 if 0xDC80 <= code <= 0xDCFF else character.encode("utf-8", "surrogatepass")[0])
    match byte:
        case "'":
            return r"'\''"
        case '"':
            return "'\"'"
        case _:
            return f"'{_escaped(byte)}'"


def printable(text: str) -> str:
    """The text without quotes; what cannot be printed is escaped, so that it cannot steer a terminal."""
    return text if text.isprintable() else "".join(map(_escaped, text))


def _escaped(char: str) -> str:
    if char in _SHORT:
        return _SHORT[char]
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
