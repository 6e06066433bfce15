"""What an eval's judges owe, from the outputs that are there and what was said of them. Reads only."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tamesu.base.errors import UnknownName
from tamesu.base.model.evidence import Artifact, ItemResult
from tamesu.base.model.judgement import NOTHING_JUDGED, ItemJudged
from tamesu.base.model.judging import JudgePlan, JudgeStanding
from tamesu.base.model.manifest import Item, ModelJudge
from tamesu.base.model.plan import Message, RoleRun, RunSpec, is_paid
from tamesu.core.judging.blockers import judge_blockers
from tamesu.core.judging.models import judge_call_usd, judge_models
from tamesu.core.judging.owed import Owed, owed_of
from tamesu.core.judging.prompts import render_judge
from tamesu.core.judging.reply import verdict_instruction
from tamesu.core.ledger import balance
from tamesu.core.media import kind_of
from tamesu.core.rows import SlotEvidence, build_rows
from tamesu.core.votes import judge_digest, reviewed_artifacts, seen_of
from tamesu.edge.store.digests import DigestCache
from tamesu.edge.store.journal import read_ledger
from tamesu.edge.store.paths import Project
from tamesu.stages.plan import Planned, credentials_lacking
from tamesu.stages.summary import slot_evidence

_INTRODUCTION_BYTES = 400  # around each reviewed artifact


@dataclass(frozen=True, slots=True)
class Choice:
    """What of all that is owed is meant: one judge or all (None), so many calls at most, failures once more, free."""

    judge: str | None = None
    limit: int | None = None
    again: bool = False
    free_only: bool = False


@dataclass(frozen=True, slots=True)
class Ask:
    """One call that is due; `messages` are what the judge is told beside the output, `made` how many calls came before.

    `bound_usd` is the most that one try of it may cost, in US dollars.
    """

    place: int
    judge: ModelJudge
    judge_digest: str
    run: RunSpec
    item: str
    seen: Mapping[str, str]
    artifacts: tuple[Artifact, ...]
    messages: tuple[Message, Message]
    made: int
    bound_usd: float


@dataclass(frozen=True, slots=True)
class JudgeWork:
    """Where the judges of an eval stand, what is to be asked, and of whom."""

    plan: JudgePlan
    asks: tuple[Ask, ...]
    models: Mapping[str, RoleRun]


def plan_judges(project: Project, planned: Planned, cache: DigestCache, choice: Choice = Choice()) -> JudgeWork:
    """Return what the judges of an eval owe. Raises UnknownName for a judge that it does not declare."""
    evaluation = planned.evaluation
    judges = _chosen(evaluation.policy.judges, choice.judge)
    models = judge_models(evaluation, planned.setting)
    if choice.free_only:
        judges = tuple(judge for judge in judges if not is_paid(models[judge.id].price))
    ledger = balance(read_ledger(project.eval(evaluation.ref).judge_ledger))
    # nothing of the runs is read where no judge is declared
    slots = [slot_evidence(project, planned, slot, cache) for slot in planned.plan.slots] if judges else []
    found = [_Judge.of(planned, judge, models[judge.id], slots, choice) for judge in judges]
    asks = _numbered(found, choice.limit)
    standings = tuple(_limited(one.standing, asks) for one in found)
    providers = {ask.judge.provider for ask in asks}
    plan = JudgePlan(
        judges=standings,
        spent_usd=ledger.spent_usd + ledger.lost_usd,
        reserved_usd=ledger.reserved_usd,
        budget_usd=evaluation.defaults.judge_budget_usd,
        blockers=judge_blockers(
            evaluation,
            standings,
            models,
            credentials_lacking(project, providers, planned.setting),
            ledger,
            _recorded_usd(slots),
        ),
    )
    return JudgeWork(plan, asks, models)


def _chosen(judges: Sequence[ModelJudge], name: str | None) -> tuple[ModelJudge, ...]:
    if name is None:
        return tuple(judges)
    found = tuple(judge for judge in judges if judge.id == name)
    if not found:
        raise UnknownName("judge", name, [judge.id for judge in judges])
    return found


def _numbered(found: Sequence[_Judge], limit: int | None) -> tuple[Ask, ...]:
    asks = [ask for one in found for ask in one.asks][:limit]
    return tuple(replace(ask, place=place) for place, ask in enumerate(asks))


def _limited(standing: JudgeStanding, asks: Sequence[Ask]) -> JudgeStanding:
    """Return a standing of which only what is asked for now counts as askable."""
    return replace(standing, askable=sum(ask.judge.id == standing.judge for ask in asks))


@dataclass(frozen=True, slots=True)
class _Output:
    """One output that can be judged, what was said of it, and the item that it is of."""

    run: RunSpec
    item: Item
    result: ItemResult
    judged: ItemJudged


def _outputs(planned: Planned, slots: Sequence[SlotEvidence]) -> Iterator[_Output]:
    items = {item.id: item for item in planned.evaluation.dataset.items}
    for slot in slots:
        for row in build_rows([slot], planned.evaluation.policy):
            if row.judges:
                judged = slot.judged.get(row.item, NOTHING_JUDGED)
                yield _Output(slot.spec, items[row.item], slot.results[row.item], judged)


@dataclass(frozen=True, slots=True)
class _Judge:
    """A judge over all outputs."""

    standing: JudgeStanding
    asks: tuple[Ask, ...]

    @classmethod
    def of(
        cls, planned: Planned, judge: ModelJudge, model: RoleRun, slots: Sequence[SlotEvidence], choice: Choice
    ) -> _Judge:
        known = judge_digest(judge)
        told = _Told(judge)
        asks: list[Ask] = []
        owed: list[Owed] = []
        most = planned.evaluation.defaults.max_attempts
        bounds: list[float | None] = []
        for output in _outputs(planned, slots):
            seen = seen_of(output.result)
            one = owed_of(judge, known, output.judged, seen, most, choice.again)
            owed.append(one)
            if not one.askable:
                continue
            artifacts, messages = reviewed_artifacts(output.result), told.about(output.item)
            bound = _bound(model, judge, artifacts, messages)
            bounds.append(bound)
            asks += [
                Ask(0, judge, known, output.run, output.item.id, seen, artifacts, messages, one.made + n, bound or 0.0)
                for n in range(one.askable)
            ]
        return cls(_standing(judge, model, owed, bounds), tuple(asks))


def _standing(judge: ModelJudge, model: RoleRun, owed: Sequence[Owed], bounds: Sequence[float | None]) -> JudgeStanding:
    unbounded = None in bounds
    return JudgeStanding(
        judge=judge.id,
        role=judge.role,
        provider=judge.provider,
        model=judge.model,
        paid=is_paid(model.price),
        recorded=judge.provider == "replay",
        planned=len(owed) * judge.repetitions,
        counted=sum(len(one.verdict.counted) for one in owed),
        owed=sum(one.verdict.owed for one in owed),
        askable=sum(one.askable for one in owed),
        stale=sum(one.verdict.stale for one in owed),
        largest_call_usd=None if unbounded else max((bound for bound in bounds if bound is not None), default=0.0),
    )


class _Told:
    """What a judge is told of items, rendered once each."""

    def __init__(self, judge: ModelJudge) -> None:
        self._judge = judge
        self._known: dict[str, tuple[Message, Message]] = {}

    def about(self, item: Item) -> tuple[Message, Message]:
        rubric = self._judge.rubric
        assert rubric is not None, "lint refuses a judge without a rubric"
        if item.id not in self._known:
            self._known[item.id] = render_judge(self._judge, rubric, item)
        return self._known[item.id]


def _bound(
    model: RoleRun, judge: ModelJudge, artifacts: Sequence[Artifact], messages: Sequence[Message]
) -> float | None:
    rubric = judge.rubric
    assert rubric is not None, "lint refuses a judge without a rubric"
    texts = [message.content for message in messages] + [verdict_instruction(rubric.dimensions)]
    images = sum(kind_of(artifact.media_type) == "image" for artifact in artifacts)
    sizes = [artifact.size for artifact in artifacts if kind_of(artifact.media_type) == "text"]
    size = sum(len(text.encode()) for text in texts) + sum(sizes) + _INTRODUCTION_BYTES * len(artifacts)
    return judge_call_usd(model, size, images)


def _recorded_usd(slots: Sequence[SlotEvidence]) -> float:
    """Return what the records of the planned runs say that their calls cost."""
    judged = [one for slot in slots for one in slot.judged.values()]
    calls = [record.call for one in judged for record in one.judgments]
    calls += [record.call for one in judged for record in one.failures]
    return math.fsum((call.cost_usd or 0.0) + call.lost_usd for call in calls)
