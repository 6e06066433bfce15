"""What a task module declares: its task, scorers and staged roles, read from its text; nothing is executed."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tamesu.base.errors import UsageError
from tamesu.core.scaffold import StagedRole, TaskOutline
from tamesu.edge.documents.regular_files import read_regular_file

# The evals of an experiment share a task module, and reading it is most of what one more eval costs.
_REMEMBERED = 32


def read_task_outline(path: Path, label: str) -> TaskOutline:
    """Return the outline of a task module. Raises UsageError when it does not parse or declares no task or scorer."""
    try:
        tree = ast.parse(read_regular_file(path))
    except FileNotFoundError:
        raise UsageError(f"{label}: does not exist; write the Inspect task of this experiment first") from None
    except OSError as error:
        raise UsageError(f"{label}: cannot be read: {error.strerror}; correct that first") from None
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        raise UsageError(f"{label}:{line}: is not Python: {getattr(error, 'msg', error)}; correct it first") from None
    tasks, scorers = list(_decorated(tree, "task")), list(_decorated(tree, "scorer"))
    for found, what in ((tasks, "@task"), (scorers, "@scorer")):
        if not found:
            raise UsageError(f"{label}: declares no {what} function; write one, or write eval.yml by hand")
    return TaskOutline(tasks[0], tuple(scorers), tuple(dict.fromkeys(_staged(tree))))


def _decorated(tree: ast.Module, decorator: str) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and any(_name(mark) == decorator for mark in node.decorator_list):
            yield node.name


def _name(mark: ast.expr) -> str:
    """Return the last name of a decorator, called or not: `scorer`, `inspect_ai.scorer.scorer(...)`."""
    target = mark.func if isinstance(mark, ast.Call) else mark
    return target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")


def _staged(tree: ast.Module) -> Iterator[StagedRole]:
    """Yield the roles of calls `….add(role, path, body, media_type)` whose role is written out."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add":
            given = [argument.value if isinstance(argument, ast.Constant) else None for argument in node.args]
            if len(given) == 4 and isinstance(given[0], str):
                yield StagedRole(given[0], str(given[3] or ""))


@dataclass(frozen=True, slots=True)
class SyntaxProblem:
    """Why a module is not Python, and the line, from 1."""

    line: int
    message: str


@functools.lru_cache(_REMEMBERED)
def syntax_problem(content: bytes) -> SyntaxProblem | None:
    """Return what keeps a module from being Python; None when it parses."""
    try:
        ast.parse(content)
    except SyntaxError as error:
        return SyntaxProblem(error.lineno or 1, error.msg)
    except (ValueError, RecursionError, MemoryError) as error:
        return SyntaxProblem(1, str(error))
    return None


@functools.lru_cache(_REMEMBERED)
def task_functions(content: bytes) -> tuple[str, ...]:
    """Return the functions of a module that carry @task."""
    return tuple(_decorated(ast.parse(content), "task"))


@functools.lru_cache(_REMEMBERED)
def bare_functions(content: bytes) -> frozenset[str]:
    """Return the functions at the top level of a module that carry no decorator at all."""
    functions = [node for node in ast.parse(content).body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return frozenset(node.name for node in functions if not node.decorator_list)


@functools.lru_cache(_REMEMBERED)
def module_names(content: bytes) -> tuple[str, ...] | None:
    """Return what a module binds at its top level, in order; None where the text alone cannot tell."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    names = tuple(_bound(tree.body))
    dynamic = {"globals", "setattr", "exec", "vars", "__getattr__", "__dict__", "*"}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return None if dynamic & {*names, *used, *attributes} else names


def _bound(statements: Iterable[ast.stmt]) -> Iterator[str]:
    """Yield the names that statements bind, those inside `if`, `try`, `with` and loops included."""
    for statement in statements:
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                yield from (alias.asname or alias.name.partition(".")[0] for alias in aliases)
            case _:
                stored = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
                yield from (node.id for node in stored if isinstance(node.ctx, ast.Store))
                nested = (node for node in ast.walk(statement) if isinstance(node, ast.stmt) and node is not statement)
                yield from _bound(nested)
