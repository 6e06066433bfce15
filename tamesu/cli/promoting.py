"""The command `promote`: accepted pictures of a closed eval become a new dataset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click
import msgspec

from tamesu.base.model.promotion import PromotionRecord, Selection
from tamesu.cli.groups import OneOf
from tamesu.cli.session import emit_json, project_here, say
from tamesu.core.promotion import RECORDED
from tamesu.core.report.figures import count
from tamesu.stages.plan import digest_cache
from tamesu.stages.promote import Ending, Promoted, Request, promote_eval


@dataclass(frozen=True, slots=True)
class PromotionJson:
    """What `--json` prints: what became of it, the folder, and promotion.yml as it is or would be."""

    ending: str
    dataset: str
    folder: str
    promotion: Any
    altered: tuple[str, ...]


@click.command(short_help="Make accepted pictures of a closed eval a new dataset.")
@click.argument("name", metavar="EVAL")
@click.option("--dataset", help="Name of the new dataset; left out, the next version of the eval's own.")
@click.option(
    "--selection",
    type=OneOf([one.value for one in Selection]),
    help="none: every accepted picture; first_pass: of each item the first. Left out, what eval.yml declares.",
)
@click.option("--dry-run", is_flag=True, help="Check everything, pictures included, and write nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def promote(name: str, dataset: str | None, selection: str | None, dry_run: bool, as_json: bool) -> None:
    """Make accepted pictures of a closed image_generation eval a new dataset of its case.

    Its pictures are copies, compared with what was recorded; promotion.yml beside them says where each comes from and
    what accepted it. Nothing that exists is overwritten, and nothing is run or paid.
    """
    project = project_here()
    cache = digest_cache(project)
    request = Request(dataset, None if selection is None else Selection(selection), dry_run)
    done = promote_eval(project, name, request, cache)
    cache.save()
    folder = project.relative(done.folder)
    if as_json:
        plain = msgspec.to_builtins(done.record)
        emit_json(PromotionJson(done.ending.value, done.folder.name, folder, plain, done.altered))
        return
    _tell(done, folder)


def _tell(done: Promoted, folder: str) -> None:
    record = done.record
    runs = len({one.run_id for one in record.items})
    say(
        f"{record.eval}: {count(len(record.items), 'picture')} of {count(runs, 'run')} {done.ending.value}: {folder} "
        f"(selection {record.selection.value})"
    )
    for line in _remarks(record):
        say(f"  {line}")
    for line in done.altered:
        say(f"  altered since it was promoted: {line}; `tamesu lint` lists all of it")
    if done.ending is Ending.DRY_RUN:
        say("next: the same without --dry-run")
    else:
        say(f"next: an eval of this case asks it with `dataset: ../../../../datasets/{done.folder.name}/dataset.yml`")


def _remarks(record: PromotionRecord) -> list[str]:
    remarks = []
    recorded = sum(one.recorded for one in record.items)
    if recorded:
        remarks.append(f"recorded: {recorded} of {len(record.items)} pictures are {RECORDED}")
    left = record.counts.accepted - record.counts.promoted
    if left:
        remarks.append(f"{count(left, 'accepted picture')} left out: of each item only the first was asked for")
    if record.counts.undecided:
        remarks.append(f"{count(record.counts.undecided, 'output')} left out: judgement was waived, so nothing decided")
    return remarks
