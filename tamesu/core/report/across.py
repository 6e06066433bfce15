"""Two evals side by side: the same model x arm in both, on the items that both asked with the same content."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tamesu.base.canonical import Json, digest
from tamesu.base.errors import UnknownName, UsageError
from tamesu.base.model.manifest import Eval, Item
from tamesu.core.identity import differences
from tamesu.core.metrics import Cell, cells_of, rows_of
from tamesu.core.metrics.task_names import metric_names
from tamesu.core.report.comparison import Comparison, adjusted, compare, compare_samples
from tamesu.core.report.figures import count
from tamesu.core.rows import ItemRow, SlotEvidence, build_rows

_KEYS: tuple[Callable[[Cell], object], ...] = (
    lambda cell: cell,
    lambda cell: (cell.provider, cell.model),
    lambda cell: cell.arm,
)


@dataclass(frozen=True, slots=True)
class Side:
    """One eval with the evidence of its planned runs."""

    evaluation: Eval
    slots: tuple[SlotEvidence, ...]
    rows: tuple[ItemRow, ...]
    policy_changed: str | None = None

    @property
    def name(self) -> str:
        return str(self.evaluation.ref)

    @property
    def items(self) -> frozenset[str]:
        """The items that are planned."""
        return frozenset(row.item for row in self.rows)


@dataclass(frozen=True, slots=True)
class SharedItems:
    """The items that two evals planned: `equal` in content, `changed` under the same ID, or in one of them only."""

    equal: tuple[str, ...]
    changed: tuple[str, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EvalComparison:
    """What two evals, or the cells of one, differ by; `warnings` say what else differs and what is left out."""

    first: str
    second: str
    metric: str
    items: SharedItems | None
    comparisons: tuple[Comparison, ...]
    warnings: tuple[str, ...]


def side_of(evaluation: Eval, slots: Sequence[SlotEvidence], policy_changed: str | None = None) -> Side:
    """Return an eval with its rows under the policy of now, and what that was when the evidence came."""
    return Side(evaluation, tuple(slots), build_rows(slots, evaluation.policy), policy_changed)


def compare_within(side: Side, factor: str | None, metric: str | None) -> EvalComparison:
    """Return the comparisons of all cells of one eval that differ in one factor, `arm` or `model`, None for both.

    Raises UnknownName for a metric that the eval does not produce, UsageError when there is nothing to compare.
    """
    name = _metric(side, metric)
    policy = replace(side.evaluation.policy, primary_metric=name)
    found = [one for one in compare(side.rows, cells_of(side.rows), policy) if factor in (None, one.factor)]
    if not found:
        raise UsageError(
            f"{side.name}: has no two cells that differ in {factor or 'arm or model'} alone; name two evals"
        )
    return EvalComparison(side.name, side.name, name, None, adjusted(found), (*_policies((side,)), *_pending((side,))))


def compare_evals(first: Side, second: Side, metric: str | None) -> EvalComparison:
    """Return the comparisons first - second of the cells that both evals have, on items of equal content.

    Raises UnknownName for a metric that one does not produce, UsageError when tasks differ, when no item is the
    same in both, or when no cell of one belongs to a cell of the other.
    """
    _check_comparable(first, second)
    name = _metric(first, metric)
    _metric(second, name)
    items = shared_items(first, second)
    if not items.equal:
        raise UsageError(
            f"{first.name} and {second.name}: share no item of equal content "
            f"({len(items.changed)} changed, {len(items.only_first)} and {len(items.only_second)} in one only)"
        )
    equal = frozenset(items.equal)
    policies = tuple(replace(side.evaluation.policy, primary_metric=name) for side in (first, second))
    found = []
    for one, other in cell_pairs(first, second):
        rows = tuple(
            [row for row in rows_of(side.rows, cell) if row.item in equal]
            for side, cell in ((first, one), (second, other))
        )
        found.append(compare_samples((rows[0], rows[1]), (one, other), (policies[0], policies[1])))
    warnings = (*_of_items(first, second, items), *_of_protocol(first, second, equal))
    warnings = (*warnings, *_policies((first, second)), *_pending((first, second)))
    return EvalComparison(first.name, second.name, name, items, adjusted(found), warnings)


def _policies(sides: Sequence[Side]) -> Iterator[str]:
    for side in sides:
        if side.policy_changed is not None:
            yield f"{side.name}: policy changed after the evidence existed (was, now): {side.policy_changed}"


def shared_items(first: Side, second: Side) -> SharedItems:
    """Return which planned items of two evals are the same: ID, input, expectation, metadata and assets."""
    contents = [_contents(side) for side in (first, second)]
    both = sorted(contents[0].keys() & contents[1].keys())
    return SharedItems(
        equal=tuple(item for item in both if contents[0][item] == contents[1][item]),
        changed=tuple(item for item in both if contents[0][item] != contents[1][item]),
        only_first=tuple(sorted(contents[0].keys() - contents[1].keys())),
        only_second=tuple(sorted(contents[1].keys() - contents[0].keys())),
    )


def cell_pairs(first: Side, second: Side) -> tuple[tuple[Cell, Cell], ...]:
    """Return which cells belong together: same model and arm, else the same model, else the same arm.

    The last two count only where that names one cell on either side; two single cells belong together anyway.
    """
    ones, others = cells_of(first.rows), cells_of(second.rows)
    for key in _KEYS:
        pairs = _pairs(ones, others, key)
        if pairs:
            return pairs
    if len(ones) == len(others) == 1:
        return ((ones[0], others[0]),)
    raise UsageError(f"{first.name} and {second.name}: share no model and no arm, so no cell belongs to another")


def _pairs(
    ones: Sequence[Cell], others: Sequence[Cell], key: Callable[[Cell], object]
) -> tuple[tuple[Cell, Cell], ...]:
    def alone(cell: Cell, among: Sequence[Cell]) -> Cell | None:
        same = [one for one in among if key(one) == key(cell)]
        return same[0] if len(same) == 1 else None

    found = ((one, alone(one, others)) for one in ones if alone(one, ones) is not None)
    return tuple((one, other) for one, other in found if other is not None)


def _metric(side: Side, metric: str | None) -> str:
    name = metric or side.evaluation.policy.primary_metric
    known = metric_names(side.evaluation)
    if name not in known:
        raise UnknownName(f"metric of {side.name}", name, known)
    return name


def _check_comparable(first: Side, second: Side) -> None:
    if first.name == second.name:
        raise UsageError(f"{first.name}: is named twice; name another eval, or this one alone with --by arm or model")
    tasks = (first.evaluation.task, second.evaluation.task)
    if tasks[0] != tasks[1]:
        raise UsageError(f"{first.name} is of task {tasks[0]} and {second.name} of {tasks[1]}; they cannot be compared")


def _contents(side: Side) -> dict[str, str]:
    planned = side.items
    return {item.id: _content(item) for item in side.evaluation.dataset.items if item.id in planned}


def _content(item: Item) -> str:
    metadata: dict[str, Json] = dict(item.metadata or {})
    assets: list[Json] = [asset.sha256 for asset in item.assets]
    return digest({"input": item.input, "expected": item.expected, "metadata": metadata, "assets": assets})


def _of_items(first: Side, second: Side, items: SharedItems) -> Iterator[str]:
    left = [
        f"{len(items.changed)} of equal ID and other content" if items.changed else "",
        f"{len(items.only_first)} only in {first.name}" if items.only_first else "",
        f"{len(items.only_second)} only in {second.name}" if items.only_second else "",
    ]
    told = ", ".join(part for part in left if part)
    if told:
        yield f"datasets differ: {count(len(items.equal), 'item')} compared; left out are {told}"


def _of_protocol(first: Side, second: Side, equal: frozenset[str]) -> Iterator[str]:
    parts = (("policies (rubric included)", "judgement"), ("what scores the answers", "scoring"))
    for told, part in parts:
        was, now = (_identity(side, part) for side in (first, second))
        changed = [str(one) for one in differences(was, now)]
        if changed:
            yield f"{told} of the two evals differ: {'; '.join(changed)}"
    for one, other in cell_pairs(first, second):
        prompts = [_prompts(side, cell) for side, cell in ((first, one), (second, other))]
        differing = sum(prompts[0].get(item) != prompts[1].get(item) for item in equal)
        if differing:
            yield f"{one} and {other}: what was sent differs for {differing} of {count(len(equal), 'shared item')}"


def _identity(side: Side, part: str) -> Mapping[str, Json]:
    if not side.slots:
        return {}
    found: Mapping[str, Json] = getattr(side.slots[0].spec.identity, part)
    return found


def _prompts(side: Side, cell: Cell) -> Mapping[str, str]:
    specs = (slot.spec for slot in side.slots)
    return next(spec.sample_digests for spec in specs if Cell(spec.provider, spec.model, spec.arm) == cell)


def _pending(sides: Sequence[Side]) -> Iterator[str]:
    for side in sides:
        replayed = sum(slot.spec.provider == "replay" for slot in side.slots)
        if replayed:
            yield f"{side.name}: recorded answers, not live models, in {replayed} of {count(len(side.slots), 'run')}"
        pending = sum(not row.final for row in side.rows)
        if pending:
            yield f"{side.name}: {pending} of {count(len(side.rows), 'answer')} owed or asked again, left out"
