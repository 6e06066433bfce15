"""The matrix: `runs x arms x repetitions` of an eval, each resolved to a run with its identity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from tamesu.base.canonical import Json
from tamesu.base.model.endpoint import EndpointFacts
from tamesu.base.model.facts import ModelFacts
from tamesu.base.model.manifest import Arm, Eval, FileDigest, ImageReference, Item, Limits, ModelEntry, RoleModel
from tamesu.base.model.plan import FrozenDataset, RoleRun, RunSpec, SourceCopy
from tamesu.core.checks.fields import expected_paths, schema_fields
from tamesu.core.freeze import Assets, Targets, freeze, select_items, sent_pictures
from tamesu.core.identity import (
    BUILT_IN_TASK_VERSION,
    ContentFingerprint,
    GenerationInputs,
    ScoringInputs,
    content_fingerprint,
    generation_map,
    judgement_map,
    make_identity,
    run_id,
    scoring_map,
)
from tamesu.core.picture_prices import picture_price, sent_picture_tokens, with_tool
from tamesu.core.pricing import largest_call_usd, largest_prompt_bytes
from tamesu.core.routes import canonical_provider, find_route
from tamesu.core.task_parameters import task_parameters
from tamesu.core.tasks import TEXT, built_in_checks, required_scorers, runs_built_in_task, task_artifacts

ModelKey = tuple[str, str]
_UNKNOWN = ModelFacts()


def model_key(provider: str, model: str) -> ModelKey:
    """Return the key of a model, the same for all names of its provider."""
    return canonical_provider(provider), model


@dataclass(frozen=True, slots=True)
class Setting:
    """What a plan depends on beside the eval: the pinned Inspect version, what is known about models and endpoints.

    `endpoints` are as the project states them, `origins` those that environment or project set; both by the canonical
    name of the provider.
    """

    inspect_version: str
    models: Mapping[ModelKey, ModelFacts]
    origins: Mapping[str, str] = field(default_factory=dict)
    endpoints: Mapping[str, EndpointFacts] = field(default_factory=dict)

    def facts(self, provider: str, model: str) -> ModelFacts:
        """Return what is known about a model; nothing is known about one that nobody names."""
        return self.models.get(model_key(provider, model), _UNKNOWN)

    def endpoint(self, provider: str) -> EndpointFacts:
        """Return what the project says about a provider's endpoint; nothing of one that it does not name."""
        return self.endpoints.get(canonical_provider(provider)) or EndpointFacts(provider)

    def origin(self, provider: str) -> str | None:
        """Return where a provider's models answer; None for the place that its client knows by itself."""
        return self.origins.get(canonical_provider(provider))


def model_uri(provider: str, model: str) -> str:
    """Return a model as Inspect names it."""
    route = find_route(provider)
    return f"{provider}/{model}" if route is None else route.model_uri(model)


@dataclass(frozen=True, slots=True)
class Matrix:
    """All planned runs of an eval, in plan order, and the frozen dataset of each arm.

    `expects` are by item ID the fields of which something is expected, None for a task that has no fields.
    """

    runs: tuple[RunSpec, ...]
    datasets: Mapping[str, FrozenDataset]
    expects: Mapping[str, frozenset[str]] | None = None


def matrix(evaluation: Eval, setting: Setting) -> Matrix:
    """Return the planned runs; the dataset is rendered once per arm.

    Raises InvalidDocument for a selection or template that cannot be served.
    """
    items = select_items(evaluation.dataset, evaluation.defaults.items)
    targets = Targets.JSON if built_in_checks(evaluation.task) else Targets.TEXT
    assets = Assets.SENT if evaluation.execution.task is None else Assets.COUNTED  # a task file hands over its own
    datasets = {arm.id: freeze(items, arm, targets, assets) for arm in evaluation.arms}
    pictures = {arm.id: _pictures(items, arm) if assets is Assets.SENT else () for arm in evaluation.arms}
    asked = {name: _Asked.of(dataset, pictures[name]) for name, dataset in datasets.items()}
    shared = _Shared.of(evaluation, setting)
    runs = tuple(_run(shared, entry, arm, repetition, asked[arm.id]) for entry, arm, repetition in _cells(evaluation))
    return Matrix(runs, datasets, _expects(evaluation, items))


@dataclass(frozen=True, slots=True)
class _Asked:
    """What all runs of one arm ask; they share these objects, as there may be thousands of runs and items."""

    digest: str
    items: tuple[str, ...]
    sample_digests: Mapping[str, str]
    assets: Mapping[str, tuple[str, ...]]
    prompt_bytes: int
    pictures: tuple[SourceCopy, ...]
    most_pictures: int

    @classmethod
    def of(cls, dataset: FrozenDataset, pictures: tuple[SourceCopy, ...]) -> _Asked:
        samples = dataset.samples
        return cls(
            digest=dataset.digest,
            items=tuple(sample.item for sample in samples),
            sample_digests={sample.item: sample.digest for sample in samples},
            assets={sample.item: sample.assets for sample in samples if sample.assets},
            prompt_bytes=largest_prompt_bytes(samples),
            pictures=pictures,
            most_pictures=max((len(sample.pictures) for sample in samples), default=0),
        )


