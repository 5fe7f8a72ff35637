"""A compiled query: the object that users of the package hold. Made by `compile_query`, run as often as wanted.

Nothing that a query does reaches outside: no environment, no files, no input but the one given. Every run has its own
budgets. Whatever goes wrong inside is an EvaluationError; the program itself never changes and may be shared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from muster.errors import BudgetExceededError, EvaluationError, InvalidExpressionError, InvalidObjectError
from muster.jq.budgets import DEFAULT_HOST, DEFAULT_LIMITS, Host, Limits, Meter, exceeded
from muster.jq.generating import generate
from muster.jq.resolving import resolved as r
from muster.jq.resolving.reads import reads_of
from muster.jq.resolving.resolve import resolve
from muster.jq.running.reference import Evaluator
from muster.jq.syntax.parser import parse
from muster.jq.values.regexes import Regexes
from muster.source import Diagnostic, Source, Span
from muster.values.arguments import expected, several, unlike_json
from muster.values.arguments import text as whole_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from muster.jq.generating import GeneratedCode
    from muster.jq.resolving.resolve import ResolvedQuery
    from muster.jq.values.value import Value
    from muster.values.paths import Path

_NO_VARIABLES: Mapping[str, Value] = {}
_LIMITS = "Limits(steps=…, seconds=…)"
_TAKEN = (
    "jq takes what JSON has, as None, bool, int, float, str, list and dict; "
    "json.loads(json.dumps(value, default=str)) makes such values"
)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A part of the query and what it gave, in the order of evaluation."""

    span: Span
    text: str
    value: Value


@dataclass(frozen=True, slots=True)
class Explanation:
    """The outputs of a run, the values of its parts, and the error that ended it, if one did."""

    outputs: tuple[Value, ...]
    parts: tuple[Recorded, ...]
    error: EvaluationError | None


@dataclass(frozen=True)
class Program:
    """Ready to run. `reads` says which parts of its input can matter."""

    source: Source
    query: ResolvedQuery = field(repr=False)
    code: GeneratedCode | None = field(repr=False)
    _regexes: Regexes = field(repr=False, default_factory=Regexes)
    _spare: list[Meter] = field(repr=False, compare=False, default_factory=list)  # of runs that are over
    _single: Callable[..., Value] | None = field(init=False, repr=False, compare=False)
    """What gives the one output, where there is always one and no variables are bound."""

    def __post_init__(self) -> None:
        code = self.code
        single = code.main if code is not None and code.single and not self.query.globals else None
        object.__setattr__(self, "_single", single)

    @cached_property
    def reads(self) -> frozenset[Path]:
        return reads_of(self.query.body)

    def run(
        self,
        value: Value,
        *,
        variables: Mapping[str, Value] = _NO_VARIABLES,
        limits: Limits = DEFAULT_LIMITS,
        host: Host = DEFAULT_HOST,
    ) -> list[Value]:
        """Every output. Raises EvaluationError, or BudgetExceededError when a limit is reached."""
        if limits is not DEFAULT_LIMITS:
            expected(limits, Limits, "limits", _LIMITS)
        main = self._single
        if main is None:
            return list(self.outputs(value, variables=variables, limits=limits, host=host))
        # Of a short query a good part would be making its meter. A run that is under way has its own: it is not in
        # the list meanwhile, and taking it out is one step that no other thread comes between.
        try:
            meter = self._spare.pop()
        except IndexError:
            meter = Meter(limits, host, self._regexes)
        if meter.limits is not limits or meter.host is not host:
            meter = Meter(limits, host, self._regexes)
        try:
            outputs = [main(meter, value)]
            if meter.deadline is None:  # then this makes it a new one again; no call: it would be a tenth of all
                meter.steps = meter.first_slice
                meter.cells = limits.cells
                self._spare.append(meter)
            return outputs
        except EvaluationError:
            raise
        except Exception as error:
            expected(host, Host, "host", "a Host")
            raise _as_evaluation_error(error, limits, value, variables) from error

    def meter(self, limits: Limits = DEFAULT_LIMITS, host: Host = DEFAULT_HOST) -> Meter:
        """For `metered`: a meter of one run, which the caller can look at afterwards."""
        expected(limits, Limits, "limits", _LIMITS)
        return Meter(limits, expected(host, Host, "host", "a Host"), self._regexes)

    def outputs(
        self,
        value: Value,
        *,
        variables: Mapping[str, Value] = _NO_VARIABLES,
        limits: Limits = DEFAULT_LIMITS,
        host: Host = DEFAULT_HOST,
    ) -> Iterator[Value]:
        """Outputs one by one, so that the caller may stop early."""
        return self.metered(value, self.meter(limits, host), variables)

    def metered(self, value: Value, meter: Meter, variables: Mapping[str, Value] = _NO_VARIABLES) -> Iterator[Value]:
        """Outputs one by one, charged to a meter that the caller can look at."""
        arguments = self._arguments(variables)
        left = expected(meter, Meter, "meter", "what Program.meter gives").limits.outputs
        try:
            for output in self._all(meter, value, arguments):
                left -= 1
                if left < 0:
                    meter.exceeded("outputs")
                yield output
        except EvaluationError:
            raise
        except Exception as error:
            raise _as_evaluation_error(error, meter.limits, value, variables) from error

    def _all(self, meter: Meter, value: Value, arguments: Sequence[Value]) -> Iterator[Value]:
        if self.code is None:
            return self._evaluated(meter, value, arguments)
        if self.code.single:
            return iter((self.code.main(meter, value, *arguments),))
        outputs: Iterator[Value] = self.code.main(meter, value, *arguments)
        return outputs

    def _evaluated(self, meter: Meter, value: Value, arguments: Sequence[Value]) -> Iterator[Value]:
        env = dict(zip(self.query.globals.values(), arguments, strict=True))
        return Evaluator(meter).outputs(self.query.body, env, value)

    def reference_outputs(
        self,
        value: Value,
        *,
        variables: Mapping[str, Value] = _NO_VARIABLES,
        limits: Limits = DEFAULT_LIMITS,
        host: Host = DEFAULT_HOST,
    ) -> Iterator[Value]:
        """As `outputs`, by the plain evaluator: the check that generated code is right."""
        meter = self.meter(limits, host)
        try:
            yield from self._evaluated(meter, value, self._arguments(variables))
        except EvaluationError:
            raise
        except Exception as error:
            raise _as_evaluation_error(error, limits, value, variables) from error

    def explain(
        self,
        value: Value,
        *,
        variables: Mapping[str, Value] = _NO_VARIABLES,
        limits: Limits = DEFAULT_LIMITS,
        host: Host = DEFAULT_HOST,
        at_most: int = 1000,
    ) -> Explanation:
        """Run by the plain evaluator and keep what every part of the query gave, up to a number of values."""
        parts: list[Recorded] = []
        text = self.source.text
        written = _written_nodes(self.query.body)

        def record(node: r.Node, result: Value) -> None:
            if len(parts) < at_most and node in written and node.span.end > node.span.start:
                parts.append(Recorded(node.span, text[node.span.start : node.span.end].strip(), result))

        env = dict(zip(self.query.globals.values(), self._arguments(variables), strict=True))
        meter = self.meter(limits, host)
        expected(at_most, int, "at_most", "a number")
        outputs: list[Value] = []
        error: EvaluationError | None = None
        try:
            outputs.extend(Evaluator(meter, record).outputs(self.query.body, env, value))
        except EvaluationError as raised:
            error = raised
        except Exception as raised:
            error = _as_evaluation_error(raised, limits, value, variables)
        return Explanation(tuple(outputs), tuple(parts), error)

    def _arguments(self, variables: Mapping[str, Value]) -> list[Value]:
        if self.query.globals:
            expected(variables, Mapping, "variables", "a mapping of names to values")
        try:
            return [variables[name] for name in self.query.globals]
        except KeyError as missing:
            raise EvaluationError(f"variable defined but not bound: ${missing.args[0]}") from None


