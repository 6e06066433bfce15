"""The commands `review export`, `review import` and `review status`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from tamesu.base.errors import InvalidDocument, UsageError
from tamesu.cli.groups import NamedCommands
from tamesu.cli.session import chosen, emit_json, fail, project_here, say, warn
from tamesu.core.review.check import Extent
from tamesu.core.review.choice import Content
from tamesu.core.review.progress import ReviewProgress
from tamesu.edge.documents.reading import Shelf
from tamesu.edge.store.paths import Project
from tamesu.stages.plan import digest_cache
from tamesu.stages.review_export import Exported, Request, check_reviewer, export_pack, write_nothing
from tamesu.stages.review_import import Imported, import_responses
from tamesu.stages.review_status import read_progress
from tamesu.stages.reviewing import Reviewable, read_reviewable


@click.group(cls=NamedCommands, short_help="Hand outputs to reviewers and take in their answers.")
def review() -> None:
    """Review by people: blinded packs out, answers in, and where it stands.

    A pack never names model, arm or run; the key to it stays in the project.
    """


@review.command("export", short_help="Write a blinded pack for one reviewer.")
@click.argument("name", metavar="EVAL")
@click.option("--reviewer", required=True, help="For whom: an ID such as `ada`.")
@click.option("--run", "run", help="Only this run, by its run ID.")
@click.option("--seed", type=click.IntRange(min=0), help="Draw IDs and order from this number; a fresh one otherwise.")
@click.option("--all", "again", is_flag=True, help="Also what this reviewer has answered before.")
@click.option("--adjudicate", is_flag=True, help="What reviewers disagree about, with their answers but no names.")
@click.option("--output", type=click.Path(path_type=Path), help="Write the pack into this folder.")
@click.option("--page-if-nothing", is_flag=True, hidden=True)
def export(
    name: str,
    reviewer: str,
    run: str | None,
    seed: int | None,
    again: bool,
    adjudicate: bool,
    output: Path | None,
    page_if_nothing: bool,
) -> None:
    """Write a blinded pack for one reviewer: review.html, which works offline, and responses.csv.

    It holds what this reviewer still owes. The key that says what its entries are stays in the project.
    """
    if again and adjudicate:
        raise UsageError("--all and --adjudicate: say one of them")
    check_reviewer(reviewer)
    project = project_here()
    cache = digest_cache(project)
    reviewable = read_reviewable(project, name, cache)
    content = Content.DISPUTED if adjudicate else Content.ALL if again else Content.OWED
    folder = None if output is None else output.resolve()
    done = export_pack(project, reviewable, Request(reviewer, content, run, seed, folder))
    cache.save()
    if done is None:
        say(f"{reviewable.evaluation.ref}: {_NOTHING[content].format(reviewer=reviewer)}")
        if page_if_nothing and folder is not None:
            write_nothing(folder)
        for problem in reviewable.problems:
            warn(f"left out: {problem}")
        return
    _tell_pack(project, str(reviewable.evaluation.ref), done)


_NOTHING = {
    Content.OWED: "nothing to review for {reviewer}",
    Content.ALL: "nothing to review for {reviewer}",
    Content.DISPUTED: "reviewers disagree about nothing",
}


def _tell_pack(project: Project, ref: str, done: Exported) -> None:
    for warning in done.warnings:
        warn(f"warning: {warning}")
    say(f"{ref}: pack {done.pack} with {done.entries} {'entry' if done.entries == 1 else 'entries'}")
    say(f"  hand over: {_place(project, done.archive)} (or {_place(project, done.page)})")
    say(f"  keep here: {_place(project, done.key)}")


def _place(project: Project, path: Path) -> str:
    return project.relative(path) if path.is_relative_to(project.root) else str(path)


@review.command("import", short_help="Take in the answers that came back.")
@click.argument("name", metavar="EVAL")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--partial", is_flag=True, help="Take what there is when entries of a pack are not answered.")
def import_(name: str, files: tuple[Path, ...], partial: bool) -> None:
    """Take in responses.yml or responses.csv as records, one per entry; nothing is written unless all is valid."""
    project = project_here()
    cache = digest_cache(project)
    done = import_responses(project, name, files, Extent.PARTIAL if partial else Extent.WHOLE, cache)
    cache.save()
    for finding in done.findings:
        say(str(finding))
    if not done.files:
        fail("nothing was imported; correct the files, or ask the reviewer", 1)
    _tell_import(done)


def _tell_import(done: Imported) -> None:
    for one in done.files:
        if not one.written:
            say(f"{one.label}: already imported, {one.already} {_reviews(one.already)} of pack {one.pack}")
            continue
        rest = f", {one.already} already there" if one.already else ""
        say(f"{one.label}: {one.written} {_reviews(one.written)} of pack {one.pack} imported{rest}")


def _reviews(count: int) -> str:
    return "review" if count == 1 else "reviews"


@review.command("status", short_help="Say where review stands.")
@click.argument("name", metavar="EVAL", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def status(name: str | None, as_json: bool) -> None:
    """Say what is owed, by whom it was reviewed, who disagrees and what went stale."""
    project = project_here()
    cache, shelf = digest_cache(project), Shelf()
    views: list[dict[str, object]] = []
    for ref in chosen(project, name):
        try:
            one = read_reviewable(project, str(ref), cache, shelf)
        except InvalidDocument as error:
            views.append({"eval": str(ref), "problem": str(error)})
            continue
        if one.evaluation.policy.human_rubric is None and name is None:
            continue
        progress = read_progress(project, one, cache)
        views.append({"eval": str(ref), **_view(progress, one)})
        if not as_json:
            _tell_progress(str(ref), progress, one)
    cache.save()
    if as_json:
        emit_json(views)
        return
    for view in views:
        if "problem" in view:
            say(f"{view['eval']}: invalid: {view['problem']}")
    if not views:
        say("no eval declares human review")


def _view(progress: ReviewProgress, one: Reviewable) -> dict[str, object]:
    """Progress as plain values; `raw` is the share of verdicts that agree."""
    pairs = [{**asdict(pair), "raw": pair.raw} for pair in progress.agreement]
    return {**asdict(progress), "agreement": pairs, "left_out": list(one.problems)}


def _tell_progress(ref: str, progress: ReviewProgress, one: Reviewable) -> None:
    disputed = "1 disagreement" if progress.disagreements == 1 else f"{progress.disagreements} disagreements"
    owed = f"{progress.owed} owed ({progress.missing} {_reviews(progress.missing)})"
    say(f"{ref}: {progress.done} of {progress.outputs} outputs reviewed, {owed}, {disputed}")
    for count in progress.reviewers:
        decided = f", {count.adjudicated} adjudicated" if count.adjudicated else ""
        stale = f", {count.stale} stale" if count.stale else ""
        say(f"  {count.reviewer}: {count.counted} reviewed{decided}{stale}")
    for pair in progress.agreement:
        say(f"  {pair.first} and {pair.second}: agree on {pair.agreed} of {pair.shared} outputs ({pair.raw:.0%})")
    for cause in progress.stale:
        say(f"  stale: {cause.records} {_reviews(cause.records)} ({cause.cause}); kept, not counted")
    if progress.elsewhere:
        say(f"  {progress.elsewhere} {_reviews(progress.elsewhere)} of runs that the plan does not name")
    for problem in one.problems:
        say(f"  left out: {problem}")
    if progress.disagreements:
        say(f"  next: `tamesu review export {ref} --reviewer NAME --adjudicate`")
    elif progress.owed:
        say(f"  next: `tamesu review export {ref} --reviewer NAME`")
