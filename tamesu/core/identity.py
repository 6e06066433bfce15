"""The identity of a run: three maps of named values, and the digests over them.

The maps are what identity is: a name absent from them cannot make a run stale. Staleness is the difference
of two maps, so each cause carries its name. Version 1; its golden is tests/golden/identity-v1.json.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field

from tamesu.base.canonical import Json, digest
from tamesu.base.model.manifest import (
    ArtifactPolicy,
    FileDigest,
    ImageReference,
    Limits,
    ModelJudge,
    Policy,
    Reference,
    RoleModel,
)
from tamesu.base.model.plan import Identity, SourceCopy

IDENTITY_VERSION = 1
ADAPTER_VERSION = 1  # of the Inspect backend; raised only when the meaning of an execution changes
BUILT_IN_TASK_VERSION = 1  # of the task that asks each item once through Inspect; raised when its meaning changes


@dataclass(frozen=True, slots=True)
class GenerationInputs:
    """All that can change what the model saw or said; sources are those of generation alone.

    Of the models of roles, `role_origins` says where they answer, `role_recordings` the digest of recorded answers.
    `built_in_task` is the version of Tamesu's own Inspect task, None where another one or none runs.
    """

    task: str
    backend: str
    provider: str
    model_uri: str
    base_url_origin: str | None
    dataset: str
    parameters: Mapping[str, Json]
    recordings: str | None
    retries: int
    timeout_seconds: int
    limits: Limits
    task_file: str | None
    task_function: str | None
    task_args: Mapping[str, Json]
    options: Mapping[str, Json]
    allow_mutable_images: bool
    sources: tuple[SourceCopy, ...]
    images: tuple[ImageReference, ...]
    repetition: int
    inspect_version: str
    model_roles: Mapping[str, RoleModel] = field(default_factory=dict)
    output_schema: Mapping[str, Json] | None = None
    references: tuple[Reference, ...] = ()
    role_origins: Mapping[str, str] = field(default_factory=dict)
    role_recordings: Mapping[str, str] = field(default_factory=dict)
    built_in_task: int | None = None


@dataclass(frozen=True, slots=True)
class ScoringInputs:
    """All that can change what was measured of an output."""

    scorers: tuple[str, ...]
    artifacts: ArtifactPolicy
    sources: tuple[SourceCopy, ...]
    images: tuple[ImageReference, ...]


def generation_map(inputs: GenerationInputs) -> dict[str, Json]:
    """Return the named values of generation; a limit or parameter that is not set has no name."""
    values: dict[str, Json] = {
        "adapter_version": ADAPTER_VERSION,
        "allow_mutable_images": inputs.allow_mutable_images,
        "backend": inputs.backend,
        "base_url_origin": inputs.base_url_origin,
        "dataset": inputs.dataset,
        "images": [_image(image) for image in inputs.images],
        "inspect_version": inputs.inspect_version,
        "model_uri": inputs.model_uri,
        "provider": inputs.provider,
        "repetition": inputs.repetition,
        "retries": inputs.retries,
        "task": inputs.task,
        "timeout_seconds": inputs.timeout_seconds,
    }
    optional: dict[str, Json] = {
        "built_in_task": inputs.built_in_task,
        "output_schema": None if inputs.output_schema is None else dict(inputs.output_schema),
        "recordings": inputs.recordings,
        "task_file": inputs.task_file,
        "task_function": inputs.task_function,
    }
    values |= {name: value for name, value in optional.items() if value is not None}
    limits = {name: value for name, value in asdict(inputs.limits).items() if value is not None}
    values |= _named("limit", limits)
    values |= _named("parameter", inputs.parameters)
    values |= _named("task_arg", inputs.task_args)
    values |= _named("option", inputs.options)
    values |= _named("source", {source.target: source.sha256 for source in inputs.sources})
    values |= _named("model_role", {name: _plain(role) for name, role in inputs.model_roles.items()})
    values |= _named("model_role_origin", inputs.role_origins)
    values |= _named("model_role_recordings", inputs.role_recordings)
    for number, reference in enumerate(inputs.references, 1):
        values[f"reference/{number}"] = [reference.file.sha256, dict(reference.settings)]
    return values


def _image(image: ImageReference) -> Json:
    """An image without lock has no name for it, so that a lock is a change and its absence none."""
    return {name: value for name, value in asdict(image).items() if value is not None}


def scoring_map(inputs: ScoringInputs) -> dict[str, Json]:
    """Return the named values of scoring; the order of names in the manifest does not count."""
    values: dict[str, Json] = {
        "scorers": list[Json](sorted(inputs.scorers)),
        "artifacts/required": list[Json](sorted(inputs.artifacts.required)),
        "artifacts/allowed": list[Json](sorted(inputs.artifacts.allowed)),
        "artifacts/review": _review(inputs.artifacts),
        "artifacts/max_bytes": inputs.artifacts.max_bytes,
        "images": [_image(image) for image in inputs.images],
    }
    values |= _named("source", {source.target: source.sha256 for source in inputs.sources})
    return values


def _review(artifacts: ArtifactPolicy) -> Json:
    """A role by its name and a list of that one role differ in what is fit for review."""
    return artifacts.review if isinstance(artifacts.review, str) else list[Json](sorted(artifacts.review or ())) or None


def judgement_map(policy: Policy) -> dict[str, Json]:
    """Return the named values of judgement, the policy under which evidence is judged."""
    acceptance = policy.acceptance
    return {
        **{f"pass_at/{check.scorer}": check.pass_at for check in policy.mechanical},
        **{f"check/{check.scorer}": dict(check.settings) for check in policy.mechanical if check.settings},
        **{f"judge/{judge.id}": _judge(judge) for judge in policy.judges},
        "rubric": None if policy.human_rubric is None else policy.human_rubric.digest,
        "acceptance/requires": list[Json](sorted(acceptance.requires)),
        "acceptance/required_reviews_per_item": acceptance.required_reviews_per_item,
        "acceptance/on_disagreement": acceptance.on_disagreement,
        "acceptance/selection": acceptance.selection,
        "metrics/primary": policy.primary_metric,
        "metrics/secondary": list[Json](policy.secondary_metrics),
        "tolerate_failed": policy.tolerate_failed,
    }


def _judge(judge: ModelJudge) -> Json:
    """A judge's prompts and rubric count by content, wherever they lie."""
    return {
        "provider": judge.provider,
        "model": judge.model,
        "role": judge.role,
        "rubric": None if judge.rubric is None else judge.rubric.digest,
        "prompts": [None if prompt is None else prompt.text for prompt in (judge.system, judge.user)],
        "repetitions": judge.repetitions,
        "parameters": {name: value for name, value in judge.parameters.items() if name != "recordings"},
        **({} if judge.recordings is None else {"recordings": judge.recordings.sha256}),
    }


