"""Every path of a user's project, in one place."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from tamesu.base.canonical import digest
from tamesu.base.errors import AmbiguousName, NoProject, Refused, UnknownName
from tamesu.base.model.manifest import EvalRef, ExperimentRef


@dataclass(frozen=True, slots=True)
class RunPaths:
    """One run's folder: evidence for version control, and the private `inspect/` beside it."""

    folder: Path

    @property
    def record(self) -> Path:
        return self.folder / "run.yml"

    @property
    def report(self) -> Path:
        return self.folder / "report.yml"

    @property
    def wire(self) -> Path:
        """What left for the model and came back, one line each; parameters and digests only."""
        return self.folder / "wire.jsonl"

    @property
    def attempts(self) -> Path:
        return self.folder / "attempts"

    def attempt(self, number: int) -> Path:
        return self.attempts / f"{number:02d}.yml"

    @property
    def items(self) -> Path:
        return self.folder / "items"

    def item(self, name: str) -> Path:
        return self.items / name

    def result(self, name: str) -> Path:
        return self.items / name / "result.yml"

    def reviews(self, name: str) -> Path:
        """What people said of an item, one immutable record each."""
        return self.items / name / "reviews"

    def review(self, name: str, reviewer: str, time: str) -> Path:
        """One review; `time` is the UTC time of the record, ISO 8601."""
        return self.reviews(name) / f"{reviewer}--{re.sub(r'[^0-9TZ]', '', time)}.yml"

    def judgments(self, name: str) -> Path:
        """What judging models said of an item, one immutable record each."""
        return self.items / name / "judgments"

    def judgment_failures(self, name: str) -> Path:
        """Calls to judging models that yielded no verdict, apart from those that did."""
        return self.items / name / "judgment-failures"

    @property
    def private(self) -> Path:
        return self.folder / "inspect"

    @property
    def spec(self) -> Path:
        return self.private / "spec.json"

    @property
    def sources(self) -> Path:
        return self.private / "sources"

    @property
    def recordings(self) -> Path:
        return self.private / "recordings.jsonl"

    @property
    def sent_pictures(self) -> Path:
        """The pictures that go with prompts, each named by its SHA-256."""
        return self.private / "pictures"

    @property
    def recorded_pictures(self) -> Path:
        """The pictures of recorded answers, each named by its SHA-256."""
        return self.private / "recorded-pictures"

    def role_recordings(self, role: str) -> Path:
        """Recorded answers of the model of a role."""
        return self.private / f"recordings-{role}.jsonl"

    @property
    def dataset(self) -> Path:
        return self.private / "input.jsonl"

    @property
    def preflight(self) -> Path:
        """What was checked before the last launch."""
        return self.private / "preflight.json"

    @property
    def preflight_wire(self) -> Path:
        """What the last probe sent."""
        return self.private / "preflight-wire.jsonl"

    def attempt_dataset(self, number: int) -> Path:
        """The frozen dataset of one attempt: the whole one, or the pending lines of it."""
        return self.private / f"attempt-{number:02d}.jsonl"

    def trust(self, number: int) -> Path:
        """The word for foreign code that an attempt began with; absent when it needed none."""
        return self.private / f"trust-{number:02d}.json"

    def log(self, number: int) -> Path:
        return self.private / f"attempt-{number:02d}.eval"

    def journal(self, number: int) -> Path:
        """What the native backend notes of an attempt, in the place of a log."""
        return self.private / f"calls-{number:02d}.jsonl"

    def staging(self, number: int) -> Path:
        return self.private / f"staging-{number:02d}"