def _expects(evaluation: Eval, items: Iterable[Item]) -> dict[str, frozenset[str]] | None:
    if evaluation.task != TEXT:
        return None
    return expected_paths(schema_fields(evaluation.output_schema), {item.id: item.expected for item in items})


def _pictures(items: Iterable[Item], arm: Arm) -> tuple[SourceCopy, ...]:
    """Return the files that go with the prompts of an arm, each content once."""
    files = {file.sha256: file for item in items for file in sent_pictures(item, arm)}
    return tuple(SourceCopy(file.path, sha256, sha256) for sha256, file in files.items())


def _cells(evaluation: Eval) -> Iterator[tuple[ModelEntry, Arm, int]]:
    for entry in evaluation.models:
        repetitions = evaluation.defaults.repetitions if entry.repetitions is None else entry.repetitions
        for arm in evaluation.arms:
            if entry.arms is None or arm.id in entry.arms:
                for repetition in range(1, repetitions + 1):
                    yield entry, arm, repetition


def source_target(root: str, path: str) -> str:
    """Return where a source lies below the executed copy; `root` is the sources' common folder."""
    return path.removeprefix(f"{root}/") if root else path


def _module(evaluation: Eval) -> str | None:
    execution = evaluation.execution
    return None if execution.file is None else source_target(execution.sources.root, execution.file)


def _built_in_task(evaluation: Eval) -> int | None:
    """Return the version of Tamesu's own task where Inspect runs that one."""
    execution = evaluation.execution
    built_in = runs_built_in_task(evaluation.task, execution.backend, execution.file)
    return BUILT_IN_TASK_VERSION if built_in else None


def _bounds(evaluation: Eval) -> Limits:
    """On native a sample is one call, which lasts as long as its tries may."""
    limits, defaults = evaluation.execution.limits, evaluation.defaults
    if limits.time_limit is not None:
        return limits
    return replace(limits, time_limit=defaults.timeout_seconds * (defaults.retries + 1))


def _copies(evaluation: Eval, files: tuple[FileDigest, ...]) -> tuple[SourceCopy, ...]:
    root = evaluation.execution.sources.root
    return tuple(SourceCopy(file.path, source_target(root, file.path), file.sha256) for file in files)


def _parameters(evaluation: Eval, entry: ModelEntry, arm: Arm) -> dict[str, Json]:
    return {**evaluation.defaults.parameters, **arm.parameters, **(entry.parameters or {})}


@dataclass(frozen=True, slots=True)
class _Shared:
    """What all runs of one eval have in common, resolved once."""

    evaluation: Eval
    setting: Setting
    generation_sources: tuple[SourceCopy, ...]
    scoring_sources: tuple[SourceCopy, ...]
    scoring: Mapping[str, Json]
    judgement: Mapping[str, Json]
    content: ContentFingerprint

    @classmethod
    def of(cls, evaluation: Eval, setting: Setting) -> _Shared:
        execution, policy = evaluation.execution, evaluation.policy
        scoring_sources = _copies(evaluation, execution.sources.scoring)
        targets = {source.target for source in scoring_sources}
        scoring = scoring_map(
            ScoringInputs(
                scorers=required_scorers(evaluation.task, policy.mechanical),
                artifacts=task_artifacts(evaluation),
                sources=scoring_sources,
                images=tuple(image for image in execution.images if image.file in targets),
            )
        )
        return cls(
            evaluation=evaluation,
            setting=setting,
            generation_sources=_copies(evaluation, execution.sources.generation),
            scoring_sources=scoring_sources,
            scoring=scoring,
            judgement=judgement_map(policy),
            content=content_fingerprint(evaluation.content),
        )

    def generation_images(self) -> tuple[ImageReference, ...]:
        scoring = {source.target for source in self.scoring_sources}
        return tuple(image for image in self.evaluation.execution.images if image.file not in scoring)