def _plain(role: RoleModel) -> Json:
    return {"provider": role.provider, "model": role.model, "parameters": dict(role.parameters)}


def _named(kind: str, values: Mapping[str, Json]) -> dict[str, Json]:
    return {f"{kind}/{name}": value for name, value in values.items()}


@dataclass(frozen=True, slots=True)
class ContentFingerprint:
    """All files an eval was read from, by path, and one digest over their bytes."""

    files: tuple[FileDigest, ...]
    digest: str


def content_fingerprint(content: Iterable[FileDigest]) -> ContentFingerprint:
    """Return the fingerprint over the bytes of the files, whatever their order."""
    files = tuple(sorted(content, key=lambda file: file.path))
    return ContentFingerprint(files, digest({file.path: file.sha256 for file in files}))


def make_identity(
    generation: Mapping[str, Json],
    scoring: Mapping[str, Json],
    judgement: Mapping[str, Json],
    content: ContentFingerprint,
) -> Identity:
    """Return the identity of a run from its three maps and the files it was read from."""
    maps: dict[str, Json] = {
        "version": IDENTITY_VERSION,
        "generation": dict(generation),
        "scoring": dict(scoring),
        "judgement": dict(judgement),
    }
    return Identity(
        version=IDENTITY_VERSION,
        generation=generation,
        scoring=scoring,
        judgement=judgement,
        generation_digest=partition_digest(generation),
        scoring_digest=partition_digest(scoring),
        judgement_digest=partition_digest(judgement),
        specification_fingerprint=digest(maps),
        content_fingerprint=content.digest,
        content=content.files,
    )


def partition_digest(values: Mapping[str, Json]) -> str:
    """Return the digest of one map under the current identity version."""
    return digest({"version": IDENTITY_VERSION, "values": dict(values)})


def slug(text: str) -> str:
    """Return a lowercase kebab-case form for file names; different texts may share one."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60].strip("-") or "model"


def run_id(model: str, arm: str, repetition: int, identity: Identity) -> str:
    """Return `<model>--<arm>--rep<N>--<generation: 12 hex>-<scoring: 6 hex>`."""
    digests = f"{identity.generation_digest[:12]}-{identity.scoring_digest[:6]}"
    return f"{slug(model)}--{arm}--rep{repetition}--{digests}"


@dataclass(frozen=True, slots=True)
class Difference:
    """One named value that differs between two maps; None stands for an absent one."""

    name: str
    was: Json
    now: Json

    def __str__(self) -> str:
        if self.name in {"dataset", "images", "recordings"} or self.name.startswith(("source/", "model_role_rec")):
            return f"{self.name} changed"
        if self.was is not None and self.now is not None:
            if self.name == "output_schema":
                return f"output_schema changed{_where(self.was, self.now)}"
            if self.name.startswith("reference/"):
                return _reference_change(self)
        return f"{self.name} changed (was {_short(self.was)}, now {_short(self.now)})"


def _reference_change(change: Difference) -> str:
    """Say of a reference, which is the digest of its file and its settings, which of both changed."""
    (file, settings), (new_file, new_settings) = _reference(change.was), _reference(change.now)
    told = [] if file == new_file else ["another picture"]
    told += [f"{one.name} was {_short(one.was)}, now {_short(one.now)}" for one in differences(settings, new_settings)]
    return f"{change.name} changed ({', '.join(told)})"


def _reference(value: Json) -> tuple[Json, Mapping[str, Json]]:
    match value:
        case [file, dict() as settings]:
            return file, settings
    return value, {}


def _where(was: Json, now: Json, path: str = "") -> str:
    """Return ` at <path>` of the first place where two values differ, empty for the values as a whole."""
    if isinstance(was, dict) and isinstance(now, dict):
        name = differences(was, now)[0].name
        deeper = f"{path}.{name}" if path else name
        return _where(was.get(name), now.get(name), deeper)
    return f" at {path} (was {_short(was)}, now {_short(now)})" if path else ""


def said_value(value: Json) -> str:
    """Return a value as a manifest would state it: texts as they are, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _short(value: Json) -> str:
    text = "absent" if value is None else said_value(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def differences(was: Mapping[str, Json], now: Mapping[str, Json]) -> tuple[Difference, ...]:
    """Return what differs between two maps, by name."""
    names = sorted(set(was) | set(now))
    return tuple(
        Difference(name, was.get(name), now.get(name))
        for name in names
        if name not in was or name not in now or was[name] != now[name]
    )
