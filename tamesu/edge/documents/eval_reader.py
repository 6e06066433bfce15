"""Reading one eval with everything it refers to, or everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tamesu.base.canonical import Json
from tamesu.base.errors import InvalidDocument
from tamesu.base.model.finding import Finding
from tamesu.base.model.manifest import (
    Acceptance,
    Arm,
    ArtifactPolicy,
    Dataset,
    Defaults,
    Eval,
    EvalRef,
    Execution,
    FileDigest,
    ItemSelection,
    Limits,
    MechanicalCheck,
    ModelEntry,
    Policy,
    Prompt,
    Rubric,
)
from tamesu.core.lint import Remark, price_remarks, remarks
from tamesu.core.matrix import Matrix, Setting, matrix
from tamesu.edge.backends.inspect.recordings import parse_recordings
from tamesu.edge.documents.dataset_reader import read_dataset
from tamesu.edge.documents.document import Document, DocumentFault, NodePath
from tamesu.edge.documents.reading import Reading
from tamesu.edge.documents.rubric_reader import read_rubric
from tamesu.edge.documents.schemas import DocumentKind
from tamesu.edge.documents.settings_reader import FREE, read_setting
from tamesu.edge.documents.sources_reader import read_sources
from tamesu.edge.store.paths import Project


@dataclass(frozen=True, slots=True)
class ReadEval:
    """An eval and its planned runs, if nothing forbids it; and all findings, warnings included."""

    ref: EvalRef
    findings: tuple[Finding, ...]
    evaluation: Eval | None
    matrix: Matrix | None
    setting: Setting


def read_eval(project: Project, ref: EvalRef) -> ReadEval:
    """Return an eval as read from its files; nothing of it is executed."""
    reading = Reading(project.root)
    setting = read_setting(reading, project.config, project.prices)
    case = reading.document(project.case_file(ref.case), DocumentKind.CASE)
    default_task = case.value.get("default_task") if case and isinstance(case.value, dict) else None
    reading.files.clear()  # settings count by value and the case does not: neither is content of the eval
    manifest = project.eval(ref).manifest
    if not reading.contains(manifest):
        label = reading.relative(manifest)
        fix = "keep every file below the project's folder"
        reading.findings.append(Finding(label, 1, 1, "error", "path/escapes", "leads out of the project", fix))
        return _read(ref, reading, None, None, setting)
    document = reading.document(manifest, DocumentKind.EVAL)
    if document is None:
        return _read(ref, reading, None, None, setting)
    evaluation = _Builder(reading, document, ref, default_task).build()
    if evaluation is None:
        return _read(ref, reading, None, None, setting)
    setting = _with_free_replay(setting, evaluation.models)
    _place(reading, document, remarks(evaluation))
    runs = None if reading.failed else _matrix(reading, document, evaluation, setting)
    if runs is not None:
        _place(reading, document, price_remarks(evaluation, runs))
    return _read(ref, reading, evaluation, runs, setting)


def _read(ref: EvalRef, reading: Reading, evaluation: Eval | None, runs: Matrix | None, setting: Setting) -> ReadEval:
    findings = tuple(sorted(set(reading.findings)))
    if reading.failed:
        return ReadEval(ref, findings, None, None, setting)
    return ReadEval(ref, findings, evaluation, runs, setting)


def _with_free_replay(setting: Setting, models: Iterable[ModelEntry]) -> Setting:
    """Recorded answers cost nothing unless a price is registered for them."""
    replayed = {(e.provider, e.model): FREE for e in models if e.provider == "replay"}
    return Setting(setting.inspect_version, {**replayed, **setting.prices})


def _place(reading: Reading, document: Document, found: Iterable[Remark]) -> None:
    for remark in found:
        reading.note(document, remark.path, remark.rule, remark.message, remark.fix)


def _matrix(reading: Reading, document: Document, evaluation: Eval, setting: Setting) -> Matrix | None:
    try:
        return matrix(evaluation, setting)
    except InvalidDocument as error:
        label, _, rest = str(error).partition(": ")
        message, _, fix = rest.rpartition("; ")
        line = document.position(("defaults", "items")).line if label == document.label else 1
        reading.findings.append(Finding(label, line, 1, "error", "dataset/not-renderable", message, fix))
        return None


@dataclass(frozen=True, slots=True)
class _Builder:
    """From the manifest's plain values to an Eval; every path it names is read on the way."""

    reading: Reading
    document: Document
    ref: EvalRef
    default_task: Json

    def build(self) -> Eval | None:
        value: dict[str, Any] = self.document.value  # type: ignore[assignment]
        task = self._required(value, "task", self.default_task)
        if self._required(value, "execution", None) is None or task is None:
            return None
        dataset = self._dataset(value["dataset"])
        execution = self._execution(value["execution"])
        arms = tuple(self._arm(number, arm) for number, arm in enumerate(value["arms"]))
        models = tuple(self._model(entry) for entry in value["runs"])
        defaults = self._defaults(value.get("defaults", {}))
        policy = self._policy(value)
        recordings = dict(self._recordings(value))
        if dataset is None or execution is None or policy is None:
            return None
        return Eval(
            ref=self.ref,
            file=self.document.label,
            name=value.get("name", self.ref.eval),
            question=value.get("question", ""),
            description=value.get("description", ""),
            status=value.get("status", "active"),
            task=str(task),
            dataset=dataset,
            execution=execution,
            defaults=defaults,
            arms=arms,
            models=models,
            policy=policy,
            recordings=recordings,
            content=tuple(self.reading.files.values()),
        )

    def _required(self, value: dict[str, Any], field: str, default: Json) -> Any:
        """Return a field that this version needs although the shape allows to leave it out."""
        if field not in value and default is None:
            self.reading.note(
                self.document, (), "eval/missing-field", f"'{field}' is missing", f"add `{field}:` to eval.yml"
            )  # fmt: skip
        return value.get(field, default)

    def _target(self, path: NodePath, written: object) -> Path | None:
        return self.reading.file(self.document, path, written)

    def _dataset(self, written: str) -> Dataset | None:
        target = self._target(("dataset",), written)
        return None if target is None else read_dataset(self.reading, target)

    def _execution(self, value: dict[str, Any]) -> Execution | None:
        task = self._target(("execution", "file"), value.get("file", "."))
        if task is None:
            return None
        read = read_sources(self.reading, self.document, value, task)
        artifacts = value.get("artifacts", {})
        return Execution(
            backend=value.get("backend", "native"),
            file=self.reading.relative(task),
            task=value["task"],
            task_args=value.get("task_args", {}),
            sources=read.sources,
            images=tuple(image.reference for image in read.images),
            limits=Limits(**value["limits"]),
            artifacts=ArtifactPolicy(
                required=tuple(artifacts.get("required", ())),
                allowed=tuple(artifacts.get("allowed", ())),
                review=artifacts.get("review"),
                max_bytes=artifacts.get("max_bytes", ArtifactPolicy().max_bytes),
            ),
            allow_mutable_images=value.get("allow_mutable_images", False),
            options=value.get("inspect", {}),
            unsupported=tuple(_unsupported(self.document.value)),
        )

    def _prompt(self, path: NodePath, written: object) -> Prompt | None:
        target = None if written is None else self._target(path, written)
        text = None if target is None else self.reading.text(target)
        if target is None or text is None:
            return None
        return Prompt(self.reading.relative(target), text, template=target.suffix == ".j2")

    def _arm(self, number: int, value: dict[str, Any]) -> Arm:
        prompts = value.get("prompts", {})
        at = ("arms", number, "prompts")
        return Arm(
            id=value["id"],
            description=value.get("description", ""),
            system=self._prompt((*at, "system"), prompts.get("system")),
            user=self._prompt((*at, "user"), prompts.get("user")),
            parameters=value.get("parameters", {}),
        )

    @staticmethod
    def _model(value: dict[str, Any]) -> ModelEntry:
        return ModelEntry(
            provider=value["provider"],
            model=value["model"],
            arms=tuple(value["arms"]) if "arms" in value else None,
            repetitions=value.get("repetitions"),
            parameters=value.get("parameters"),
        )

    @staticmethod
    def _defaults(value: dict[str, Any]) -> Defaults:
        return Defaults(
            items=_selection(value.get("items", "all")),
            repetitions=value.get("repetitions", 1),
            concurrency=value.get("concurrency", 4),
            timeout_seconds=value.get("timeout_seconds", 300),
            retries=value.get("retries", 2),
            max_attempts=value.get("max_attempts", 3),
            budget_usd=float(value.get("budget_usd", 0.0)),
            parameters=value.get("parameters", {}),
        )

    def _policy(self, value: dict[str, Any]) -> Policy | None:
        evaluation = value.get("evaluation", {})
        rubric: Rubric | None = None
        if "human_review" in evaluation:
            written = evaluation["human_review"]["rubric"]
            target = self._target(("evaluation", "human_review", "rubric"), written)
            rubric = None if target is None else read_rubric(self.reading, target)
        metrics = value.get("metrics", {})
        mechanical = tuple(_check(entry) for entry in evaluation.get("mechanical", []))
        default = f"mean_score:{mechanical[0].scorer}" if mechanical else "completion_rate"
        return Policy(
            mechanical=mechanical,
            human_rubric=rubric,
            acceptance=_acceptance(evaluation.get("acceptance", {})),
            primary_metric=metrics.get("primary", default),
            secondary_metrics=tuple(metrics.get("secondary", ())),
            tolerate_failed=float(value.get("defaults", {}).get("tolerate_failed", 0)),
        )

    def _recordings(self, value: dict[str, Any]) -> Iterable[tuple[str, FileDigest]]:
        """Recorded answers are named in `parameters`, so they are looked for wherever those may stand."""
        places: list[tuple[NodePath, Mapping[str, Json]]] = [
            (("defaults", "parameters"), value.get("defaults", {}).get("parameters", {}))
        ]
        for list_name in ("arms", "runs"):
            for number, entry in enumerate(value[list_name]):
                places.append(((list_name, number, "parameters"), entry.get("parameters", {})))
        for at, parameters in places:
            if "recordings" in parameters:
                target = self._target((*at, "recordings"), parameters["recordings"])
                if target is not None:
                    self._check_recordings(target)
                    yield str(parameters["recordings"]), self.reading.digest(target)

    def _check_recordings(self, path: Path) -> None:
        try:
            parse_recordings(self.reading.content(path), self.reading.relative(path))
        except DocumentFault as error:
            if error.finding not in self.reading.findings:
                self.reading.findings.append(error.finding)