@dataclass(frozen=True, slots=True)
class EvalPaths:
    """One eval's folder: the manifest, evidence, and the files derived from it."""

    folder: Path

    @property
    def manifest(self) -> Path:
        return self.folder / "eval.yml"

    @property
    def ledger(self) -> Path:
        return self.folder / "ledger.jsonl"

    @property
    def judge_ledger(self) -> Path:
        """The money of model judges, apart from that of runs."""
        return self.folder / "judge-ledger.jsonl"

    @property
    def review_keys(self) -> Path:
        """What the names in review packs stand for; never part of a pack."""
        return self.folder / "review" / "keys"

    def review_key(self, pack: str) -> Path:
        return self.review_keys / f"{pack}.yml"

    @property
    def closing(self) -> Path:
        return self.folder / "closing.yml"

    @property
    def analysis(self) -> Path:
        """What people conclude, written by hand and bound to the evidence that it is about."""
        return self.folder / "analysis.md"

    def call_log(self, run_id: str) -> Path:
        return self.folder / "logs" / f"{run_id}.jsonl"

    @property
    def runs(self) -> Path:
        return self.folder / "runs"

    def run(self, run_id: str) -> RunPaths:
        return RunPaths(self.runs / run_id)

    def launch(self, launch: str) -> Path:
        """Where Inspect writes while a launch is under way; hidden, so that no package carries it."""
        return self.runs / f".launch-{launch}"

    @property
    def tables(self) -> Path:
        return self.folder / "tables"

    @property
    def items_csv(self) -> Path:
        return self.tables / "items.csv"

    @property
    def runs_csv(self) -> Path:
        return self.tables / "runs.csv"

    @property
    def items_parquet(self) -> Path:
        return self.tables / "items.parquet"

    @property
    def runs_parquet(self) -> Path:
        return self.tables / "runs.parquet"

    @property
    def table_files(self) -> tuple[Path, ...]:
        """Both tables in both forms."""
        return (self.items_csv, self.runs_csv, self.items_parquet, self.runs_parquet)

    @property
    def tables_evidence(self) -> Path:
        return self.tables / "evidence.yml"

    @property
    def leaderboard(self) -> Path:
        return self.folder / "leaderboard.md"

    @property
    def report(self) -> Path:
        return self.folder / "evaluation-report.md"


