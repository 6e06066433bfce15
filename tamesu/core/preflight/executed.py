"""What the frozen copy of a run says: it imports, its containers render, its data are what was planned."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tamesu.base.canonical import Json
from tamesu.base.model.endpoint import Check, ImportFinding
from tamesu.base.model.plan import FrozenDataset, RunSpec
from tamesu.core.preflight.lines import counted, failed, passed, unknown

_SHOWN = 3
_DIGITS = 12


def import_check(finding: ImportFinding | None) -> Check:
    """Return whether the copied task imports, and what it read outside its copy."""
    if finding is None:
        return unknown("import", "not tried")
    if not finding.ok:
        broken = re.search(r": (Syntax|Indentation|Tab)Error: ", finding.error or "")
        fix = "correct the task" if broken else "declare it in execution.sources, or install what is missing"
        return failed("import", finding.error or "does not import", fix)
    if finding.outside_reads:
        shown = ", ".join(finding.outside_reads[:_SHOWN])
        more = len(finding.outside_reads) - _SHOWN
        rest = f" and {more} more" if more > 0 else ""
        return unknown(
            "import",
            f"imports; reads {counted(len(finding.outside_reads), 'file')} outside its copy: {shown}{rest}",
            "declare what belongs to the measurement in execution.sources",
            {"outside_reads": list(finding.outside_reads)},
        )
    return passed("import", "imports, and reads nothing outside its copy")


def compose_check(problems: Mapping[str, str | None]) -> Check:
    """Return whether compose files render; `problems` maps each of the copy to its reason, None where it does."""
    if not problems:
        return passed("compose", "no compose file is declared")
    for file, problem in problems.items():
        if problem is not None:
            return failed("compose", f"{file}: {problem}", "correct it; `docker compose config` shows where")
    return passed("compose", f"{counted(len(problems), 'file')} rendered")


def images_check(spec: RunSpec, found: Mapping[str, str], problem: str | None) -> Check:
    """Return which images are here; `found` maps references to IDs, `problem` is why one may not be used."""
    if problem is not None:
        message, _, fix = problem.rpartition("; ")
        return failed("images", message or fix, fix)
    wanted = list(dict.fromkeys(image.reference for image in spec.images))
    if not wanted:
        return passed("images", "no image is declared")
    data: dict[str, Json] = {"images": dict[str, Json](found)}
    missing = [reference for reference in wanted if reference not in found]
    if missing:
        told = f"{len(wanted) - len(missing)} of {len(wanted)} here; not here: {', '.join(missing[:_SHOWN])}"
        return unknown("images", told, "build or pull it, so that no sample waits for it", data)
    return passed("images", f"{counted(len(wanted), 'image')} here, verified", data)


def data_check(spec: RunSpec, dataset: FrozenDataset, problem: str | None) -> Check:
    """Return the identity under which the frozen data will be asked."""
    if problem is not None:
        message, _, fix = problem.rpartition("; ")
        return failed("data", message or fix, fix)
    items = len(dataset.samples)
    figure = f"{spec.run_id}, {counted(items, 'item')}, dataset {dataset.digest[:_DIGITS]}"
    return passed("data", figure, {"run_id": spec.run_id, "items": items, "dataset": dataset.digest})


def compose_files(names: Sequence[str]) -> tuple[str, ...]:
    """Return the compose files among the targets of a copy, by the names that Inspect and Docker give them."""
    return tuple(name for name in names if _is_compose(name.rpartition("/")[2]))


def _is_compose(name: str) -> bool:
    stem, _, kind = name.rpartition(".")
    return kind in {"yaml", "yml"} and (
        stem in {"compose", "docker-compose"} or stem.endswith(("-compose", ".compose"))
    )
