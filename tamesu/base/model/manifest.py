"""What people author: a case, its dataset, and one eval with everything it refers to, read and resolved.

Paths are POSIX, relative to the project. Text has its BOM removed and its line ends normalised to LF.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tamesu.base.canonical import Json

_PINNED = re.compile(r"[A-Za-z0-9][^\s@$]*@sha256:[0-9a-f]{64}")

Status = Literal["draft", "active", "complete"]


@dataclass(frozen=True, slots=True)
class EvalRef:
    """The name of an eval: `<case>/<experiment>/<eval>`."""

    case: str
    experiment: str
    eval: str

    def __str__(self) -> str:
        return f"{self.case}/{self.experiment}/{self.eval}"


@dataclass(frozen=True, slots=True)
class ExperimentRef:
    """The name of an experiment: `<case>/<experiment>`."""

    case: str
    experiment: str

    def __str__(self) -> str:
        return f"{self.case}/{self.experiment}"


@dataclass(frozen=True, slots=True)
class FileDigest:
    """One file by content: project-relative path, SHA-256 of its bytes, size in bytes."""

    path: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Item:
    """One dataset item; `assets` are files counted byte for byte."""

    id: str
    input: Json
    expected: Json = None
    metadata: Mapping[str, Json] | None = None
    assets: tuple[FileDigest, ...] = ()


@dataclass(frozen=True, slots=True)
class Dataset:
    id: str
    file: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt file; `template` says that it is Jinja2 and not literal text."""

    path: str
    text: str
    template: bool


