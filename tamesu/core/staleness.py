"""Runs on disk that serve no slot: why, named, and what redoing costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tamesu.base.canonical import Json
from tamesu.base.model.evidence import RunRecord
from tamesu.base.model.plan import FoundRun, RunSpec, Slot, SlotState, Stray
from tamesu.core.identity import Difference, differences, said_value
from tamesu.core.image_lock import image_causes

_SHOWN_ITEMS = 3
_KEPT = "kept, never counted"


@dataclass(frozen=True, slots=True)
class _Made:
    """What a run on disk was made from: its identity, the digests of files and samples, its repetition."""

    generation: Mapping[str, Json]
    scoring: Mapping[str, Json]
    content: Mapping[str, str]
    samples: Mapping[str, str]
    repetition: int


def _recorded(record: RunRecord) -> _Made:
    identity, samples = record.identity, {name: entry.sample for name, entry in record.items.items()}
    return _Made(identity.generation, identity.scoring, identity.content, samples, record.repetition)


def _frozen(spec: RunSpec) -> _Made:
    content = {file.path: file.sha256 for file in spec.identity.content}
    identity = spec.identity
    return _Made(identity.generation, identity.scoring, content, spec.sample_digests, spec.repetition)


def edits_since(stray: Stray, planned: Sequence[Slot]) -> tuple[str, ...]:
    """Return what was edited since a run under way was frozen, as far as its frozen copy can be read."""
    spec = stray.spec
    if spec is None:
        return ()
    cell = (spec.provider, spec.model, spec.arm)
    slots = [slot for slot in planned if (slot.spec.provider, slot.spec.model, slot.spec.arm) == cell]
    now = next((slot.spec for slot in slots if slot.spec.repetition == spec.repetition), None)
    if now is None:
        return (f"{spec.provider}/{spec.model} x {spec.arm} rep {spec.repetition} is not in the plan",)
    made = _frozen(spec)
    return _name_causes(made, now, _changes(made, now))


def found_run(record: RunRecord, planned: Sequence[Slot]) -> FoundRun:
    """Return what a run that serves no slot is: stale with its causes, or extra beyond the plan."""
    cell = [slot for slot in planned if (slot.spec.provider, slot.spec.model, slot.spec.arm) == _cell(record)]
    if not cell:
        cause = f"{record.provider}/{record.model} x {record.arm} is not in the plan"
        return FoundRun(record.run_id, "extra", (cause,), 0.0, _KEPT)
    slot = next((slot for slot in cell if slot.spec.repetition == record.repetition), cell[0])
    made = _recorded(record)
    changed = _changes(made, slot.spec)
    if all(difference.name == "repetition" for difference in changed):
        cause = f"repetition {record.repetition} is beyond the plan"
        return FoundRun(record.run_id, "extra", (cause,), 0.0, _KEPT)
    causes = _name_causes(made, slot.spec, changed)
    if slot.state is SlotState.BANKED:
        return FoundRun(record.run_id, "stale", causes, 0.0, "redone already; kept")
    redo = slot.exposure_usd
    return FoundRun(record.run_id, "stale", causes, redo, _remedy(made, slot.spec, changed, redo))


def _remedy(made: _Made, spec: RunSpec, changed: Sequence[Difference], redo: float) -> str:
    """Undoing a change banks the run again and costs nothing, so it is always the cheapest."""
    undo = dict.fromkeys(step for change in changed for step in _undo(made, spec, change))
    return f"{' and '.join(undo)}, for nothing; or redo {f'for up to {redo:.4f} USD' if redo > 0 else 'for nothing'}"


def _undo(made: _Made, spec: RunSpec, change: Difference) -> Iterator[str]:
    """Files are put back, values set back; what a file says is not repeated."""
    if change.name == "repetition":
        return
    if change.name.startswith("source/"):
        yield f"{'put' if change.was is not None else 'remove'} {change.name.rpartition('/')[2]}{_back(change)}"
    elif change.name == "images":
        yield "put the image references back"
    elif change.name == "recordings" or change.name.startswith("reference/"):
        yield f"put the {change.name.partition('/')[0]} back"
    elif change.name == "output_schema" and change.was is not None:
        yield "put the output schema back"
    elif change.name == "dataset":
        yield from _undo_dataset(made, spec)
    else:
        was = "nothing (remove it)" if change.was is None else said_value(change.was)
        yield f"set {change.name} back to {was}"


def _back(change: Difference) -> str:
    return " back" if change.was is not None else ""


def _undo_dataset(made: _Made, spec: RunSpec) -> Iterator[str]:
    if set(made.samples) != set(spec.items):
        yield f"select the same {len(made.samples)} items again"
        return
    prompts = _changed_prompts(made, spec)
    yield f"put {', '.join(prompts)} back" if prompts else "put the dataset back"


def _cell(record: RunRecord) -> tuple[str, str, str]:
    return (record.provider, record.model, record.arm)


def _changes(made: _Made, slot: RunSpec) -> tuple[Difference, ...]:
    return (
        *differences(made.generation, slot.identity.generation),
        *differences(made.scoring, slot.identity.scoring),
    )


def _name_causes(made: _Made, slot: RunSpec, changed: Iterable[Difference]) -> tuple[str, ...]:
    causes: list[str] = []
    for difference in changed:
        if difference.name == "dataset":
            causes.extend(_dataset_causes(made, slot))
        elif difference.name == "images":
            causes.extend(image_causes(difference) or [str(difference)])
        elif not (difference.name == "repetition" and made.repetition == slot.repetition):
            causes.append(str(difference))
    return tuple(dict.fromkeys(causes))


def _dataset_causes(made: _Made, slot: RunSpec) -> list[str]:
    """A rendered dataset changed: name the prompt files that did, else the items."""
    prompts = [f"prompt {name} changed" for name in _changed_prompts(made, slot)]
    before = made.samples
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


def _changed_prompts(made: _Made, spec: RunSpec) -> list[str]:
    now = {file.path: file.sha256 for file in spec.identity.content}
    was = made.content
    changed = [path for path in sorted(set(was) | set(now)) if was.get(path) != now.get(path)]
    return [path.rsplit("/", 1)[-1] for path in changed if _is_prompt(path)]


def _is_prompt(path: str) -> bool:
    """Return whether a file is a prompt: by the folder it is in or, in any folder of an experiment, by its kind."""
    if "/prompts/" in path:
        return True
    of_others = ("/datasets/", "/rubrics/", "/inspect/")
    return path.endswith((".j2", ".md", ".txt")) and not any(folder in path for folder in of_others)


def _items(what: str, names: Sequence[str]) -> list[str]:
    shown = [f"dataset item {name} {what}" for name in names[:_SHOWN_ITEMS]]
    more = len(names) - _SHOWN_ITEMS
    return (
        [*shown, f"{more} more dataset items are new" if what == "is new" else f"{more} more dataset items: {what}"]
        if more > 0
        else shown
    )
