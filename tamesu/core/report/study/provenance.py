"""Where every figure comes from: digests of runs, of the frozen dataset, of code and images, and the versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tamesu.base.model.evidence import RunRecord
from tamesu.base.model.manifest import Eval
from tamesu.base.model.plan import RunSpec
from tamesu.core.matrix import Matrix
from tamesu.core.report.study.design import Fact


@dataclass(frozen=True, slots=True)
class RunOrigin:
    """One planned run: its digests as planned now, and when and with what it was executed, if it was."""

    run_id: str
    generation: str
    scoring: str
    judgement: str
    executed: str


@dataclass(frozen=True, slots=True)
class Provenance:
    runs: tuple[RunOrigin, ...]
    facts: tuple[Fact, ...]
    files: tuple[Fact, ...]


def make_provenance(evaluation: Eval, runs: Matrix, records: Sequence[RunRecord], evidence: str) -> Provenance:
    """Return the provenance of an eval; `evidence` is the digest that its figures are made from."""
    by_run = {record.run_id: record for record in records}
    return Provenance(
        runs=tuple(_run(spec, by_run) for spec in runs.runs),
        facts=tuple(_facts(evaluation, runs, records, evidence)),
        files=tuple(Fact(path, f"sha256:{sha256}") for path, sha256 in _files(runs).items()),
    )


def _files(runs: Matrix) -> dict[str, str]:
    """Return what is executed or replayed, which counts byte for byte; manifests and prompts count by what they say."""
    executed = [source for spec in runs.runs for source in spec.executed]
    replayed = [spec.recordings for spec in runs.runs if spec.recordings is not None]
    return {source.path: source.sha256 for source in sorted((*executed, *replayed), key=lambda one: one.path)}


def _run(spec: RunSpec, records: Mapping[str, RunRecord]) -> RunOrigin:
    record, identity = records.get(spec.run_id), spec.identity
    executed = "not executed" if record is None else f"{record.started} to {record.ended}"
    return RunOrigin(
        spec.run_id, identity.generation_digest, identity.scoring_digest, identity.judgement_digest, executed
    )


def _facts(evaluation: Eval, runs: Matrix, records: Sequence[RunRecord], evidence: str) -> Iterator[Fact]:
    yield Fact("Evidence", f"sha256:{evidence}")
    for arm, dataset in runs.datasets.items():
        yield Fact(f"Dataset as frozen for {arm}", f"sha256:{dataset.digest}")
    for image in evaluation.execution.images:
        yield Fact(f"Image in {image.file}", image.locked or image.reference)
    executed = [record.execution for record in records]
    for label, values in (
        ("Inspect", [one.inspect_version for one in executed]),
        ("Tamesu", [one.tamesu_version for one in executed]),
        ("Python", [one.python_version for one in executed]),
        ("Adapter", [str(one.adapter_version) for one in executed]),
        ("Served by", [name for one in executed for name in one.served]),
    ):
        if values:
            yield Fact(label, ", ".join(dict.fromkeys(values)))