@dataclass(frozen=True, slots=True)
class Project:
    """A user's project: the folder that holds `cases/`."""

    root: Path

    def case(self, case: str) -> Path:
        return self.root / "cases" / case

    def case_file(self, case: str) -> Path:
        return self.case(case) / "case.yml"

    def datasets(self, case: str) -> Path:
        return self.case(case) / "datasets"

    def experiment(self, ref: ExperimentRef) -> Path:
        return self.case(ref.case) / "experiments" / ref.experiment

    def publication(self, case: str) -> Path:
        """What a case says of its publication."""
        return self.case(case) / "publication.yml"

    def view_only(self, case: str) -> Path:
        """The file that says that a case holds reports alone, so that nothing of it can be run."""
        return self.case(case) / "view-only.yml"

    def untrusted_marker(self, case: str) -> Path:
        """The file that says that a case came from elsewhere and its code was not reviewed."""
        return self.root / "cases" / case / ".untrusted-origin"

    def eval(self, ref: EvalRef) -> EvalPaths:
        path = self.root / "cases" / ref.case / "experiments" / ref.experiment / "evals" / ref.eval
        return EvalPaths(path)

    def page(self, ref: EvalRef) -> Path:
        """The self-contained result page of an eval."""
        return self.root / "build" / ref.case / ref.experiment / f"{ref.eval}.html"

    def review_packs(self, ref: EvalRef) -> Path:
        """Where packs for reviewers are written; everything that leaves the project is below it."""
        return self.root / "build" / "review" / ref.case / ref.experiment / ref.eval

    def case_page(self, case: str) -> Path:
        """The self-contained page of a case, with all of its evals."""
        return self.root / "build" / case / "index.html"

    @property
    def packages(self) -> Path:
        """Where archives of cases are written."""
        return self.root / "build" / "packages"

    @property
    def thumbnails(self) -> Path:
        """Small pictures by the digest of the artifact that they show."""
        return self.state / "cache" / "thumbnails"

    @property
    def config(self) -> Path:
        return self.root / "config" / "config.yaml"

    @property
    def models(self) -> Path:
        return self.root / "config" / "models.yml"

    @property
    def state(self) -> Path:
        """Caches, plans, locks, receipts; never evidence."""
        return self.root / ".tamesu"

    @property
    def price_memory(self) -> Path:
        """List prices that were looked up today."""
        return self.state / "cache" / "prices.json"

    @property
    def receipts(self) -> Path:
        return self.state / "receipts"

    def review_lock(self, ref: EvalRef) -> Path:
        """Held while packs of an eval are made or answers to them are imported."""
        return self.lock(f"review--{ref.case}--{ref.experiment}--{ref.eval}")

    def judging_lock(self, ref: EvalRef) -> Path:
        """Held while model judges of an eval are at work."""
        return self.lock(f"judging-{digest(str(ref))[:12]}")

    def lock(self, name: str) -> Path:
        return self.state / "locks" / f"{name}.lock"

    def want(self, derived: Path) -> Path:
        return self.state / "want" / self.relative(derived)

    @property
    def replay_calls(self) -> Path:
        """One line per call that the replay provider served."""
        return self.state / "replay-calls.jsonl"

    def progress(self, invocation: str) -> Path:
        """What the jobs of an invocation tell while they are at work."""
        return self.state / "progress" / f"{invocation}.jsonl"

    def relative(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def refs(self) -> tuple[EvalRef, ...]:
        """Return the evals of the project, sorted by name; those of cases that hold reports alone are none."""
        reported = set(self.reported_cases())
        return tuple(ref for ref in self._all_refs() if ref.case not in reported)

    def reported_refs(self, case: str) -> tuple[EvalRef, ...]:
        """Return the evals of a case that holds reports alone: what can be read of them, not planned."""
        return tuple(ref for ref in self._all_refs() if ref.case == case) if self.is_reported(case) else ()

    def _all_refs(self) -> tuple[EvalRef, ...]:
        files = self.root.glob("cases/*/experiments/*/evals/*/eval.yml")
        parts = sorted(file.relative_to(self.root).parts for file in files)
        return tuple(EvalRef(case=p[1], experiment=p[3], eval=p[5]) for p in parts)

    def is_reported(self, case: str) -> bool:
        """Return whether a case holds reports alone; whatever lies at the marker's name says so."""
        return os.path.lexists(self.view_only(case))

    def reported_cases(self) -> tuple[str, ...]:
        """Return the cases that hold reports alone, so that nothing of them is planned or run."""
        return tuple(case for case in self.cases() if self.is_reported(case))

    def cases(self) -> tuple[str, ...]:
        """Return the cases of the project, sorted by name; a folder is one when it holds a manifest or experiments."""
        folders = (path for path in (self.root / "cases").glob("*") if not path.name.startswith("."))
        found = (path for path in folders if (path / "case.yml").exists() or (path / "experiments").is_dir())
        return tuple(sorted(path.name for path in found))

    def experiments(self) -> tuple[ExperimentRef, ...]:
        """Return the experiments of the project, sorted by name."""
        folders = (path for path in self.root.glob("cases/*/experiments/*") if path.is_dir())
        parts = sorted(path.relative_to(self.root).parts for path in folders if not path.name.startswith("."))
        return tuple(ExperimentRef(case=p[1], experiment=p[3]) for p in parts)

    def find_case(self, name: str) -> str:
        """Return the case of that name. Raises UnknownName."""
        known = self.cases()
        if name not in known:
            raise UnknownName("case", name, known)
        return name

    def reports_alone(self, case: str) -> Refused:
        """Return the error of asking for an eval of a case that holds reports alone."""
        where = self.relative(self.view_only(case))
        return Refused(f"{where}: this case holds reports alone, so nothing of it is planned or run; `tamesu show` it")

    def find_experiment(self, name: str) -> ExperimentRef:
        """Return the experiment `<case>/<experiment>`, or of that name alone. Raises UnknownName, AmbiguousName."""
        known = self.experiments()
        found = [ref for ref in known if name in {str(ref), ref.experiment}]
        if len(found) == 1:
            return found[0]
        if found:
            raise AmbiguousName("experiment", name, [str(ref) for ref in found])
        raise UnknownName("experiment", name, [str(ref) for ref in known] + [ref.experiment for ref in known])

    def find_ref(self, name: str) -> EvalRef:
        """Return the eval of that name: `<case>/<experiment>/<eval>` or any unambiguous tail of it.

        Raises UnknownName and AmbiguousName, and Refused for one of a case that holds reports alone.
        """
        refs = self.refs()
        folders = {"cases", "experiments", "evals", "eval.yml"}
        parts = [part for part in name.strip("/").split("/") if part]
        # a path of an eval's folder names it as well
        wanted = [part for part in parts if part not in folders] if parts[:1] == ["cases"] else parts
        found = [ref for ref in refs if wanted and str(ref).split("/")[-len(wanted) :] == wanted]
        if len(found) == 1:
            return found[0]
        if found:
            raise AmbiguousName("eval", name, [str(ref) for ref in found])
        for ref in self._all_refs():
            if wanted and str(ref).split("/")[-len(wanted) :] == wanted:
                raise self.reports_alone(ref.case)
        raise UnknownName("eval", name, [str(ref) for ref in refs] + [ref.eval for ref in refs])


def find_project(start: Path) -> Project:
    """Return the project of the nearest folder upwards that holds `cases/`.

    Raises NoProject when there is none.
    """
    start = start.resolve()
    for folder in (start, *start.parents):
        if (folder / "cases").is_dir():
            return Project(folder)
    raise NoProject(f"{start}: no folder here or above holds cases/; change into a project, or `tamesu new case NAME`")
