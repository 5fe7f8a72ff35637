"""Parsing exactly as cel-go's generated parser does, with its recovery from syntax errors and its messages.

The parser hands over every text that it does not understand at once. This walks the grammar rule by rule the way an
ANTLR parser does: at every decision it checks what may come, tries to delete or to insert one token, and otherwise
skips to what may follow. So several errors are found in one go, and their words are those that users of cel-go know.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from muster.cel.costs.compile_budget import PER_RULE
from muster.cel.syntax import lexer
from muster.cel.syntax.concrete import Context, TooDeepError, Translator
from muster.cel.syntax.grammar import (
    FIRST,
    RULE_END,
    RULES,
    Alternative,
    Choice,
    Element,
    LeftRecursion,
    Loop,
    Opt,
    Ref,
    Tok,
    display,
)
from muster.cel.syntax.lexer import DISPLAY, Token
from muster.cel.syntax.nodes import Builder, reported
from muster.cel.syntax.tree import Tree
from muster.cel.syntax.walking import Walk, run
from muster.errors import InvalidExpressionError
from muster.source import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muster.cel.costs.compile_budget import CompileBudget
    from muster.cel.environment import Env
    from muster.cel.syntax.lexer import Unrecognized
    from muster.source import Source

_KEYWORD_AS_FIELD = re.compile(r"no viable alternative at input '.(true|false|null)'")

_ENDS = frozenset((lexer.COMMA, lexer.COLON, lexer.RPAREN, lexer.RBRACKET, lexer.RBRACE))
_ATOMS = {
    lexer.IDENTIFIER: "Ident",
    **dict.fromkeys(
        (
            lexer.NUM_INT,
            lexer.NUM_UINT,
            lexer.NUM_FLOAT,
            lexer.STRING,
            lexer.BYTES,
            lexer.TRUE,
            lexer.FALSE,
            lexer.NULL,
        ),
        "Literal",
    ),
}


class _SyntaxProblem(Exception):  # noqa: N818 - it never leaves this module, and most of them are recovered from
    def __init__(self, message: str, token: Token) -> None:
        self.message = message
        self.token = token
        super().__init__(message)


class _AbortedError(Exception):
    """A limit was reached; what was found until then is reported."""


def recover(
    source: Source, tokens: list[Token], unrecognized: Sequence[Unrecognized], env: Env, budget: CompileBudget
) -> Tree:
    """The tree after all, or InvalidExpressionError with every diagnostic."""
    builder = Builder(env, budget)
    recognizer = _Recognizer(source.text, tokens, unrecognized, env, budget)
    diagnostics = recognizer.diagnostics
    expr = None
    try:
        context = run(recognizer.rule("start", 0, RULE_END))
        recognizer.finish()
        expr = run(Translator(builder, env.limits.recursion).walk(context))
    except _AbortedError as aborted:
        if str(aborted):
            diagnostics.append(Diagnostic(str(aborted)))
    except TooDeepError:
        diagnostics.append(Diagnostic("max recursion depth exceeded"))
    diagnostics.extend(builder.diagnostics)
    if diagnostics or expr is None:
        raise InvalidExpressionError(source, reported(diagnostics))
    return Tree(source, expr, builder.offsets, builder.macro_calls)


def _shown(text: str) -> str:
    return "'" + text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t") + "'"


class _Recognizer:
    """The state of one parse: the place in the tokens, the open rules, and whether an error was just reported."""

    def __init__(
        self, text: str, tokens: list[Token], unrecognized: Sequence[Unrecognized], env: Env, budget: CompileBudget
    ) -> None:
        self.diagnostics: list[Diagnostic] = []
        self._text = text
        self._tokens = tokens
        self._last = len(tokens) - 1
        self._index = 0
        self._fetched = -1
        self._lost = unrecognized
        self._unrecognized = list(reversed(unrecognized))
        self._limits = env.limits
        self._budget = budget
        self._reports = 0
        self._depths = dict.fromkeys(RULES, 0)
        self._follows: list[int] = []  # what may stand behind each open rule, outermost first
        self._look = 0  # what may come in the present state
        self._state: tuple[int, str] = (0, "")
        self._recovering = False
        self._error_index = -1
        self._error_states: set[tuple[int, str]] = set()
        self._attempts = 0
        self._predictors: dict[str, Callable[[], int]] = {
            "unary": self._predict_unary,
            "primary": self._predict_primary,
            "literal": self._predict_literal,
            "minus": self._predict_minus,
            "comma before element": lambda: self._predict_comma("optExpr"),
            "comma before field": lambda: self._predict_comma("optField"),
        }

    # Tokens.

    def _token(self, ahead: int = 1) -> Token:
        index = self._index + ahead - 1
        if index > self._last:
            index = self._last
        if index > self._fetched:
            self._fetched = index
            self._report_unrecognized(index)
        return self._tokens[index]

    def _report_unrecognized(self, index: int) -> None:
        while self._unrecognized and self._unrecognized[-1].before <= index:
            text, start, _ = self._unrecognized.pop()
            self._syntax_error(f"token recognition error at: '{text}'", start)

    def _consume(self) -> None:
        if self._index < self._last:
            self._index += 1
            self._token()

    def finish(self) -> None:
        self._report_unrecognized(self._last)

    # Errors.

    def _syntax_error(self, message: str, offset: int) -> None:
        message = _KEYWORD_AS_FIELD.sub(r"mismatched input '\1' expecting IDENTIFIER", message)
        if self._reports >= self._limits.errors:
            message = f"More than {self._limits.errors} syntax errors"
            self.diagnostics.append(Diagnostic(f"Syntax error: {message}", offset))
            raise _AbortedError
        self._reports += 1
        self.diagnostics.append(Diagnostic(f"Syntax error: {message}", offset))

    def _report(self, message: str, token: Token) -> None:
        """Report unless nothing was matched since the last error: one mistake makes one message."""
        if not self._recovering:
            self._recovering = True
            self._syntax_error(message, token.start)

    def _matched(self) -> None:
        self._recovering = False
        self._error_index = -1
        self._error_states.clear()

    def _expected(self) -> int:
        """What may come here, given the rules that are open."""
        following = self._look
        expected = following
        for follow in reversed(self._follows):
            if not following & RULE_END:
                break
            following = follow
            expected |= following
        if following & RULE_END:
            expected |= 1 << lexer.EOF
        return expected & ~RULE_END

    def _mismatch(self) -> _SyntaxProblem:
        token = self._token()
        return _SyntaxProblem(f"mismatched input {_shown(token.text)} expecting {display(self._expected())}", token)

    def _no_alternative(self, ahead: int) -> _SyntaxProblem:
        """No way to write the rule begins with the tokens up to `ahead`."""
        first, last = self._token(), self._token(ahead)
        end = last.start if last.kind == lexer.EOF else last.start + len(last.text)
        text = self._between(first.start, end) if first.kind != lexer.EOF else "<EOF>"
        return _SyntaxProblem(f"no viable alternative at input {_shown(text)}", last)

    def _between(self, start: int, end: int) -> str:
        """The text there, without what is no token."""
        parts = []
        for lost in self._lost:
            if start <= lost.start < end:
                parts.append(self._text[start : lost.start])
                start = lost.start + len(lost.text)
        return "".join(parts) + self._text[start:end]

    # Recovery.

    def _sync(self, look: int, element: Element, where: str) -> None:
        """Check at a decision that the next token fits; repair if it does not."""
        self._look = look
        self._state = (id(element), where)
        if self._recovering or look & (RULE_END | 1 << self._token().kind):
            return
        if where == "loop back":
            self._report_unwanted()
            self._skip_to(self._expected() | self._recovery_set(), None)
        elif not self._delete_token():
            raise self._mismatch()

    def _report_unwanted(self) -> None:
        token = self._token()
        self._report(f"extraneous input {_shown(token.text)} expecting {display(self._expected())}", token)

    def _delete_token(self) -> bool:
        """Skip one token if the one behind it is what was expected."""
        if not self._expected() & 1 << self._token(2).kind:
            return False
        self._report_unwanted()
        self._consume()
        self._matched()
        return True

    def _attempt(self) -> None:
        limit = self._limits.recovery_attempts
        if self._attempts >= limit:
            self._syntax_error(f"error recovery attempt limit exceeded: {limit}", self._token().start)
            raise _AbortedError
        self._attempts += 1

    def _recover_inline(self, element: Tok) -> Token:
        """A token that does not fit: delete it, or pretend that the missing one was there, or give up the rule."""
        self._attempt()
        if self._delete_token():
            token = self._token()
            self._consume()
            return token
        after = element.after
        for follow in reversed(self._follows):
            if not after & RULE_END:
                break
            after = (after & ~RULE_END) | follow
        if after & 1 << self._token().kind:
            found = self._token()
            self._report(f"missing {display(self._expected())} at {_shown(found.text)}", found)
            name = DISPLAY[element.kinds[0]]
            place = self._tokens[max(self._index - 1, 0)] if found.kind == lexer.EOF else found
            return Token(element.kinds[0], f"<missing {name}>", place.start)
        raise self._mismatch()

    def _recovery_set(self) -> int:
        mask = 0
        for follow in self._follows[1:]:
            mask |= follow
        return mask & ~RULE_END

    def _recover(self) -> None:
        self._attempt()
        skipped_first = 0
        if self._error_index == self._index and self._state in self._error_states:
            self._consume()  # the same error at the same place again: go on, or this would never end
            skipped_first = 1
        self._error_index = self._index
        self._error_states.add(self._state)
        self._skip_to(self._recovery_set(), self._limits.recovery_lookahead - skipped_first)

    def _skip_to(self, mask: int, limit: int | None) -> None:
        skipped = 0
        while (kind := self._token().kind) != lexer.EOF and not mask >> kind & 1:
            if limit is not None and skipped >= limit:
                allowed = self._limits.recovery_lookahead
                raise _AbortedError(f"error recovery token lookahead limit exceeded: {allowed}")
            skipped += 1
            self._consume()

    # Rules.

    def _atom(self) -> Context | None:
        """An expression of one token, past all the rules between: what long literals consist of."""
        token = self._token()
        label = _ATOMS.get(token.kind)
        if label is None or self._recovering or self._token(2).kind not in _ENDS:
            return None
        if max(self._depths["expr"], self._depths["relation"], self._depths["calc"]) >= self._limits.recursion:
            return None
        self._matched()
        self._consume()
        rule, part = ("primary", "id") if label == "Ident" else ("literal", "tok")
        return Context(rule, token, label, {part: token})

    def rule(self, name: str, precedence: int, follow: int) -> Walk[Context]:
        self._budget.spend(PER_RULE)
        self._depths[name] += 1
        if self._depths[name] > self._limits.recursion:
            raise _AbortedError(f"expression recursion limit exceeded: {self._limits.recursion}")
        self._follows.append(follow)
        context = Context(name, self._token())
        elements = RULES[name]
        try:
            if isinstance(elements[0], LeftRecursion):
                context = yield self._left_recursion(elements[0], context, precedence)
            else:
                yield self._body(elements, context)
        except _SyntaxProblem as problem:
            self._report(problem.message, problem.token)
            self._recover()
        self._follows.pop()
        self._depths[name] -= 1
        return context

    def _body(self, elements: Sequence[Element], context: Context) -> Walk[None]:
        for element in elements:
            if isinstance(element, Tok):
                self._take(element, context)
            elif isinstance(element, Ref):
                self._look, self._state = element.look, (id(element), "")
                child = self._atom() if element.rule == "expr" else None
                if child is None:
                    child = yield self.rule(element.rule, element.precedence, element.after)
                _keep(context, element.label, child)
            else:
                yield self._element(element, context)

    def _element(self, element: Element, context: Context) -> Walk[None]:
        match element:
            case Opt(body=body):
                self._sync(element.look, element, "block")
                if _begins(body, self._token().kind):
                    yield self._body(body, context)
            case Loop():
                yield self._loop(element, context)
            case Choice():
                self._sync(element.look, element, "block")
                alternative = self._chosen(element)
                context.label = alternative.label
                yield self._body(alternative.body, context)
            case _:
                raise TypeError(element)

    def _take(self, element: Tok, context: Context) -> None:
        self._look, self._state = element.look, (id(element), "")
        token = self._token()
        if token.kind in element.kinds:
            self._matched()
            self._consume()
        else:
            token = self._recover_inline(element)
        _keep(context, element.label, token)

    def _loop(self, loop: Loop, context: Context) -> Walk[None]:
        self._sync(loop.look, loop, "block")
        more = loop.at_least_once or self._again(loop)
        while more:
            yield self._body(loop.body, context)
            self._sync(loop.back, loop, "loop back")
            more = self._again(loop)

    def _again(self, loop: Loop) -> bool:
        if loop.predictor:
            return self._predictors[loop.predictor]() == 0
        return _begins(loop.body, self._token().kind)

    def _chosen(self, choice: Choice) -> Alternative:
        if choice.predictor:
            return choice.alternatives[self._predictors[choice.predictor]()]
        for alternative in choice.alternatives:
            if _begins(alternative.body, self._token().kind):
                return alternative
        raise self._no_alternative(1)

    def _left_recursion(self, element: LeftRecursion, context: Context, precedence: int) -> Walk[Context]:
        """The operand with all its suffixes; when one of them fails, what was read of it counts."""
        context.label = element.operand.label
        yield self._body(element.operand.body, context)
        try:
            while (suffix := self._suffix(element, precedence)) is not None:
                left, context = context, Context(context.rule, context.start, suffix.label)
                context.parts["left"] = left
                yield self._body(suffix.body, context)
        except _SyntaxProblem as problem:
            self._report(problem.message, problem.token)
            self._recover()
        return context

    def _suffix(self, element: LeftRecursion, precedence: int) -> Alternative | None:
        kind = self._token().kind
        fitting = [
            suffix for suffix in element.suffixes if suffix.precedence >= precedence and _begins(suffix.body, kind)
        ]
        if len(fitting) > 1:
            self._look, self._state = element.after, (id(element), "suffix")
            return fitting[self._predict_selection()]
        return fitting[0] if fitting else None

    # Decisions that need to look further than one token. Each returns the index of an alternative.

    def _predict_selection(self) -> int:
        """`.?a`, `.a` or a call `.a(`"""
        following = self._token(2).kind
        if following in {lexer.QUESTIONMARK, lexer.ESC_IDENTIFIER}:
            return 0
        if following != lexer.IDENTIFIER:
            raise self._no_alternative(2)
        return 1 if self._token(3).kind == lexer.LPAREN else 0

    def _predict_primary(self) -> int:
        """A name, a call, brackets, or a message, which shows only at its `{` behind the qualified name"""
        kind = self._token().kind
        direct = {lexer.LPAREN: 2, lexer.LBRACKET: 3, lexer.LBRACE: 4}.get(kind)
        if direct is not None:
            return direct
        ahead = 2
        if kind == lexer.DOT:
            if self._token(2).kind != lexer.IDENTIFIER:
                raise self._no_alternative(2)
            ahead = 3
        elif kind != lexer.IDENTIFIER:
            if FIRST["literal"] >> kind & 1:
                return 6
            raise self._no_alternative(1)
        if self._token(ahead).kind == lexer.LPAREN:
            return 1
        while self._token(ahead).kind == lexer.DOT and self._token(ahead + 1).kind == lexer.IDENTIFIER:
            ahead += 2
        return 5 if self._token(ahead).kind == lexer.LBRACE else 0

    def _predict_unary(self) -> int:
        """A minus directly before a number belongs to the number"""
        kind = self._token().kind
        if kind == lexer.EXCLAM:
            return 1
        if kind != lexer.MINUS:
            if FIRST["member"] >> kind & 1:
                return 0
            raise self._no_alternative(1)
        if self._token(2).kind in {lexer.NUM_INT, lexer.NUM_FLOAT}:
            return 0
        if FIRST["member"] >> self._token(2).kind & 1:
            return 2
        raise self._no_alternative(2)

    def _predict_minus(self) -> int:
        """Another minus, or the end of them"""
        if self._token().kind != lexer.MINUS:
            return 1
        if FIRST["member"] >> self._token(2).kind & 1:
            return 0
        raise self._no_alternative(2)

    def _predict_literal(self) -> int:
        kinds = (lexer.NUM_INT, lexer.NUM_UINT, lexer.NUM_FLOAT, lexer.STRING, lexer.BYTES, lexer.TRUE, lexer.FALSE)
        ahead = 2 if self._token().kind == lexer.MINUS else 1
        kind = self._token(ahead).kind
        if kind == lexer.NULL:
            return len(kinds)
        if kind not in kinds or (ahead == 2 and kind not in {lexer.NUM_INT, lexer.NUM_FLOAT}):
            raise self._no_alternative(ahead)
        return kinds.index(kind)

    def _predict_comma(self, element: str) -> int:
        """A comma before another element, or the last comma"""
        if self._token().kind != lexer.COMMA:
            return 1
        return 0 if FIRST[element] >> self._token(2).kind & 1 else 1


def _begins(elements: Sequence[Element], kind: int) -> bool:
    return bool(elements[0].look >> kind & 1)


def _keep(context: Context, label: str, part: Token | Context) -> None:
    if label.endswith("+"):
        context.parts.setdefault(label[:-1], []).append(part)
    elif label:
        context.parts[label] = part
