"""Reading one eval with everything it refers to, or everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from tamesu.base.canonical import Json
from tamesu.base.errors import InvalidDocument
from tamesu.base.model.finding import Finding
from tamesu.base.model.manifest import Eval, EvalRef
from tamesu.core.judging.models import judge_models
from tamesu.core.lint import Remark, effort_remarks, message_remarks, price_remarks, remarks
from tamesu.core.lint.consequences import Part, may_follow
from tamesu.core.lint.judges import judge_price_remarks, judge_prompt_remarks
from tamesu.core.matrix import Matrix, Setting, matrix, model_key
from tamesu.core.routes import canonical_provider, find_route
from tamesu.edge.credentials import base_url, read_environment
from tamesu.edge.documents.confinement import bounds
from tamesu.edge.documents.document import Document
from tamesu.edge.documents.eval_builder import EvalBuilder
from tamesu.edge.documents.layout import config_layout, eval_layout
from tamesu.edge.documents.pruning import Remainder
from tamesu.edge.documents.reading import Reading, Shelf
from tamesu.edge.documents.recordings_reader import answer_remarks
from tamesu.edge.documents.schemas import DocumentKind
from tamesu.edge.documents.settings_reader import read_setting
from tamesu.edge.prices.book import PriceBook, priced, today
from tamesu.edge.store.paths import Project


@dataclass(frozen=True, slots=True)
class ReadEval:
    """An eval and its planned runs, if nothing forbids it; all findings, warnings included; and what was read."""

    ref: EvalRef
    findings: tuple[Finding, ...]
    evaluation: Eval | None
    matrix: Matrix | None
    setting: Setting
    files: frozenset[str] = frozenset()


def read_eval(project: Project, ref: EvalRef, shelf: Shelf | None = None) -> ReadEval:
    """Return an eval as read from its files; nothing of it is executed.

    What it shares with others is read once per shelf.
    """
    reading = Reading(project.root, shelf or Shelf(), bounds=bounds(project.root, project.eval(ref).manifest))
    setting = reading.shared("setting", project.config, lambda own, path: read_setting(own, path, project.models))
    case = reading.shared("case", project.case_file(ref.case), lambda own, path: own.document(path, DocumentKind.CASE))
    default_task = case.value.get("default_task") if case and isinstance(case.value, dict) else None
    reading.files.clear()  # settings count by value and the case does not: neither is content of the eval
    reading.findings.extend((*config_layout(project), *eval_layout(project, ref)))
    manifest = project.eval(ref).manifest
    rest = reading.rest_of(manifest, DocumentKind.EVAL)
    if rest is None:
        return _read(ref, reading, None, None, setting)
    document, lost = rest.document, _with_task(reading, rest, default_task)
    about_shape = len(reading.findings)
    evaluation = EvalBuilder(reading, document, ref, default_task).build()
    asked = (*evaluation.asked_models, *evaluation.policy.judges)
    models = [(model.provider, model.model) for model in asked]
    setting = with_prices(project, setting, models)
    setting = _with_origins(project, setting, (provider for provider, _ in models))
    _place(reading, document, (*remarks(evaluation), *effort_remarks(evaluation, setting)))
    found = reading.findings[about_shape:]
    reading.findings[about_shape:] = [one for one in found if not may_follow(one.rule, lost)]
    runs = None if reading.failed else _matrix(reading, document, evaluation, setting)
    if runs is not None:
        _place(reading, document, (*price_remarks(evaluation, runs, setting), *message_remarks(evaluation, runs)))
        _place(reading, document, answer_remarks(reading, evaluation, runs))
        _place(reading, document, judge_prompt_remarks(evaluation))
        _place(reading, document, judge_price_remarks(evaluation, judge_models(evaluation, setting)))
    return _read(ref, reading, evaluation, runs, setting)


def _with_task(reading: Reading, rest: Remainder, default_task: Json) -> frozenset[Part]:
    """Return the parts that the eval lacks, the task among them when neither it nor its case names one."""
    named = isinstance(rest.document.value, dict) and "task" in rest.document.value
    if named or default_task is not None or ("task",) in rest.lost:
        return rest.lost
    reading.note(rest.document, (), "eval/missing-field", "'task' is missing", "add `task:` to eval.yml")
    return rest.lost | {("task",)}


def _read(ref: EvalRef, reading: Reading, evaluation: Eval | None, runs: Matrix | None, setting: Setting) -> ReadEval:
    findings = reading.told()
    files = frozenset(reading.files)
    if reading.failed:
        return ReadEval(ref, findings, None, None, setting, files)
    return ReadEval(ref, findings, evaluation, runs, setting, files)


def with_prices(project: Project, setting: Setting, models: Iterable[tuple[str, str]]) -> Setting:
    """Return the setting with a price for each model (provider, name) of which anyone states one."""
    book = PriceBook(project.price_memory, today())
    known = {model_key(*model): priced(setting.facts(*model), *model, book) for model in models}
    book.save()
    return replace(setting, models={**setting.models, **known})


def _with_origins(project: Project, setting: Setting, providers: Iterable[str]) -> Setting:
    """Return the setting with the origin of each provider for which the environment or the project names one.

    Raises UsageError for a base URL that is none.
    """
    routes = {canonical_provider(name): route for name in providers if (route := find_route(name)) is not None}
    live = {name: route for name, route in routes.items() if route.base_url_variable is not None}
    if not live:
        return setting
    environment = read_environment(project.root)
    places = {
        name: route.origin(base_url(route, environment, setting.endpoint(name).base_url))
        for name, route in live.items()
    }
    return replace(setting, origins={name: origin for name, origin in places.items() if origin is not None})


def _place(reading: Reading, document: Document, found: Iterable[Remark]) -> None:
    for remark in found:
        reading.note(document, remark.path, remark.rule, remark.message, remark.fix, remark.severity)


def _matrix(reading: Reading, document: Document, evaluation: Eval, setting: Setting) -> Matrix | None:
    try:
        return matrix(evaluation, setting)
    except InvalidDocument as error:
        label, _, rest = str(error).partition(": ")
        message, _, fix = rest.rpartition("; ")
        line = document.position(("defaults", "items")).line if label == document.label else 1
        reading.findings.append(Finding(label, line, 1, "error", "dataset/not-renderable", message, fix))
        return None