def _written_nodes(body: r.Node) -> set[r.Node]:
    """The nodes that stand in the query's own text, not in the definitions of builtins.

    Of several that stand for the same piece of text only the outermost, whose values are those of the text.
    """
    found: dict[Span, r.Node] = {}
    functions: set[r.Function] = set()
    work = [body]
    while work:
        node = work.pop()
        found.setdefault(node.span, node)  # parents come before their children
        work.extend(r.children(node))
        if isinstance(node, r.CallFunction) and not node.function.builtin and node.function not in functions:
            functions.add(node.function)
            work.append(node.function.body)
    return set(found.values())


def _as_evaluation_error(
    error: Exception, limits: Limits, value: Value, variables: Mapping[str, Value]
) -> EvaluationError:
    """Python's own limits are the run's limits. A value that JSON has not is looked for only now: that costs a walk.

    Anything else is our fault, told as an error of the query.
    """
    if isinstance(error, RecursionError):
        return BudgetExceededError("a value is nested too deeply to be walked (budget: depth)", "depth")
    if isinstance(error, MemoryError):
        return exceeded("cells", limits)
    named = expected(variables, Mapping, "variables", "a mapping of names to values").items()
    if where := unlike_json([("value", value), *((f"variables.{name}", each) for name, each in named)]):
        return EvaluationError(f"{where}: {_TAKEN}")
    return EvaluationError(f"internal error: {type(error).__name__}")  # its text could hold any value


def compile_query(text: str, *, variables: Sequence[str] = ()) -> Program:
    """Compile once, run often. `variables` names what `$name` the caller will bind, without the dollar.

    Raises InvalidExpressionError with everything that is wrong with the query.

    >>> compile_query(".disks | map(select(.size > 10)) | length").run({"disks": [{"size": 5}, {"size": 20}]})
    [1]
    """
    whole_text(text, "text", "a query as text")
    if isinstance(variables, str) or not isinstance(variables, Iterable):
        raise InvalidObjectError("variables", "a list of names was expected")
    variables = several(variables, str, "variables", "a list of names")
    source = Source(text)
    for name in variables:
        if not (name.isascii() and name.isidentifier()):
            raise InvalidExpressionError(source, [Diagnostic(f"invalid variable name: ${name}")])
    query = resolve(parse(source), source, variables)
    return Program(source, query, generate(query))
