"""Runs on disk that serve no slot: why, named, and what redoing costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tamesu.base.model.evidence import RunRecord
from tamesu.base.model.plan import FoundRun, RunSpec, Slot, SlotState
from tamesu.core.identity import Difference, differences

_SHOWN_ITEMS = 3
_KEPT = "kept, never counted"


def found_run(record: RunRecord, planned: Sequence[Slot]) -> FoundRun:
    """Return what a run that serves no slot is: stale with its causes, or extra beyond the plan."""
    cell = [slot for slot in planned if (slot.spec.provider, slot.spec.model, slot.spec.arm) == _cell(record)]
    if not cell:
        cause = f"{record.provider}/{record.model} x {record.arm} is not in the plan"
        return FoundRun(record.run_id, "extra", (cause,), 0.0, _KEPT)
    slot = next((slot for slot in cell if slot.spec.repetition == record.repetition), cell[0])
    changed = _changes(record, slot.spec)
    if all(difference.name == "repetition" for difference in changed):
        cause = f"repetition {record.repetition} is beyond the plan"
        return FoundRun(record.run_id, "extra", (cause,), 0.0, _KEPT)
    causes = _name_causes(record, slot.spec, changed)
    if slot.state is SlotState.BANKED:
        return FoundRun(record.run_id, "stale", causes, 0.0, "redone already; kept")
    redo = slot.exposure_usd
    return FoundRun(record.run_id, "stale", causes, redo, _remedy(record, slot.spec, changed, redo))


def _remedy(record: RunRecord, spec: RunSpec, changed: Sequence[Difference], redo: float) -> str:
    """Undoing a change banks the run again and costs nothing, so it is always the cheapest."""
    undo = dict.fromkeys(step for change in changed for step in _undo(record, spec, change))
    return f"{' and '.join(undo)}, for nothing; or redo {f'for up to {redo:.4f} USD' if redo > 0 else 'for nothing'}"


def _undo(record: RunRecord, spec: RunSpec, change: Difference) -> Iterator[str]:
    """Files are put back, values set back; what a file says is not repeated."""
    if change.name == "repetition":
        return
    if change.name.startswith("source/"):
        yield f"{'put' if change.was is not None else 'remove'} {change.name.rpartition('/')[2]}{_back(change)}"
    elif change.name == "images":
        yield "put the image references back"
    elif change.name == "recordings" or change.name.startswith("reference/"):
        yield f"put the {change.name.partition('/')[0]} back"
    elif change.name == "dataset":
        yield from _undo_dataset(record, spec)
    else:
        was = "nothing (remove it)" if change.was is None else str(change.was)
        yield f"set {change.name} back to {was}"


def _back(change: Difference) -> str:
    return " back" if change.was is not None else ""


def _undo_dataset(record: RunRecord, spec: RunSpec) -> Iterator[str]:
    if set(record.items) != set(spec.items):
        yield f"select the same {len(record.items)} items again"
        return
    prompts = _changed_prompts(record, spec)
    yield f"put {', '.join(prompts)} back" if prompts else "put the dataset back"


def _cell(record: RunRecord) -> tuple[str, str, str]:
    return (record.provider, record.model, record.arm)


def _changes(record: RunRecord, slot: RunSpec) -> tuple[Difference, ...]:
    return (
        *differences(record.identity.generation, slot.identity.generation),
        *differences(record.identity.scoring, slot.identity.scoring),
    )


def _name_causes(record: RunRecord, slot: RunSpec, changed: Iterable[Difference]) -> tuple[str, ...]:
    causes: list[str] = []
    for difference in changed:
        if difference.name == "dataset":
            causes.extend(_dataset_causes(record, slot))
        elif not (difference.name == "repetition" and record.repetition == slot.repetition):
            causes.append(str(difference))
    return tuple(dict.fromkeys(causes))


def _dataset_causes(record: RunRecord, slot: RunSpec) -> list[str]:
    """A rendered dataset changed: name the prompt files that did, else the items."""
    prompts = [f"prompt {name} changed" for name in _changed_prompts(record, slot)]
    before = {name: entry.sample for name, entry in record.items.items()}
    after = slot.sample_digests
    gone = sorted(set(before) - set(after))
    new = [name for name in after if name not in before]
    edited = [name for name in after if name in before and before[name] != after[name]]
    if prompts and len(edited) == len(after) and not gone and not new:
        return prompts
    named = [
        *_items("changed", edited),
        *_items("is not selected any more", gone),
        *_items("is new", new),
    ]
    return named or prompts or ["the order of the dataset changed"]


def _changed_prompts(record: RunRecord, spec: RunSpec) -> list[str]:
    now = {file.path: file.sha256 for file in spec.identity.content}
    was = record.identity.content
    changed = [path for path in sorted(set(was) | set(now)) if was.get(path) != now.get(path)]
    return [path.rsplit("/", 1)[-1] for path in changed if "/prompts/" in path]


def _items(what: str, names: Sequence[str]) -> list[str]:
    shown = [f"dataset item {name} {what}" for name in names[:_SHOWN_ITEMS]]
    more = len(names) - _SHOWN_ITEMS
    return (
        [*shown, f"{more} more dataset items are new" if what == "is new" else f"{more} more dataset items: {what}"]
        if more > 0
        else shown
    )
