"""From an eval.yml that fits its schema to an Eval; every file that it names is read on the way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tamesu.base.canonical import Json
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
    ModelJudge,
    OutputSchema,
    Policy,
    Prompt,
    Reference,
    RoleModel,
    Rubric,
    Sources,
)
from tamesu.core.routes import canonical_provider
from tamesu.core.tasks import BUNDLE
from tamesu.edge.documents.built_in_task import check_without_file
from tamesu.edge.documents.dataset_reader import read_dataset
from tamesu.edge.documents.document import Document, NodePath
from tamesu.edge.documents.judge_prompt_reader import read_judge_prompt
from tamesu.edge.documents.output_schema_reader import check_output_schema, read_output_schema
from tamesu.edge.documents.prompt_reader import read_prompt
from tamesu.edge.documents.reading import Reading
from tamesu.edge.documents.recordings_reader import read_recordings
from tamesu.edge.documents.rubric_reader import read_rubric
from tamesu.edge.documents.sources_reader import ReadSources, read_sources
from tamesu.edge.documents.task_reader import check_task


@dataclass(frozen=True, slots=True)
class EvalBuilder:
    """From the manifest's plain values to an Eval; every path it names is read on the way."""

    reading: Reading
    document: Document
    ref: EvalRef
    default_task: Json

    def build(self) -> Eval:
        """Return the eval; what cannot be had is an error among the findings, and empty here."""
        value: dict[str, Any] = self.document.value  # type: ignore[assignment]
        dataset = self._dataset(value.get("dataset"))
        task = str(value.get("task", self.default_task or BUNDLE))
        execution = self._execution(value.get("execution", {}), task)
        arms = tuple(self._arm(number, arm) for number, arm in enumerate(value.get("arms", ())))
        models = tuple(self._model(entry) for entry in value.get("runs", ()))
        defaults = self._defaults(value.get("defaults", {}))
        policy = self._policy(value)
        recordings = dict(self._recordings(value))
        output_schema = self._output_schema(value.get("output_schema"))
        return Eval(
            ref=self.ref,
            file=self.document.label,
            name=value.get("name", self.ref.eval),
            question=value.get("question", ""),
            description=value.get("description", ""),
            status=value.get("status", "active"),
            task=task,
            dataset=dataset,
            execution=execution,
            defaults=defaults,
            arms=arms,
            models=models,
            policy=policy,
            recordings=recordings,
            content=tuple(self.reading.files.values()),
            output_schema=output_schema,
            pictures=dict(self.reading.pictures),
        )

    def _target(self, path: NodePath, written: object) -> Path | None:
        return self.reading.file(self.document, path, written)

    def _dataset(self, written: object) -> Dataset:
        target = None if written is None else self._target(("dataset",), written)
        read = None if target is None else self.reading.shared("dataset", target, read_dataset)
        return read or Dataset("", str(written), ())

    def _execution(self, value: dict[str, Any], task: str) -> Execution:
        if value.get("backend", "native") == "native":
            return self._made(value, None, ReadSources(Sources("", ()), ()))
        if "file" not in value:
            check_without_file(self.reading, self.document, value, task)
            return self._made(value, None, ReadSources(Sources("", ()), ()))
        file = self._target(("execution", "file"), value["file"])
        if file is None:
            return self._made(value, None, ReadSources(Sources("", ()), ()))
        check_task(self.reading, self.document, file, value["task"])
        return self._made(value, file, read_sources(self.reading, self.document, value, file))

    def _made(self, value: dict[str, Any], file: Path | None, read: ReadSources) -> Execution:
        artifacts = value.get("artifacts", {})
        return Execution(
            backend=value.get("backend", "native"),
            file=None if file is None else self.reading.relative(file),
            task=value["task"] if "file" in value and value.get("backend") == "inspect" else None,
            task_args=value.get("task_args", {}),
            sources=read.sources,
            images=tuple(image.reference for image in read.images),
            limits=Limits(**value.get("limits", {})),
            artifacts=ArtifactPolicy(
                required=tuple(artifacts.get("required", ())),
                allowed=tuple(artifacts.get("allowed", ())),
                review=_review(artifacts.get("review")),
                max_bytes=artifacts.get("max_bytes", ArtifactPolicy().max_bytes),
            ),
            allow_mutable_images=value.get("allow_mutable_images", False),
            options=value.get("inspect", {}),
            model_roles={name: _role(role) for name, role in value.get("model_roles", {}).items()},
        )

    def _prompt(self, path: NodePath, written: object) -> Prompt | None:
        target = None if written is None else self._target(path, written)
        return None if target is None else read_prompt(self.reading, target)

    def _judge_prompt(self, path: NodePath, written: object) -> Prompt | None:
        target = None if written is None else self._target(path, written)
        return None if target is None else read_judge_prompt(self.reading, target)

    def _reference(self, path: NodePath, written: Any) -> Reference | None:
        settings = {} if isinstance(written, str) else {k: v for k, v in written.items() if k != "path"}
        target = self._target(path, written if isinstance(written, str) else written.get("path"))
        digest = None if target is None else self.reading.digest(target)
        return None if digest is None else Reference(digest, settings)

    def _output_schema(self, written: Any) -> OutputSchema | None:
        at = ("output_schema",)
        if written is None:
            return None
        if isinstance(written, dict):
            check_output_schema(self.reading, self.document, at, written)
            return OutputSchema(None, written)
        target = self._target(at, written)
        return None if target is None else read_output_schema(self.reading, target)

    def _arm(self, number: int, value: dict[str, Any]) -> Arm:
        prompts = value.get("prompts", {})
        at = ("arms", number, "prompts")
        named = enumerate(value.get("references", ()))
        references = [self._reference(("arms", number, "references", place), one) for place, one in named]
        return Arm(
            id=value["id"],
            description=value.get("description", ""),
            system=self._prompt((*at, "system"), prompts.get("system")),
            user=self._prompt((*at, "user"), prompts.get("user")),
            parameters=value.get("parameters", {}),
            references=tuple(reference for reference in references if reference is not None),
        )

    @staticmethod
    def _model(value: dict[str, Any]) -> ModelEntry:
        return ModelEntry(
            provider=canonical_provider(value["provider"]),
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
            judge_budget_usd=float(value.get("judge_budget_usd", 0.0)),
        )

    def _rubric(self, path: NodePath, written: object) -> Rubric | None:
        """Return a rubric, an empty one where it cannot be read: what is declared counts when names are compared."""
        if written is None:
            return None
        target = self._target(path, written)
        read = None if target is None else self.reading.shared("rubric", target, read_rubric)
        return read or Rubric(str(written), "", (), "")

    def _judge(self, number: int, value: dict[str, Any], human: Rubric | None) -> ModelJudge:
        """A judge without a rubric of its own answers the one that people answer."""
        at = ("evaluation", "model_judges", number)
        prompts, parameters = value.get("prompts", {}), value.get("parameters", {})
        return ModelJudge(
            id=value["id"],
            provider=canonical_provider(value["provider"]),
            model=value["model"],
            role=value.get("role", "gate"),
            rubric=self._rubric((*at, "rubric"), value.get("rubric")) or human,
            system=self._judge_prompt((*at, "prompts", "system"), prompts.get("system")),
            user=self._judge_prompt((*at, "prompts", "user"), prompts.get("user")),
            repetitions=value.get("repetitions", 1),
            parameters=parameters,
            recordings=self._recording((*at, "parameters"), parameters),
        )

    def _policy(self, value: dict[str, Any]) -> Policy:
        evaluation = value.get("evaluation", {})
        review = evaluation.get("human_review", {})
        metrics = value.get("metrics", {})
        mechanical = tuple(_check(entry) for entry in evaluation.get("mechanical", []))
        human = self._rubric(("evaluation", "human_review", "rubric"), review.get("rubric"))
        default = f"mean_score:{mechanical[0].scorer}" if mechanical else "completion_rate"
        return Policy(
            mechanical=mechanical,
            human_rubric=human,
            acceptance=_acceptance(evaluation.get("acceptance", {})),
            primary_metric=metrics.get("primary", default),
            secondary_metrics=tuple(metrics.get("secondary", ())),
            tolerate_failed=float(value.get("defaults", {}).get("tolerate_failed", 0)),
            judges=tuple(
                self._judge(number, one, human) for number, one in enumerate(evaluation.get("model_judges", ()))
            ),
        )

    def _recordings(self, value: dict[str, Any]) -> Iterable[tuple[str, FileDigest]]:
        """Recorded answers are named in `parameters`, so they are looked for wherever those may stand."""
        places: list[tuple[NodePath, Mapping[str, Json]]] = [
            (("defaults", "parameters"), value.get("defaults", {}).get("parameters", {}))
        ]
        for list_name in ("arms", "runs"):
            for number, entry in enumerate(value.get(list_name, ())):
                places.append(((list_name, number, "parameters"), entry.get("parameters", {})))
        for name, role in value.get("execution", {}).get("model_roles", {}).items():
            places.append((("execution", "model_roles", name, "parameters"), role.get("parameters", {})))
        for at, parameters in places:
            digest = self._recording(at, parameters)
            if digest is not None:
                yield str(parameters["recordings"]), digest

    def _recording(self, at: NodePath, parameters: Mapping[str, Json]) -> FileDigest | None:
        """Return the file of recorded answers that parameters name, looked through."""
        if "recordings" not in parameters:
            return None
        target = self._target((*at, "recordings"), parameters["recordings"])
        digest = None if target is None else self.reading.digest(target)
        if target is not None and digest is not None:
            self.reading.shared("recordings", target, read_recordings)
        return digest


def _review(written: str | list[str] | None) -> str | tuple[str, ...] | None:
    return tuple(written) if isinstance(written, list) else written


def _role(value: dict[str, Any]) -> RoleModel:
    return RoleModel(canonical_provider(value["provider"]), value["model"], value.get("parameters", {}))


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
    settings = dict(options or {})
    return MechanicalCheck(name, float(settings.pop("pass_at", 1.0)), settings)


def _acceptance(value: dict[str, Any]) -> Acceptance:
    human = value.get("human", {})
    default = Acceptance()
    return Acceptance(
        requires=tuple(value.get("requires", default.requires)),
        required_reviews_per_item=human.get("required_reviews_per_item", default.required_reviews_per_item),
        on_disagreement=human.get("on_disagreement", default.on_disagreement),
        selection=value.get("selection", default.selection),
    )
