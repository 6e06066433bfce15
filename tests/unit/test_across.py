"""Two evals side by side: what is paired, what is left out, and what is told about the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from tamesu.base.errors import UnknownName, UsageError
from tamesu.base.model.manifest import EvalRef, Item
from tamesu.base.model.plan import SlotState
from tamesu.core.report.across import Side, compare_evals, compare_within, shared_items, side_of
from tamesu.core.rows import SlotEvidence
from tests.factories import POLICY, make_eval, make_failure, make_slot, scored_slot

Scores = Mapping[str, float | None]
NAMES = tuple(f"i{number}" for number in range(8))
GOOD: Scores = dict.fromkeys(NAMES, 1.0)
BAD: Scores = dict.fromkeys(NAMES, 0.0)


def side(name: str, *slots: SlotEvidence, texts: Mapping[str, str] | None = None) -> Side:
    """An eval whose dataset holds the items of its runs; `texts` are inputs that differ from the item's own."""
    evaluation = make_eval()
    planned = dict.fromkeys(item for slot in slots for item in slot.spec.items)
    items = tuple(Item(item, (texts or {}).get(item, item)) for item in planned)
    evaluation = replace(
        evaluation, ref=EvalRef("case", "experiment", name), dataset=replace(evaluation.dataset, items=items)
    )
    return side_of(evaluation, slots)


def one_cell(name: str, scores: Scores, **options: str) -> Side:
    return side(name, scored_slot(scores, **options))


class TestTwoEvals:
    def test_the_same_cells_are_paired_item_by_item(self) -> None:
        found = compare_evals(one_cell("a", GOOD), one_cell("b", BAD), None)
        (entry,) = found.comparisons
        assert (found.first, found.second, found.metric) == (
            "case/experiment/a",
            "case/experiment/b",
            "mean_score:works",
        )
        assert entry.difference is not None
        assert (entry.difference.value, entry.difference.items, entry.factor) == (1.0, 8, "eval")
        assert (entry.clear, entry.adjusted_p, found.warnings) == (True, 2 * 0.5**8, ())

    def test_only_items_of_equal_content_are_paired_and_the_rest_is_told(self) -> None:
        first = side("a", scored_slot({**GOOD, "x": 0.0, "y": 0.0}), texts={"i1": "edited"})
        second = side("b", scored_slot({**BAD, "z": 1.0}))
        found = compare_evals(first, second, None)
        assert found.items == shared_items(first, second)
        assert found.items is not None
        assert (found.items.equal, found.items.changed) == (tuple(n for n in NAMES if n != "i1"), ("i1",))
        assert (found.items.only_first, found.items.only_second) == (("x", "y"), ("z",))
        assert found.comparisons[0].difference is not None
        assert (found.comparisons[0].difference.items, found.comparisons[0].difference.value) == (7, 1.0)
        assert found.warnings == (
            "datasets differ: 7 items compared; left out are 1 of equal ID and other content, "
            "2 only in case/experiment/a, 1 only in case/experiment/b",
        )

    @pytest.mark.parametrize("change", [{"expected": "x"}, {"metadata": {"level": 2}}])
    def test_an_item_differs_by_what_it_expects_and_by_its_metadata(self, change: dict[str, object]) -> None:
        first, second = one_cell("a", GOOD), one_cell("b", BAD)
        items = (replace(second.evaluation.dataset.items[0], **change), *second.evaluation.dataset.items[1:])  # type: ignore[arg-type]
        dataset = replace(second.evaluation.dataset, items=items)
        changed = replace(second, evaluation=replace(second.evaluation, dataset=dataset))
        assert shared_items(first, changed).changed == ("i0",)

    def test_without_a_common_item_nothing_is_compared(self) -> None:
        with pytest.raises(UsageError, match=r"share no item of equal content \(0 changed, 8 and 1 in one only\)"):
            compare_evals(one_cell("a", GOOD), one_cell("b", {"other": 1.0}), None)

    def test_policies_scorers_and_prompts_that_differ_are_told(self) -> None:
        first = one_cell("a", GOOD)
        slot = scored_slot(BAD)
        identity = replace(slot.spec.identity, judgement={"pass_at": 0.5}, scoring={"sources": "c" * 64})
        digests = {**slot.spec.sample_digests, "i3": "6" * 64}
        second = side("b", replace(slot, spec=replace(slot.spec, identity=identity, sample_digests=digests)))
        policies, scorers, prompts = compare_evals(first, second, None).warnings
        assert policies.startswith("policies (rubric included) of the two evals differ: ") and "pass_at" in policies
        assert scorers.startswith("what scores the answers of the two evals differ: ") and "sources" in scorers
        assert prompts == (
            "openai/model-a · plain and openai/model-a · plain: what was sent differs for 1 of 8 shared items"
        )

    def test_recorded_answers_and_what_is_asked_again_are_told(self) -> None:
        slot = scored_slot(BAD, provider="replay")
        again = {"i0": replace(make_failure(slot.spec, "i0"), retryable=True)}
        second = side("b", replace(slot, state=SlotState.PARTIAL, results={**slot.results, **again}))
        found = compare_evals(one_cell("a", GOOD, provider="replay"), second, None)
        assert found.comparisons[0].difference is not None
        assert found.comparisons[0].difference.items == 7
        assert found.warnings == (
            "case/experiment/a: recorded answers, not live models, in 1 of 1 run",
            "case/experiment/b: recorded answers, not live models, in 1 of 1 run",
            "case/experiment/b: 1 of 8 answers owed or asked again, left out",
        )

    def test_cells_belong_together_by_name_then_by_model_then_by_arm(self) -> None:
        both = side("a", scored_slot(GOOD, arm="plain"), scored_slot(BAD, arm="rich"))
        assert [e.label for e in compare_evals(both, one_cell("b", BAD, arm="rich"), None).comparisons] == [
            "openai/model-a · rich"
        ]
        other_arm = compare_evals(one_cell("a", GOOD), one_cell("b", BAD, arm="rich"), None)
        assert [e.label for e in other_arm.comparisons] == ["plain − rich (openai/model-a)"]
        other_model = compare_evals(one_cell("a", GOOD), one_cell("b", BAD, model="m2"), None)
        assert [e.label for e in other_model.comparisons] == ["openai/model-a − openai/m2 (plain)"]
        nothing_alike = compare_evals(one_cell("a", GOOD), one_cell("b", BAD, model="m2", arm="rich"), None)
        assert [e.factor for e in nothing_alike.comparisons] == ["both"]

    def test_cells_that_belong_to_none_are_refused(self) -> None:
        first = side("a", scored_slot(GOOD, arm="p"), scored_slot(GOOD, arm="q"))
        second = side("b", scored_slot(BAD, arm="r", model="m2"), scored_slot(BAD, arm="s", model="m2"))
        with pytest.raises(UsageError, match="share no model and no arm"):
            compare_evals(first, second, None)

    def test_another_task_or_the_same_eval_is_refused(self) -> None:
        first, second = one_cell("a", GOOD), one_cell("b", BAD)
        other = replace(second, evaluation=replace(second.evaluation, task="image_generation"))
        with pytest.raises(UsageError, match=r"of task artifact_bundle and .* of image_generation"):
            compare_evals(first, other, None)
        with pytest.raises(UsageError, match="is named twice"):
            compare_evals(first, first, None)

    def test_a_metric_that_one_does_not_produce_is_refused(self) -> None:
        first, second = one_cell("a", GOOD), one_cell("b", BAD)
        policy = replace(POLICY, mechanical=(), primary_metric="completion_rate")
        bare = replace(second, evaluation=replace(second.evaluation, policy=policy))
        with pytest.raises(UnknownName, match="no metric of case/experiment/b named 'mean_score:works'"):
            compare_evals(first, bare, None)
        assert compare_evals(first, bare, "completion_rate").metric == "completion_rate"