@dataclass(frozen=True, slots=True)
class Reference:
    """A file that goes with an arm's prompt; `settings` is what the manifest says beside its path."""

    file: FileDigest
    settings: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Arm:
    id: str
    description: str
    system: Prompt | None
    user: Prompt | None
    parameters: Mapping[str, Json]
    references: tuple[Reference, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """One entry of `runs`: a model, the arms it serves, and how often. None: all arms, the default number."""

    provider: str
    model: str
    arms: tuple[str, ...] | None = None
    repetitions: int | None = None
    parameters: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class ItemSelection:
    """Which items a run asks: all, named ids, the first N, or N at random with a seed."""

    kind: Literal["all", "ids", "first", "random"]
    ids: tuple[str, ...] = ()
    count: int = 0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits per sample: US dollars, seconds, tokens, messages, turns, seconds of work.

    The first two are always set on the inspect backend.
    """

    cost_limit: float | None = None
    time_limit: int | None = None
    token_limit: int | None = None
    message_limit: int | None = None
    turn_limit: int | None = None
    working_limit: int | None = None


@dataclass(frozen=True, slots=True)
class ArtifactPolicy:
    """Roles that an item must or may stage, those that people review, and the bound per file in bytes.

    One role by its name is reviewed as a picture; roles in a list each as what their media type says.
    """

    required: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    review: str | tuple[str, ...] | None = None
    max_bytes: int = 26_214_400

    @property
    def roles(self) -> frozenset[str]:
        return frozenset((*self.required, *self.allowed, *self.review_roles))

    @property
    def review_roles(self) -> tuple[str, ...]:
        """The roles that people review, in the order of the manifest."""
        if isinstance(self.review, str):
            return (self.review,)
        return self.review or ()


@dataclass(frozen=True, slots=True)
class Sources:
    """Executed files. `root` is their common folder: the layout below it is kept in the executed copy."""

    root: str
    generation: tuple[FileDigest, ...]
    scoring: tuple[FileDigest, ...] = ()


@dataclass(frozen=True, slots=True)
class ImageReference:
    """One container image that a source declares: the path below the executed copy, the reference as resolved.

    `locked` is what the lock file beside that source holds for it: `name@sha256:<64 hex>`, or `sha256:<64 hex>`
    for an image that exists on one machine only. Of an index it holds the `platform` (`os/architecture`) that was
    locked and its own digest, the `child`, too.
    """

    file: str
    reference: str
    locked: str | None = None
    platform: str | None = None
    child: str | None = None

    @property
    def pinned(self) -> bool:
        """Whether the reference itself names the content: `name[:tag]@sha256:<64 hex>`."""
        return _PINNED.fullmatch(self.reference) is not None


@dataclass(frozen=True, slots=True)
class RoleModel:
    """A further model that a task or a scorer asks, by role."""

    provider: str
    model: str
    parameters: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Execution:
    """How an output is produced; `file` is the task module, `task` the function in it, None on native."""

    backend: str
    file: str | None
    task: str | None
    task_args: Mapping[str, Json]
    sources: Sources
    images: tuple[ImageReference, ...]
    limits: Limits
    artifacts: ArtifactPolicy
    allow_mutable_images: bool
    options: Mapping[str, Json]
    model_roles: Mapping[str, RoleModel] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MechanicalCheck:
    """A scorer that every sample must produce, the value from which it passes, and its further settings."""

    scorer: str
    pass_at: float = 1.0
    settings: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Dimension:
    """One question of a rubric that yes or no answers; yes passes. `reason_codes` say why it may be no."""

    id: str
    question: str
    reason_codes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rubric:
    """What is answered per item; `rationale` explains it; `digest` is over its parsed content and the rationale."""

    path: str
    name: str
    dimensions: tuple[Dimension, ...]
    digest: str
    rationale: str = ""


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """A model that judges outputs by a rubric: it screens before people look, or its verdict is a gate.

    `recordings` is the file of its recorded answers, if it is replayed.
    """

    id: str
    provider: str
    model: str
    role: Literal["screen", "gate"]
    rubric: Rubric | None
    system: Prompt | None
    user: Prompt | None
    repetitions: int
    parameters: Mapping[str, Json]
    recordings: FileDigest | None = None


@dataclass(frozen=True, slots=True)
class Acceptance:
    requires: tuple[str, ...] = ("mechanical",)
    required_reviews_per_item: int = 1
    on_disagreement: str = "adjudicate"
    selection: str = "none"


@dataclass(frozen=True, slots=True)
class Policy:
    """Judgement: what counts as good. Never part of a run's identity."""

    mechanical: tuple[MechanicalCheck, ...]
    human_rubric: Rubric | None
    acceptance: Acceptance
    primary_metric: str
    secondary_metrics: tuple[str, ...]
    tolerate_failed: float
    judges: tuple[ModelJudge, ...] = ()


@dataclass(frozen=True, slots=True)
class Defaults:
    """Plan-wide settings. `concurrency` is the number of calls in flight per endpoint.

    `judge_budget_usd` bounds what model judges may cost, apart from `budget_usd`.
    """

    items: ItemSelection
    repetitions: int
    concurrency: int
    timeout_seconds: int
    retries: int
    max_attempts: int
    budget_usd: float
    parameters: Mapping[str, Json]
    judge_budget_usd: float = 0.0


@dataclass(frozen=True, slots=True)
class OutputSchema:
    """The JSON Schema of an output; `path` is None when it stands in the manifest itself."""

    path: str | None
    schema: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Eval:
    """One eval.yml with everything it refers to, read and resolved.

    `recordings` maps a project-relative path named in `parameters.recordings` to its content digest.
    `content` lists every file that the eval was read from, for the content fingerprint. `pictures` maps those that
    models take as pictures, by their first bytes, to their media types.
    """

    ref: EvalRef
    file: str
    name: str
    question: str
    description: str
    status: Status
    task: str
    dataset: Dataset
    execution: Execution
    defaults: Defaults
    arms: tuple[Arm, ...]
    models: tuple[ModelEntry, ...]
    policy: Policy
    recordings: Mapping[str, FileDigest]
    content: tuple[FileDigest, ...]
    output_schema: OutputSchema | None = None
    pictures: Mapping[str, str] = field(default_factory=dict)

    @property
    def asked_models(self) -> tuple[ModelEntry | RoleModel, ...]:
        """All models that runs of it ask, those of roles included."""
        return (*self.models, *self.execution.model_roles.values())

    def arm(self, arm_id: str) -> Arm:
        return next(arm for arm in self.arms if arm.id == arm_id)
