"""A case with every kind of evidence: recorded runs, two reviewers who agree, differ or owe, and a judging model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tamesu.base.model.evidence import ItemResult
from tamesu.base.model.judgement import Answer, JudgeCall, JudgmentRecord, ReviewRecord
from tamesu.base.model.manifest import Dataset, Item, ModelJudge, Policy, Rubric
from tamesu.core.matrix import Matrix
from tamesu.core.planning import Grouping, Retries
from tamesu.core.report.study.case import CaseStudy, EvalStudy, ExperimentStudy
from tamesu.core.report.study.design import make_design
from tamesu.core.report.study.items import Shown, make_book
from tamesu.core.report.study.provenance import make_provenance
from tamesu.core.rows import SlotEvidence
from tamesu.core.votes import judge_digest, seen_of
from tamesu.edge.store.paths import Project, RunPaths
from tamesu.edge.store.records import dump_record
from tamesu.edge.store.seal import dump_sealed
from tamesu.stages.plan import digest_cache, plan_eval
from tamesu.stages.summary import closing_digest, slot_results
from tests.factories import EVIDENCE, POLICY, make_eval, make_summary
from tests.projects import EVAL, EXPERIMENT, ShapesProject

CASE = "shape-drawing"
CASE_PAGE = Path("build/shape-drawing/index.html")
ANALYSIS = EVAL / "analysis.md"
JUDGE = """  model_judges:
    - id: second-look
      provider: replay
      model: looker
      role: screen
      rubric: ../../rubrics/drawing.yml
      repetitions: 1
      parameters: {recordings: ../../recordings/looked.jsonl}
  human_review:
"""
LOOKED = EXPERIMENT / "recordings/looked.jsonl"
HEADER = {"tamesu_recording": 1, "label": "made up for a test"}
YES, NO = Answer(True), Answer(False, "object-missing", "the sun is <b>not</b> there")
AGREED, DIFFERENT = "red-sun", "three-stripes"


def page_of(project: ShapesProject) -> Path:
    return project.path(CASE_PAGE)


def judged(project: ShapesProject) -> ShapesProject:
    """Ask for two reviews and a judge in a banked project, and write what they said of two of its three items.

    Of one item both reviewers pass every output and the judge too; of the other they differ, and the judge fails it.
    """
    project.edit_eval("  human_review:\n", JUDGE)
    project.edit_eval("required_reviews_per_item: 1", "required_reviews_per_item: 2")
    line = {"item": AGREED, "turns": [{"text": "{}", "usage": {"input": 1, "output": 1}}]}
    project.path(LOOKED).write_text("".join(f"{json.dumps(one)}\n" for one in (HEADER, line)))
    own = Project(project.root)
    planned = plan_eval(own, own.refs()[0], Grouping.BATCHED, Retries.BOUNDED, digest_cache(own))
    policy = planned.evaluation.policy
    assert policy.human_rubric is not None
    for slot in planned.plan.slots:
        run = own.eval(slot.spec.ref).run(slot.spec.run_id)
        for result in slot_results(own, slot, digest_cache(own)).values():
            if result.outcome.status == "generated" and result.item in (AGREED, DIFFERENT):
                _say(run, result, policy.human_rubric, policy.judges[0])
    return project


def _say(run: RunPaths, result: ItemResult, rubric: Rubric, judge: ModelJudge) -> None:
    agreed = result.item == AGREED
    names = [one.id for one in rubric.dimensions]
    passing = dict.fromkeys(names, YES)
    review = ReviewRecord(
        "ada", "2026-03-01T10:00:00Z", "pack-1", result.run_id, result.item, seen_of(result), rubric.digest, passing
    )
    second = replace(review, reviewer="bea", answers=passing if agreed else {**passing, names[0]: NO})
    for one in (review, second):
        _write(run.reviews(result.item) / f"{one.reviewer}--20260301T100000Z.yml", one)
    call = JudgeCall(
        judge=judge.id,
        judge_digest=judge_digest(judge),
        provider=judge.provider,
        model_uri="replay/looker",
        base_url_origin=None,
        parameters={},
        prompt="7" * 64,
        time="2026-03-01T11:00:00Z",
        latency_ms=300,
        usage=None,
        cost_usd=0.002,
        price=None,
        recorded=True,
    )
    answers = passing if agreed else {**passing, names[0]: NO}
    told = JudgmentRecord(1, result.run_id, result.item, seen_of(result), rubric.digest, answers, "{}", call)
    _write(run.judgments(result.item) / f"{judge.id}--{rubric.digest[:8]}--0001.yml", told)


def _write(path: Path, record: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(dump_sealed(record) if isinstance(record, ReviewRecord) else dump_record(record))


def measured(project: ShapesProject) -> str:
    """Return the digest that an analysis of the eval is bound to."""
    own = Project(project.root)
    cache = digest_cache(own)
    return closing_digest(own, plan_eval(own, own.refs()[0], Grouping.BATCHED, Retries.BOUNDED, cache), cache)


def present(project: ShapesProject) -> str:
    """Make the page of the case and return it."""
    done = project.tamesu("present", CASE)
    assert (done.code, done.err) == (0, ""), done.err
    return page_of(project).read_text()


def study_of(slots: Sequence[SlotEvidence], policy: Policy = POLICY, items: Sequence[Item] = ()) -> CaseStudy:
    """The study of a case of one eval, from slots that were built by hand; its items are those of the slots."""
    known = items or [Item(name, f"do {name}", f"done {name}") for name in slots[0].spec.items]
    evaluation = replace(make_eval(policy), dataset=Dataset("items", "dataset.yml", tuple(known)))
    summary = make_summary(slots, policy)
    runs = Matrix(tuple(slot.spec for slot in slots), {})
    outputs = {
        (slot.spec.run_id, item): (Shown("answer", "artifacts/answer.txt, 9 bytes", f"said of {item}"),)
        for slot in slots
        for item in slot.results
    }
    one = EvalStudy(
        summary=summary,
        design=make_design(evaluation, runs),
        spending=(),
        gallery=None,
        numbers={},
        pictures=(),
        book=make_book(summary.rows, slots, known, policy, outputs),
        unbanked=(),
        found=summary.found,
        provenance=make_provenance(evaluation, runs, (), EVIDENCE),
        measured=EVIDENCE,
        analysis=None,
        closings=(),
        files=(),
    )
    experiments = (ExperimentStudy("experiment", None, (one,)),)
    return CaseStudy("case", "A case", "Does it work?", (), None, (), experiments, EVIDENCE)
