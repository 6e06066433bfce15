"""Whatever comes back: findings and nothing else, or exactly the records that the answers say."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tamesu.base.model.judgement import Answer, ReviewRecord
from tamesu.base.model.manifest import Dimension, Rubric
from tamesu.base.model.review import GivenReview, KeyEntry, PackKey, Place, ShownFile, Submission
from tamesu.core.review.check import Extent, ItemNow, check_submission

RUBRIC = Rubric("r.yml", "r", (Dimension("a", "?", ("bad", "worse")), Dimension("b", "?")), "1" * 64)
SEEN = {"render": "2" * 64}
FILES = (ShownFile("render", "2" * 64, "3" * 64),)
KEY = PackKey(
    "ada-001-abcdef", "c/e/v", "review", "ada", "t", "7", "1" * 64, 1,
    {f"e-{n}": KeyEntry("run", f"item-{n}", FILES) for n in range(3)},
)  # fmt: skip
TIME, PLACE = "2026-01-01T00:00:00.000000Z", Place(1, 1)

reasons = st.sampled_from(["none", "bad", "worse", "nope"])
answers = st.builds(Answer, st.booleans(), reasons, st.none() | st.text(min_size=1, max_size=3))
reviews = st.builds(
    GivenReview,
    st.sampled_from(["e-0", "e-1", "e-2", "e-9"]),
    st.dictionaries(st.sampled_from(["a", "b", "c"]), answers),
    st.none() | st.just("note"),
    st.just(PLACE),
)
valid = st.fixed_dictionaries(
    {
        "a": st.sampled_from([Answer(True), Answer(False, "bad"), Answer(False, "worse", "n")]),
        "b": st.sampled_from([Answer(True), Answer(False)]),
    }
)
whole = st.fixed_dictionaries(dict.fromkeys(KEY.entries, valid)).map(
    lambda answered: Submission(
        "r.yml", KEY.pack, tuple(GivenReview(name, one, None, PLACE) for name, one in answered.items()), PLACE
    )
)
anyhow = st.lists(reviews, min_size=1, max_size=4).map(
    lambda given_: Submission("r.yml", KEY.pack, tuple(given_), PLACE)
)
items_now = st.fixed_dictionaries(
    {
        name: st.sampled_from(
            [ItemNow(SEEN, None, ()), ItemNow({"render": "9" * 64}, None, ()), ItemNow(None, "gone", ())]
        )
        | st.just(ItemNow(SEEN, None, ()))
        for name in KEY.entries
    }
)


def is_answer(dimension: Dimension, answer: Answer | None) -> bool:
    """The rule in the words of the contract."""
    if answer is None:
        return False
    if answer.passed or not dimension.reason_codes:
        return answer.reason == "none"
    return answer.reason in dimension.reason_codes


def is_valid(submission: Submission, items: dict[str, ItemNow], extent: Extent) -> bool:
    names = [given_.entry for given_ in submission.reviews]
    dimensions = {one.id: one for one in RUBRIC.dimensions}
    return (
        len(set(names)) == len(names)
        and set(names) <= set(KEY.entries)
        and (extent is Extent.PARTIAL or set(names) == set(KEY.entries))
        and all(items[name].seen == SEEN for name in names)
        and all(
            set(given_.answers) == set(dimensions)
            and all(is_answer(dimensions[name], answer) for name, answer in given_.answers.items())
            for given_ in submission.reviews
        )
    )


@settings(max_examples=600, deadline=None)
@given(whole | anyhow, items_now, st.sampled_from(Extent))
def test_a_file_is_taken_whole_or_not_at_all(submission: Submission, items: dict[str, ItemNow], extent: Extent) -> None:
    checked = check_submission(submission, KEY, RUBRIC, items, TIME, extent)
    assert bool(checked.findings) is not is_valid(submission, items, extent)
    if checked.findings:
        assert checked.records == ()
        return
    assert {(one.item, one.note): dict(one.answers) for one in checked.records} == {
        (KEY.entries[given_.entry].item, given_.note): dict(given_.answers) for given_ in submission.reviews
    }
    assert all(
        (one.seen, one.rubric, one.reviewer, one.time) == (SEEN, KEY.rubric, "ada", TIME) for one in checked.records
    )


@settings(deadline=None)
@given(st.lists(st.fixed_dictionaries(dict.fromkeys(KEY.entries, valid)), min_size=1, max_size=4))
def test_imports_one_after_the_other_leave_the_last_word(rounds: list[dict[str, dict[str, Answer]]]) -> None:
    """Each import writes only what it changes; an old file never becomes the latest by itself."""
    reviews_: dict[str, tuple[ReviewRecord, ...]] = dict.fromkeys(KEY.entries, ())
    for number, answered in enumerate(rounds):
        items = {name: ItemNow(SEEN, None, found) for name, found in reviews_.items()}
        given_ = tuple(GivenReview(name, one, None, PLACE) for name, one in answered.items())
        time = f"2026-01-01T00:00:0{number}.000000Z"
        checked = check_submission(Submission("r.yml", KEY.pack, given_, PLACE), KEY, RUBRIC, items, time, Extent.WHOLE)
        again = {name: [dict(one.answers) for one in found] for name, found in reviews_.items()}
        old = [name for name, one in answered.items() if one in again[name][:-1] and one != again[name][-1]]
        assert {finding.rule for finding in checked.findings} == ({"responses/replaced"} if old else set())
        for record in checked.records:
            name = next(name for name, entry in KEY.entries.items() if entry.item == record.item)
            assert not again[name] or again[name][-1] != dict(record.answers)
            reviews_[name] = (*reviews_[name], record)
        if not old:
            assert {name: dict(found[-1].answers) for name, found in reviews_.items()} == answered
            assert checked.already == len(answered) - len(checked.records)


def test_another_reviewer_s_answers_are_not_those_of_this_pack() -> None:
    record = ReviewRecord(
        "bo", TIME, KEY.pack, "run", "item-0", SEEN, KEY.rubric, {"a": Answer(True), "b": Answer(True)}
    )
    items = {name: ItemNow(SEEN, None, (record, replace(record, pack="other", reviewer="ada"))) for name in KEY.entries}
    given_ = tuple(GivenReview(name, dict(record.answers), None, PLACE) for name in KEY.entries)
    checked = check_submission(Submission("r", KEY.pack, given_, PLACE), KEY, RUBRIC, items, TIME, Extent.WHOLE)
    assert (len(checked.records), checked.already) == (3, 0)
