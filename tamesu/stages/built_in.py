"""Built-in checks at ingestion: of the stored output of each item, against what its frozen dataset expects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from tamesu.base.canonical import Json
from tamesu.base.model.evidence import Fault, SampleEvidence
from tamesu.base.model.plan import RunSpec
from tamesu.core.checks.built_in import built_in_scores, unread_output
from tamesu.core.ingest import StagedOutput
from tamesu.core.tasks import OUTPUT, built_in_checks
from tamesu.edge.store.paths import RunPaths


def expectations(run: RunPaths, attempt: int) -> Mapping[str, Json]:
    """Return what each item that an attempt asked expects, as JSON; items that expect nothing are left out."""
    lines = run.attempt_dataset(attempt).read_bytes().split(b"\n")
    records = (json.loads(line) for line in lines if line.strip())
    return {record["id"]: record["expected"] for record in records if "expected" in record}


def checked(
    run: RunPaths, spec: RunSpec, sample: SampleEvidence | None, staged: StagedOutput, expected: Json
) -> SampleEvidence | None:
    """Return a sample with the scores of the built-in checks too; one without an answer to check stays as it is.

    An answer of which nothing was kept is no wrong answer, so that its item has failed.
    """
    if sample is None or sample.error is not None or not built_in_checks(spec.task):
        return sample
    if sample.answered and not staged.holds_reply:
        return replace(sample, error=Fault("MissingOutput", "the model answered, and what was kept of it is not here"))
    output = next((artifact for artifact in staged.artifacts if artifact.role == OUTPUT), None)
    content = None if output is None else (run.item(sample.item) / output.path).read_bytes()
    problem = None if content is not None else unread_output(staged.rejected)
    scores = (*sample.scores, *built_in_scores(spec, expected, content, problem))
    return replace(sample, scores=scores, answered=sample.answered and not _empty(staged))


def _empty(staged: StagedOutput) -> bool:
    """Whether all that was kept of a reply has no byte, such as an empty picture: no answer, whoever executed it."""
    return bool(staged.artifacts) and not staged.rejected and not any(one.size for one in staged.artifacts)