def _generation(
    shared: _Shared,
    entry: ModelEntry,
    parameters: Mapping[str, Json],
    recording: FileDigest | None,
    dataset: str,
    arm: Arm,
    repetition: int,
    roles: tuple[RoleRun, ...],
) -> dict[str, Json]:
    evaluation = shared.evaluation
    execution, defaults = evaluation.execution, evaluation.defaults
    return generation_map(
        GenerationInputs(
            task=evaluation.task,
            backend=execution.backend,
            provider=entry.provider,
            model_uri=model_uri(entry.provider, entry.model),
            base_url_origin=shared.setting.origin(entry.provider),
            dataset=dataset,
            parameters=parameters,
            recordings=None if recording is None else recording.sha256,
            retries=defaults.retries,
            timeout_seconds=defaults.timeout_seconds,
            limits=execution.limits,
            task_file=_module(evaluation),
            task_function=execution.task,
            task_args=execution.task_args,
            options=execution.options,
            allow_mutable_images=execution.allow_mutable_images,
            sources=shared.generation_sources,
            images=shared.generation_images(),
            repetition=repetition,
            inspect_version=shared.setting.inspect_version,
            model_roles={name: replace(role, parameters=_sent(role)) for name, role in execution.model_roles.items()},
            role_origins={role.role: role.base_url_origin for role in roles if role.base_url_origin is not None},
            role_recordings={role.role: role.recordings.sha256 for role in roles if role.recordings is not None},
            output_schema=None if evaluation.output_schema is None else evaluation.output_schema.schema,
            references=arm.references,
            built_in_task=_built_in_task(evaluation),
        )
    )


def _sent(role: RoleModel) -> dict[str, Json]:
    """Return the parameters of a role less what says where its recorded answers are."""
    return {name: value for name, value in role.parameters.items() if name != "recordings"}


def _role(shared: _Shared, name: str, role: RoleModel, asked: _Asked, answer_tokens: Json) -> RoleRun:
    """Return a role resolved; what it is asked may quote a whole prompt and the whole answer to it."""
    setting, recorded = shared.setting, role.parameters.get("recordings")
    recording = None if recorded is None else shared.evaluation.recordings[str(recorded)]
    price, parameters = setting.facts(role.provider, role.model).price, _sent(role)
    quoted = asked.prompt_bytes + (answer_tokens if isinstance(answer_tokens, int) else 0)
    return RoleRun(
        role=name,
        provider=role.provider,
        model=role.model,
        model_uri=model_uri(role.provider, role.model),
        base_url_origin=setting.origin(role.provider),
        parameters=parameters,
        recordings=None if recording is None else SourceCopy(recording.path, "recordings.jsonl", recording.sha256),
        max_connections=setting.endpoint(role.provider).max_connections,
        price=price,
        largest_call_usd=largest_call_usd(price, _bounds(shared.evaluation), parameters, quoted),
    )


def _run(shared: _Shared, entry: ModelEntry, arm: Arm, repetition: int, asked: _Asked) -> RunSpec:
    evaluation = shared.evaluation
    execution, defaults = evaluation.execution, evaluation.defaults
    parameters = _parameters(evaluation, entry, arm)
    recorded = parameters.pop("recordings", None)
    recording = None if recorded is None else evaluation.recordings[str(recorded)]
    roles = tuple(
        _role(shared, name, role, asked, parameters.get("max_tokens"))
        for name, role in sorted(execution.model_roles.items())
    )
    generation = _generation(shared, entry, parameters, recording, asked.digest, arm, repetition, roles)
    identity = make_identity(generation, shared.scoring, shared.judgement, shared.content)
    price = picture_price(evaluation.task, entry.provider, shared.setting.facts(entry.provider, entry.model).price)
    cap = shared.setting.endpoint(entry.provider).max_connections
    parameters = task_parameters(evaluation.task, entry.provider, parameters, evaluation.output_schema)
    prompt = asked.prompt_bytes + sent_picture_tokens(entry.provider, asked.most_pictures)
    bounds = with_tool(evaluation.task, entry.provider, parameters, prompt)
    return RunSpec(
        ref=evaluation.ref,
        run_id=run_id(entry.model, arm.id, repetition, identity),
        task=evaluation.task,
        backend=execution.backend,
        provider=entry.provider,
        model=entry.model,
        model_uri=model_uri(entry.provider, entry.model),
        base_url_origin=shared.setting.origin(entry.provider),
        arm=arm.id,
        repetition=repetition,
        parameters=parameters,
        recordings=None if recording is None else SourceCopy(recording.path, "recordings.jsonl", recording.sha256),
        retries=defaults.retries,
        timeout_seconds=defaults.timeout_seconds,
        max_attempts=defaults.max_attempts,
        concurrency=defaults.concurrency if cap is None else min(defaults.concurrency, cap),
        max_connections=cap,
        limits=execution.limits,
        task_file=_module(evaluation),
        task_function=execution.task,
        task_args=execution.task_args,
        options=execution.options,
        allow_mutable_images=execution.allow_mutable_images,
        sources=shared.generation_sources,
        scoring_sources=shared.scoring_sources,
        images=execution.images,
        artifacts=task_artifacts(evaluation),
        policy=evaluation.policy,
        price=price,
        largest_call_usd=largest_call_usd(price, _bounds(evaluation), *bounds),
        items=asked.items,
        sample_digests=asked.sample_digests,
        assets=asked.assets,
        identity=identity,
        roles=roles,
        output_schema=evaluation.output_schema,
        pictures=asked.pictures,
    )
