"""The sandbox that prompt templates run in: nothing of Python, no unbounded work, no null printed as a word."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateError
from jinja2.exceptions import SecurityError
from jinja2.nodes import EvalContext
from jinja2.runtime import Context, markup_join, str_join
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import generate_lorem_ipsum, pass_context, pass_eval_context

from tamesu.core.template_counting import COUNTING, with_costs
from tamesu.core.template_growth import check_filter, check_method, check_numbers, formats_too_wide, formatted
from tamesu.core.template_meter import LARGEST_LIST, MOST_MADE, counted, keep, look_through, meter, metered, printed

FAULTS = (
    TemplateError,
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    SyntaxError,  # of Python: too many loops inside each other
    TypeError,
    ValueError,
)
_LARGEST_POWER_BITS = 10_000
_LARGEST_PRODUCT_BITS = 20_000  # no longer number can be printed
_STEPS_OF_A_CALL = 5  # a macro takes as long as some iterations
_OF_JINJA = frozenset({"_loop_vars", "_block_vars"})
_AT_ONCE = frozenset({"join", "sum"})  # filters that need all their elements to be told how much they make


class NullPrinted(ValueError):
    """A template prints a value that is null."""


@pass_context
def _stepped(_: Context, characters: int) -> bool:  # what is passed a context is not computed beforehand
    """Count an iteration or a call whose body holds so many characters."""
    meter().iterate(characters)
    return True


def _weighed(value: Any) -> Any:
    """Return what is compared, looked through."""
    look_through(value)
    return value


@pass_eval_context
def _joined(eval_ctx: EvalContext, *parts: Any) -> str:
    """Return what `~` makes of its parts."""
    meter().make(sum(map(printed, parts)))
    return markup_join(parts) if eval_ctx.autoescape else str_join(parts)


class TemplateSandbox(ImmutableSandboxedEnvironment):
    """Jinja2's immutable sandbox, where a rendering takes a bounded number of steps and makes bounded values."""

    intercepted_binops = frozenset({"*", "**", "%", "+"})

    def __init__(self) -> None:
        super().__init__(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True, finalize=_printable)
        self.filters.update({name: _filtered(name, make) for name, make in self.filters.items()})
        self.filters.update({COUNTING + name: make for name, make in _COUNTING.items()})
        tests: Any = self.tests
        tests.update({name: _tested(test) for name, test in tests.items()})
        self.globals["lipsum"] = _words

    def template(self, text: str) -> Template:
        """Return a template whose renderings are counted. Raises what Jinja2 raises."""
        with metered():  # what is constant is computed here
            return self.from_string(with_costs(self.parse(text)))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Apply an operator. Raises SecurityError where the result would be too large."""
        too_large = _TOO_LARGE[operator]
        if too_large(left, right):
            raise SecurityError(f"the result of '{operator}' is too large")
        return keep(super().call_binop(context, operator, left, right))

    def call(self, context: Context, obj: Any, *args: Any, **kwargs: Any) -> Any:
        """Call what a template may call. Raises SecurityError where the call would make or cost too much."""
        meter().step(_STEPS_OF_A_CALL)
        check_numbers(*args, *kwargs.values())
        text = getattr(getattr(obj, "__wrapped__", obj), "__self__", None)
        if isinstance(text, str):
            look_through(text)
            if obj.__name__ == "join":
                args = tuple(_all_of(one) for one in args)
            check_method(text, obj.__name__, args, {name: kwargs[name] for name in kwargs.keys() - _OF_JINJA})
        return keep(super().call(context, obj, *args, **kwargs))


def _printable(value: Any) -> Any:
    if value is None:
        raise NullPrinted("a value that is printed is null")
    now = meter()
    now.made += len(value) if type(value) is str else printed(value)
    if now.made > MOST_MADE:
        now.make(0)
    return value


def _all_of(value: Any) -> Any:
    return list(counted(value)) if isinstance(value, Iterator) else value


def _filtered(name: str, make: Callable[..., Any]) -> Callable[..., Any]:
    """Return a filter whose work is counted before it is done; what Jinja2 passes to it stands first."""
    first = 0 if getattr(make, "jinja_pass_arg", None) is None else 1

    @wraps(make)
    def filtered(*args: Any, **kwargs: Any) -> Any:
        before, value, rest = args[:first], args[first], args[first + 1 :]
        meter().step()
        if isinstance(value, Iterator):
            value = counted(value)
            value = list(value) if name in _AT_ONCE else value
        else:
            look_through(value)
        check_filter(name, value, rest, kwargs)
        return keep(make(*before, value, *rest, **kwargs))

    return filtered


def _tested(test: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(test)
    def tested(*args: Any, **kwargs: Any) -> Any:
        meter().step()
        for one in args:
            look_through(one)
        return test(*args, **kwargs)

    return tested


@wraps(generate_lorem_ipsum)
def _words(n: int = 5, html: bool = True, min: int = 20, max: int = 100) -> str:  # as Jinja2 calls them
    meter().step(n * max)
    return generate_lorem_ipsum(n, html, min, max)


def _repeats_too_often(left: Any, right: Any) -> bool:
    pairs = ((left, right), (right, left))
    if isinstance(left, int) and isinstance(right, int):
        return left.bit_length() + right.bit_length() > _LARGEST_PRODUCT_BITS
    return any(
        isinstance(many, str | list | tuple) and isinstance(times, int) and len(many) * times > LARGEST_LIST
        for many, times in pairs
    )


def _is_too_high(left: Any, right: Any) -> bool:
    return isinstance(left, int) and isinstance(right, int) and left.bit_length() * right > _LARGEST_POWER_BITS


def _formats_too_much(left: Any, right: Any) -> bool:
    if not isinstance(left, str):
        return False
    if not formats_too_wide(left):
        meter().make(formatted(left, right))
        return False
    return True


def _adds_too_much(left: Any, right: Any) -> bool:
    if isinstance(left, str | list | tuple) and isinstance(right, str | list | tuple):
        meter().make(len(left) + len(right))
    return False


_TOO_LARGE: Mapping[str, Callable[[Any, Any], bool]] = {
    "*": _repeats_too_often,
    "**": _is_too_high,
    "%": _formats_too_much,
    "+": _adds_too_much,
}
_COUNTING: Mapping[str, Callable[..., Any]] = {
    "joined": _joined,
    "kept": keep,
    "stepped": _stepped,
    "weighed": _weighed,
}
