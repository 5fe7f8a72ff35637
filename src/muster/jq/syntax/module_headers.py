"""What may stand before a query: the metadata of a module, and imports. Read so that resolving can refuse it."""

from __future__ import annotations

from muster.jq.syntax import tree
from muster.jq.syntax.lexer import KEYWORDS
from muster.jq.syntax.token_reader import TokenReader


class ModuleHeaderParser(TokenReader):
    """The rules of module headers."""

    def import_(self) -> tree.Import:
        """import = "import" string "as" (name | variable) [object] ";" | "include" string [object] ";" """
        start = self.token.start
        aliased = self.advance().kind == "import"
        path = self.expect("string").value
        if aliased:
            self.expect("as")
            if not (self.accept("name") or self.accept("variable")):
                raise self.unexpected()
        if self.token.kind == "{":
            self.constant_object()
        self.expect(";")
        return tree.Import(path, self.span(start))

    def constant_object(self) -> None:
        """Module metadata: read and forgotten."""
        self.expect("{")
        while not self.accept("}"):
            if self.token.kind not in KEYWORDS and self.token.kind not in ("name", "string"):
                raise self.unexpected()
            self.advance()
            self.expect(":")
            self.constant()
            if self.token.kind != "}":
                self.expect(",")

    def constant(self) -> None:
        if self.token.kind == "{":
            self.constant_object()
        elif self.accept("["):
            if not self.accept("]"):
                self.constant()
                while self.accept(","):
                    self.constant()
                self.expect("]")
        elif not any(self.accept(kind) for kind in ("number", "string", "null", "true", "false")):
            raise self.unexpected()