class TestOneEval:
    def test_one_factor_makes_its_own_family(self) -> None:
        slots = [
            scored_slot(GOOD if arm == "rich" else BAD, arm=arm, model=m)
            for m in ("m1", "m2")
            for arm in ("plain", "rich")
        ]
        found = compare_within(side("a", *slots), "arm", None)
        assert [(e.label, e.family) for e in found.comparisons] == [
            ("rich − plain (openai/m1)", 2),
            ("rich − plain (openai/m2)", 2),
        ]
        assert [e.adjusted_p for e in found.comparisons] == [2 * 2 * 0.5**8] * 2
        assert len(compare_within(side("a", *slots), None, None).comparisons) == 4

    def test_another_metric_may_be_asked_for(self) -> None:
        slots = [scored_slot(GOOD), make_slot(scored_slot(BAD, arm="rich").spec, [], SlotState.OWED)]
        found = compare_within(side("a", *slots), "arm", "completion_rate")
        assert found.metric == "completion_rate"
        assert found.comparisons[0].lacking == "no item was seen by both"
        assert found.warnings == ("case/experiment/a: 8 of 16 answers owed or asked again, left out",)
        with pytest.raises(UnknownName, match="did you mean completion_rate"):
            compare_within(side("a", *slots), "arm", "completion_rat")

    def test_one_cell_has_nothing_to_compare(self) -> None:
        with pytest.raises(UsageError, match="has no two cells that differ in model alone"):
            compare_within(side("a", scored_slot(GOOD), scored_slot(BAD, arm="rich")), "model", None)
