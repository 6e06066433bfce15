"""Names within an eval: arms, runs, the eval itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tamesu.base.model.manifest import Eval
from tamesu.core.artifacts import RESERVED_STEM
from tamesu.core.lint.remark import Remark, nearest


def name_remarks(evaluation: Eval) -> Iterator[Remark]:
    """Yield what is wrong with the names that an eval gives and uses."""
    yield from _own_name(evaluation)
    yield from _arms(evaluation)
    yield from _judges(evaluation)
    yield from _unknown_arms(evaluation)
    yield from _repeated_runs(evaluation)
    yield from _unknown_items(evaluation)


def _own_name(evaluation: Eval) -> Iterator[Remark]:
    if evaluation.name != evaluation.ref.eval:
        yield Remark(
            ("name",),
            "name/folder",
            f"name '{evaluation.name}' is not the folder's name '{evaluation.ref.eval}'",
            "use the folder's name",
        )


def _arms(evaluation: Eval) -> Iterator[Remark]:
    counted = Counter(arm.id for arm in evaluation.arms)
    for number, arm in enumerate(evaluation.arms):
        if counted[arm.id] > 1:
            yield Remark(("arms", number, "id"), "id/repeated", f"arm '{arm.id}' repeats", "rename one arm")
        if RESERVED_STEM.fullmatch(arm.id):
            message = f"'{arm.id}' is a device's name on some systems"
            yield Remark(("arms", number, "id"), "id/reserved", message, "choose another ID")


def _judges(evaluation: Eval) -> Iterator[Remark]:
    counted = Counter(judge.id for judge in evaluation.policy.judges)
    for number, judge in enumerate(evaluation.policy.judges):
        if counted[judge.id] > 1:
            at = ("evaluation", "model_judges", number, "id")
            yield Remark(at, "id/repeated", f"judge '{judge.id}' repeats", "rename one judge")


def _unknown_arms(evaluation: Eval) -> Iterator[Remark]:
    arms = [arm.id for arm in evaluation.arms]
    for number, entry in enumerate(evaluation.models):
        for position, arm in enumerate(entry.arms or ()):
            if arm not in arms:
                fix = f"declare it below `arms`, or {nearest(arm, arms)}"
                message = f"arm '{arm}' is not declared"
                yield Remark(("runs", number, "arms", position), "run/unknown-arm", message, fix)


def _repeated_runs(evaluation: Eval) -> Iterator[Remark]:
    arms = sorted({arm.id for arm in evaluation.arms})
    seen: set[tuple[str, str, str]] = set()
    for number, entry in enumerate(evaluation.models):
        for arm in dict.fromkeys(entry.arms or arms):
            cell = (entry.provider, entry.model, arm)
            if cell in seen:
                message = f"{entry.provider}/{entry.model} x {arm} is planned twice"
                yield Remark(("runs", number), "run/repeated", message, "use `repetitions` for more draws")
            seen.add(cell)


def _unknown_items(evaluation: Eval) -> Iterator[Remark]:
    dataset, selection = evaluation.dataset, evaluation.defaults.items
    known = [item.id for item in dataset.items]
    if not known:
        return  # a dataset that is empty or cannot be read is told where it stands
    for number, name in enumerate(selection.ids):
        if name not in known:
            message = f"{dataset.file} holds no item '{name}'"
            yield Remark(("defaults", "items", "ids", number), "dataset/not-renderable", message, nearest(name, known))
    if selection.count > len(known):
        message = f"{dataset.file} holds {len(known)} items, and {selection.count} are selected"
        yield Remark(("defaults", "items"), "dataset/not-renderable", message, "lower the number")
