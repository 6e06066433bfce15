"""Identity: pinned by a golden per version, every leaf of every manifest in one part, and nothing else counted."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tamesu.base.model.manifest import (
    Acceptance,
    ArtifactPolicy,
    Dimension,
    FileDigest,
    ImageReference,
    Limits,
    MechanicalCheck,
    ModelJudge,
    Policy,
    Reference,
    RoleModel,
    Rubric,
)
from tamesu.base.model.plan import Identity, RunSpec, SourceCopy
from tamesu.core.identity import (
    ADAPTER_VERSION,
    IDENTITY_VERSION,
    GenerationInputs,
    ScoringInputs,
    content_fingerprint,
    differences,
    generation_map,
    judgement_map,
    make_identity,
    run_id,
    scoring_map,
    slug,
)
from tamesu.core.identity_fields import FIELDS, Part
from tamesu.core.matrix import matrix
from tamesu.edge.documents.eval_reader import read_eval
from tamesu.edge.documents.schemas import DocumentKind, leaf_fields
from tamesu.edge.store.paths import Project
from tests.projects import DATASET, EVAL, EXPERIMENT, ShapesProject, fresh

GOLDEN = Path(__file__).parents[1] / "golden" / "identity-v1.json"

GENERATION = GenerationInputs(
    task="artifact_bundle",
    backend="inspect",
    provider="meta",
    model_uri="meta/Sketcher-Large 2",
    base_url_origin="https://models.example.org",
    dataset="d" * 64,
    parameters={"max_tokens": 800, "temperature": 0.7, "stop_seqs": ["END"], "top_k": None},
    recordings="e" * 64,
    retries=2,
    timeout_seconds=300,
    limits=Limits(cost_limit=0.25, time_limit=600, token_limit=20000, message_limit=12),
    task_file="inspect/task.py",
    task_function="draw_scene",
    task_args={"sheet": {"width": 200}, "strict": True},
    options={"sandbox": ["docker", "compose.yaml"], "log_images": False},
    allow_mutable_images=False,
    sources=(
        SourceCopy("cases/a/inspect/task.py", "inspect/task.py", "1" * 64),
        SourceCopy("cases/a/inspect/compose.yaml", "inspect/compose.yaml", "2" * 64),
    ),
    images=(ImageReference("inspect/compose.yaml", "debian@sha256:" + "3" * 64),),
    repetition=2,
    inspect_version="0.3.285",
)
SCORING = ScoringInputs(
    scorers=("valid_program", "scene_coverage"),
    artifacts=ArtifactPolicy(("response", "drawing"), ("notes",), "render", 1_048_576),
    sources=(SourceCopy("cases/a/inspect/drawing.py", "inspect/drawing.py", "4" * 64),),
    images=(ImageReference("inspect/score.yaml", "python@sha256:" + "5" * 64),),
)
POLICY = Policy(
    mechanical=(MechanicalCheck("valid_program"), MechanicalCheck("scene_coverage", 0.8)),
    human_rubric=Rubric("rubrics/drawing.yml", "drawing", (Dimension("legible", "Can it be read?"),), "6" * 64),
    acceptance=Acceptance(("mechanical", "human"), 2, "adjudicate", "none"),
    primary_metric="mean_score:scene_coverage",
    secondary_metrics=("render_rate", "accepted_rate"),
    tolerate_failed=0.1,
)
CONTENT = (FileDigest("b.yml", "7" * 64, 7), FileDigest("a.yml", "8" * 64, 8))


def identity_of(
    generation: GenerationInputs = GENERATION, scoring: ScoringInputs = SCORING, policy: Policy = POLICY
) -> Identity:
    maps = (generation_map(generation), scoring_map(scoring), judgement_map(policy))
    return make_identity(*maps, content_fingerprint(CONTENT))


def test_the_golden_of_version_1() -> None:
    golden = json.loads(GOLDEN.read_text())
    assert golden.pop("note") == (
        "Identity version 1. Never edited: every banked run depends on these values. "
        "A change of meaning needs a new version with a golden of its own."
    )
    identity = identity_of()
    made = {
        "identity": asdict(identity),
        "run_id": run_id("Sketcher-Large 2", "worked-example", 2, identity),
        "adapter_version": ADAPTER_VERSION,
    }
    assert json.loads(json.dumps(made)) == golden
    assert (IDENTITY_VERSION, identity.version) == (1, 1)


def test_the_run_id_is_made_of_its_parts() -> None:
    identity = identity_of()
    made = run_id("Org/Model_X 2.5:free", "plain", 3, identity)
    assert made == (
        f"org-model-x-2-5-free--plain--rep3--{identity.generation_digest[:12]}-{identity.scoring_digest[:6]}"
    )
    assert re.fullmatch(r"[a-z0-9-]+", made)


@given(st.text())
def test_a_slug_is_a_file_name(text: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug(text))
    assert len(slug(text)) <= 60


class TestFields:
    """Every leaf of every schema has exactly one place, and every place a leaf."""

    @pytest.mark.parametrize("kind", sorted(FIELDS))
    def test_every_leaf_has_exactly_one_place(self, kind: str) -> None:
        leaves = leaf_fields(DocumentKind(kind))
        without = [leaf for leaf in leaves if not _places(kind, leaf)]
        assert without == [], f"leaves of {kind} without a place in tamesu/core/identity_fields.py"
        several = {leaf: _places(kind, leaf) for leaf in leaves if len(_places(kind, leaf)) > 1}
        assert several == {}

    @pytest.mark.parametrize("kind", sorted(FIELDS))
    def test_every_place_has_a_leaf(self, kind: str) -> None:
        placed = {place for leaf in leaf_fields(DocumentKind(kind)) for place in _places(kind, leaf)}
        assert sorted(set(FIELDS[kind]) - placed) == []

    def test_every_kind_of_document_has_a_table(self) -> None:
        assert set(FIELDS) == {kind.value for kind in DocumentKind} - {"item"}  # an item is a part of a dataset
        item = {f"items[].{leaf}" for leaf in leaf_fields(DocumentKind.ITEM)}
        assert item <= set(leaf_fields(DocumentKind.DATASET))


def _places(kind: str, leaf: str) -> list[str]:
    """`x.*` covers every leaf below `x`."""
    return [
        place
        for place in FIELDS[kind]
        if place == leaf or (place.endswith(".*") and leaf.startswith(place.removesuffix("*")))
    ]


G: dict[str, Any] = {
    "task": "structured_text",
    "backend": "native",
    "provider": "openai",
    "model_uri": "meta/other",
    "base_url_origin": None,
    "dataset": "0" * 64,
    "parameters": {"max_tokens": 801},
    "recordings": None,
    "retries": 3,
    "timeout_seconds": 301,
    "limits": Limits(0.25, 600),
    "task_file": "inspect/other.py",
    "task_function": "draw",
    "task_args": {},
    "options": {"log_images": True},
    "allow_mutable_images": True,
    "sources": GENERATION.sources[:1],
    "images": (),
    "repetition": 1,
    "inspect_version": "0.3.286",
    "model_roles": {"grader": RoleModel("openai", "grading", {})},
    "output_schema": {"type": "object"},
    "references": (Reference(FileDigest("style.png", "a" * 64, 9), {}),),
    "role_origins": {"grader": "http://127.0.0.1:8000"},
    "role_recordings": {"grader": "b" * 64},
    "built_in_task": 2,
}
S: dict[str, Any] = {
    "scorers": ("valid_program",),
    "artifacts": replace(SCORING.artifacts, max_bytes=1),
    "sources": (),
    "images": (),
}
J: dict[str, Any] = {
    "mechanical": (MechanicalCheck("valid_program"), MechanicalCheck("scene_coverage", 0.9)),
    "human_rubric": None,
    "acceptance": replace(POLICY.acceptance, required_reviews_per_item=1),
    "primary_metric": "render_rate",
    "secondary_metrics": (),
    "tolerate_failed": 0.2,
    "judges": (ModelJudge("strict", "openai", "judging", "gate", None, None, None, 1, {}),),
}


class TestParts:
    def test_every_input_is_tried(self) -> None:
        assert set(G) == set(GenerationInputs.__dataclass_fields__)
        assert set(S) == set(ScoringInputs.__dataclass_fields__)
        assert set(J) == set(Policy.__dataclass_fields__)

    @pytest.mark.parametrize("name", sorted(G))
    def test_generation_changes_generation_alone(self, name: str) -> None:
        was, now = identity_of(), identity_of(generation=replace(GENERATION, **{name: G[name]}))
        assert _changed(was, now) == ["generation_digest"]
        assert differences(was.generation, now.generation)

    @pytest.mark.parametrize("name", sorted(S))
    def test_scoring_changes_scoring_alone(self, name: str) -> None:
        assert _changed(identity_of(), identity_of(scoring=replace(SCORING, **{name: S[name]}))) == ["scoring_digest"]

    @pytest.mark.parametrize("name", sorted(J))
    def test_judgement_changes_neither_and_keeps_the_run_id(self, name: str) -> None:
        was, now = identity_of(), identity_of(policy=replace(POLICY, **{name: J[name]}))
        assert _changed(was, now) == ["judgement_digest"]
        assert run_id("m", "a", 1, was) == run_id("m", "a", 1, now)
        assert was.specification_fingerprint != now.specification_fingerprint

    @pytest.mark.parametrize("name", sorted(Limits.__dataclass_fields__))
    def test_every_limit_counts(self, name: str) -> None:
        limits = replace(GENERATION.limits, **{name: 77})
        now = identity_of(generation=replace(GENERATION, limits=limits))
        assert _changed(identity_of(), now) == ["generation_digest"]
        assert now.generation[f"limit/{name}"] == 77

    def test_orders_that_mean_nothing_do_not_count(self) -> None:
        generation = replace(
            GENERATION,
            parameters=dict(reversed(GENERATION.parameters.items())),
            task_args=dict(reversed(GENERATION.task_args.items())),
            sources=GENERATION.sources[::-1],
        )
        scoring = replace(
            SCORING,
            scorers=SCORING.scorers[::-1],
            artifacts=replace(SCORING.artifacts, required=SCORING.artifacts.required[::-1]),
        )
        policy = replace(POLICY, mechanical=POLICY.mechanical[::-1])
        assert _changed(identity_of(), identity_of(generation, scoring, policy)) == []
        assert content_fingerprint(CONTENT) == content_fingerprint(CONTENT[::-1])

    def test_where_a_source_lies_in_the_project_does_not_count(self) -> None:
        moved = tuple(replace(source, path=f"elsewhere/{source.target}") for source in GENERATION.sources)
        assert _changed(identity_of(), identity_of(replace(GENERATION, sources=moved))) == []

    def test_names_of_different_kinds_never_meet(self) -> None:
        inputs = replace(GENERATION, parameters={"x": 1}, task_args={"x": 1}, options={"x": 1})
        assert {"parameter/x", "task_arg/x", "option/x"} <= set(generation_map(inputs))
        assert _changed(
            identity_of(replace(GENERATION, parameters={"x": 1}, options={})),
            identity_of(replace(GENERATION, parameters={}, options={"x": 1})),
        ) == ["generation_digest"]


def _changed(was: Identity, now: Identity) -> list[str]:
    names = ("generation_digest", "scoring_digest", "judgement_digest")
    return [name for name in names if getattr(was, name) != getattr(now, name)]


def test_differences_are_named() -> None:
    was = {"a": 1, "b": None, "dataset": "1" * 64, "source/task.py": "2" * 64, "long": "x" * 100}
    now = {"a": 2, "c": None, "dataset": "3" * 64, "source/task.py": "4" * 64, "long": "y" * 100}
    assert [str(difference) for difference in differences(was, now)] == [
        "a changed (was 1, now 2)",
        "b changed (was absent, now absent)",
        "c changed (was absent, now absent)",
        "dataset changed",
        f"long changed (was {'x' * 57}..., now {'y' * 57}...)",
        "source/task.py changed",
    ]
    assert differences(was, dict(reversed(was.items()))) == ()


# --- from files -------------------------------------------------------------------------------------------


def runs_of(project: ShapesProject) -> list[RunSpec]:
    (ref,) = Project(project.root).refs()
    read = read_eval(Project(project.root), ref)
    assert read.matrix is not None, [str(finding) for finding in read.findings]
    return list(read.matrix.runs)


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> ShapesProject:
    return fresh(tmp_path_factory.mktemp("identity") / "shapes")


MANIFESTS = (
    str(EVAL / "eval.yml"),
    str(DATASET),
    str(EXPERIMENT / "rubrics" / "drawing.yml"),
    "cases/shape-drawing/case.yml",
    "config/config.yaml",
)
TEXTS = (
    str(EXPERIMENT / "prompts" / "system.md"),
    str(EXPERIMENT / "prompts" / "terse.md.j2"),
    str(EXPERIMENT / "rubrics" / "drawing.md"),
)


@st.composite
def formatted(draw: st.DrawFn) -> Mapping[str, Any]:
    return {
        "sort": draw(st.booleans()),
        "flow": draw(st.sampled_from([None, True, False])),
        "indent": draw(st.integers(2, 6)),
        "width": draw(st.sampled_from([20, 80, 1000])),
        "crlf": draw(st.booleans()),
        "bom": draw(st.booleans()),
        "comment": draw(st.sampled_from(["", "# a comment\n", "\n\n"])),
        "ascii": draw(st.booleans()),
    }


def _reversed(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _reversed(part) for name, part in reversed(value.items())}
    return [_reversed(part) for part in value] if isinstance(value, list) else value


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(form=formatted())
def test_formatting_never_changes_identity(example: ShapesProject, form: Mapping[str, Any]) -> None:
    was = {name: example.path(name).read_bytes() for name in (*MANIFESTS, *TEXTS)}
    before = [spec.identity for spec in runs_of(example)]
    try:
        for name in MANIFESTS:
            value = yaml.safe_load(was[name])
            text = form["comment"] + yaml.safe_dump(
                _reversed(value) if form["sort"] else value,
                sort_keys=False,
                default_flow_style=form["flow"],
                indent=form["indent"],
                width=form["width"],
                allow_unicode=not form["ascii"],
            )
            _write(example, name, text, form)
        for name in TEXTS:
            _write(example, name, was[name].decode(), form)
        after = [spec.identity for spec in runs_of(example)]
    finally:
        for name, content in was.items():
            example.path(name).write_bytes(content)
    for one, other in zip(before, after, strict=True):
        assert _changed(one, other) == []
        assert one.generation == other.generation
        assert one.specification_fingerprint == other.specification_fingerprint


def _write(project: ShapesProject, name: str, text: str, form: Mapping[str, Any]) -> None:
    content = text.replace("\n", "\r\n") if form["crlf"] else text
    project.path(name).write_bytes((b"\xef\xbb\xbf" if form["bom"] else b"") + content.encode())


EVAL_FILE = str(EVAL / "eval.yml")
LEAVES = [
    # part, file, old, new
    (Part.GENERATION, EVAL_FILE, "max_tokens: 800", "max_tokens: 801"),
    (Part.GENERATION, EVAL_FILE, "temperature: 0.7", "temperature: 0.8"),
    (Part.GENERATION, EVAL_FILE, "retries: 0", "retries: 1"),
    (Part.GENERATION, EVAL_FILE, "timeout_seconds: 30", "timeout_seconds: 31"),
    (Part.GENERATION, EVAL_FILE, "cost_limit: 0.05", "cost_limit: 0.06"),
    (Part.GENERATION, EVAL_FILE, "time_limit: 120", "time_limit: 121"),
    (Part.GENERATION, EVAL_FILE, "token_limit: 20000", "token_limit: 20001"),
    (Part.GENERATION, EVAL_FILE, "token_limit: 20000", "token_limit: 20000, message_limit: 9"),
    (Part.GENERATION, EVAL_FILE, "task: draw_scene", "task: draw_scene\n  task_args: {x: 1}"),
    (Part.GENERATION, EVAL_FILE, "backend: inspect", "backend: inspect\n  allow_mutable_images: true"),
    (Part.GENERATION, EVAL_FILE, "backend: inspect", "backend: inspect\n  inspect: {log_images: true}"),
    (Part.GENERATION, EVAL_FILE, "items: {ids: [red-sun, three-stripes, crossed-lines]}", "items: {first: 2}"),
    (Part.GENERATION, EVAL_FILE, "user: ../../prompts/terse.md.j2", "user: ../../prompts/worked-example.md.j2"),
    (Part.GENERATION, str(DATASET), "A large red circle", "A huge red circle"),
    (Part.GENERATION, str(DATASET), "metadata: {difficulty: easy}", "metadata: {difficulty: hard}"),
    (Part.GENERATION, str(DATASET), "{kind: circle, color: red}", "{kind: circle, color: pink}"),
    (Part.GENERATION, str(EXPERIMENT / "prompts" / "system.md"), " ", "  "),
    (Part.GENERATION, str(EXPERIMENT / "inspect" / "task.py"), '"""One', '"""A'),
    (Part.GENERATION, "config/config.yaml", "0.3.285", "0.3.286"),
    (Part.SCORING, EVAL_FILE, "max_bytes: 1048576", "max_bytes: 1048577"),
    (Part.SCORING, EVAL_FILE, "required: [response, drawing, render]", "required: [response, render]"),
    (Part.SCORING, EVAL_FILE, "review: render", "allowed: [notes]\n    review: render"),
    (Part.SCORING, str(EXPERIMENT / "inspect" / "drawing.py"), "MAX_SHAPES = 50", "MAX_SHAPES = 51"),
    (Part.JUDGEMENT, EVAL_FILE, "scene_coverage: {pass_at: 0.8}", "scene_coverage: {pass_at: 0.7}"),
    (Part.JUDGEMENT, EVAL_FILE, "tolerate_failed: 0", "tolerate_failed: 0.5"),
    (Part.JUDGEMENT, EVAL_FILE, "required_reviews_per_item: 1", "required_reviews_per_item: 2"),
    (Part.JUDGEMENT, EVAL_FILE, "on_disagreement: adjudicate", "on_disagreement: reject"),
    (Part.JUDGEMENT, EVAL_FILE, "secondary: [render_rate,", "secondary: ["),
    (Part.JUDGEMENT, str(EXPERIMENT / "rubrics" / "drawing.md"), " the ", " this "),
    (Part.NONE, EVAL_FILE, "status: active", "status: draft"),
    (Part.NONE, EVAL_FILE, "question: Does", "question: When does"),
    (Part.NONE, EVAL_FILE, "description: Two prompts", "description: A pair of prompts"),
    (Part.NONE, EVAL_FILE, "concurrency: 4", "concurrency: 5"),
    (Part.NONE, EVAL_FILE, "max_attempts: 3", "max_attempts: 4"),
    (Part.NONE, EVAL_FILE, "budget_usd: 1.00", "budget_usd: 2.00"),
    (Part.NONE, EVAL_FILE, "description: The scene and", "description: A scene and"),
    (Part.NONE, "cases/shape-drawing/case.yml", "business_use: Editors", "business_use: Some editors"),
    (Part.NONE, str(DATASET), "description: Twelve", "description: A dozen"),
    (Part.NONE, str(DATASET), "Night. The sheet", "Late. The sheet"),  # an item that is not selected
]


@pytest.mark.parametrize(("part", "file", "old", "new"), LEAVES, ids=[f"{p}-{o[:40]}" for p, _, o, _ in LEAVES])
def test_a_leaf_counts_in_its_part_alone(example: ShapesProject, part: Part, file: str, old: str, new: str) -> None:
    was = example.path(file).read_bytes()
    before = runs_of(example)[0]
    try:
        example.edit(file, old, new)
        after = runs_of(example)[0]
    finally:
        example.path(file).write_bytes(was)
    assert _changed(before.identity, after.identity) == ([] if part is Part.NONE else [f"{part}_digest"])
    assert (before.run_id == after.run_id) == (part in {Part.JUDGEMENT, Part.NONE})
    counted = file in {content.path for content in before.identity.content}
    assert (before.identity.content_fingerprint != after.identity.content_fingerprint) == counted


def test_repetitions_and_runs_beside_do_not_count(example: ShapesProject) -> None:
    was = example.manifest.read_text()
    before = {spec.run_id for spec in runs_of(example)}
    try:
        example.edit_eval("repetitions: 2", "repetitions: 3")
        more = {spec.run_id for spec in runs_of(example)}
        example.manifest.write_text(was)
        example.edit_eval("    arms: [terse, worked-example]\n", "    arms: [terse]\n")
        fewer = {spec.run_id for spec in runs_of(example)}
    finally:
        example.manifest.write_text(was)
    assert before < more
    assert len(more) == 12
    assert fewer < before
    assert len(fewer) == 4


def test_the_matrix_is_a_function_of_its_input(example: ShapesProject) -> None:
    (ref,) = Project(example.root).refs()
    read = read_eval(Project(example.root), ref)
    assert read.evaluation is not None
    assert matrix(read.evaluation, read.setting) == matrix(read.evaluation, read.setting)
    assert len({spec.run_id for spec in runs_of(example)}) == 8
