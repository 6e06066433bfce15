"""Checks made again of a stored output, for a run whose log is elsewhere: in a clone or an unpacked package."""

from __future__ import annotations

from dataclasses import replace

from tamesu.base.canonical import Json
from tamesu.base.model.evidence import ItemResult, RunRecord, SampleEvidence
from tamesu.base.model.manifest import MechanicalCheck
from tamesu.base.model.plan import RunSpec
from tamesu.core.checks.built_in import built_in_scores, unread_output
from tamesu.core.ingest import score_records

_PASS_AT, _CHECK = "pass_at/", "check/"


def as_started(spec: RunSpec, record: RunRecord) -> RunSpec:
    """Return a planned run with the checks and thresholds that stand in run.yml.

    A result keeps the judgement it was made under; views judge by that of now.
    """
    judgement = record.identity.judgement
    scorers = [name.removeprefix(_PASS_AT) for name in judgement if name.startswith(_PASS_AT)]
    checks = tuple(_check(name, judgement[_PASS_AT + name], judgement.get(_CHECK + name)) for name in scorers)
    return replace(spec, policy=replace(spec.policy, mechanical=checks))


def _check(scorer: str, pass_at: Json, settings: Json) -> MechanicalCheck:
    threshold = pass_at if isinstance(pass_at, (int, float)) else 1.0
    return MechanicalCheck(scorer, float(threshold), settings if isinstance(settings, dict) else {})


def was_checked(result: ItemResult) -> bool:
    """Return whether checks were made of an item: of a call that failed there is nothing to check."""
    return result.state == "complete" or bool(result.scores)


def checked_again(spec: RunSpec, result: ItemResult, expected: Json, output: bytes | None) -> ItemResult:
    """Return a result with its built-in checks made anew; everything else of it stands as recorded.

    `spec` carries the checks of the run's start, `output` is the stored file, None when nothing came.
    """
    problem = None if output is not None else unread_output(result.rejected_artifacts)
    scores = built_in_scores(spec, expected, output, problem)
    sample = SampleEvidence(result.item, scores, None, None, None, True, None, None)
    return replace(result, scores=score_records(spec.policy.mechanical, sample))