def _unsupported(value: Any) -> Iterable[str]:
    """Return the fields of the original's manifests that nothing here acts upon yet."""
    if value["execution"].get("model_roles"):
        yield "execution.model_roles"
    if value.get("evaluation", {}).get("model_judges"):
        yield "evaluation.model_judges"
    if "output_schema" in value:
        yield "output_schema"
    if any(arm.get("references") for arm in value["arms"]):
        yield "arms[].references"


def _selection(value: Any) -> ItemSelection:
    if value == "all":
        return ItemSelection("all")
    if "ids" in value:
        return ItemSelection("ids", ids=tuple(value["ids"]))
    if "first" in value:
        return ItemSelection("first", count=value["first"])
    return ItemSelection("random", count=value["random"], seed=value.get("seed", 0))


def _check(entry: Any) -> MechanicalCheck:
    if isinstance(entry, str):
        return MechanicalCheck(entry)
    name, options = next(iter(entry.items()))
    return MechanicalCheck(name, float((options or {}).get("pass_at", 1.0)))


def _acceptance(value: dict[str, Any]) -> Acceptance:
    human = value.get("human", {})
    default = Acceptance()
    return Acceptance(
        requires=tuple(value.get("requires", default.requires)),
        required_reviews_per_item=human.get("required_reviews_per_item", default.required_reviews_per_item),
        on_disagreement=human.get("on_disagreement", default.on_disagreement),
        selection=value.get("selection", default.selection),
    )
