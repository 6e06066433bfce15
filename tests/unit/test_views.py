"""The Markdown views and the page say the same, name their evidence, and stay harmless."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from tamesu.base.model.evidence import Balance, Outcome
from tamesu.base.model.plan import FoundRun, SlotState
from tamesu.core.metrics import MetricValue
from tamesu.core.report.evaluation import evaluation_markdown
from tamesu.core.report.evidence import recorded_evidence
from tamesu.core.report.exhibits import Exhibit, picture_exhibit
from tamesu.core.report.figures import figure, metric_text, usd
from tamesu.core.report.leaderboard import leaderboard_markdown
from tamesu.core.report.page import MOST_TILES, evaluation_page, make_gallery
from tamesu.core.report.plot import PlotRow, interval_plot, make_axis
from tamesu.core.report.summary import EvalSummary, summarise
from tamesu.core.report.text import markdown, table
from tamesu.core.rows import SlotEvidence, build_rows
from tamesu.core.stats import Interval
from tests.factories import (
    EVIDENCE,
    POLICY,
    REVIEWED,
    make_eval,
    make_failure,
    make_result,
    make_slot,
    make_spec,
    make_summary,
    scored_slot,
)

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 20
HOSTILE = "<script>alert(1)</script> | `x` [a](http://evil.invalid) \n# head \u202egnp.exe"
RIGHT: dict[str, float | None] = {f"i{n}": 1.0 for n in range(8)}
WRONG: dict[str, float | None] = {**dict.fromkeys(RIGHT, 0.0), "i0": 1.0}


def pictures(found: Mapping[tuple[str, str], bytes]) -> dict[tuple[str, str], tuple[Exhibit, ...]]:
    """Return what a page shows of outputs that are one picture each."""
    shown = {key: picture_exhibit("", content) for key, content in found.items()}
    return {key: (one,) for key, one in shown.items() if one is not None}


def views(summary: EvalSummary, thumbnails: Mapping[tuple[str, str], bytes] | None = None) -> list[str]:
    return [
        leaderboard_markdown(summary),
        evaluation_markdown(summary),
        evaluation_page(summary, pictures(thumbnails or {})),
    ]


def two_arms(**options: str) -> list[SlotEvidence]:
    return [scored_slot(WRONG, arm="plain", **options), scored_slot(RIGHT, arm="rich", **options)]


def hostile_summary() -> EvalSummary:
    spec = make_spec([HOSTILE, "ok"], arm="plain", model=HOSTILE)
    slot = make_slot(spec, [make_failure(spec, HOSTILE, HOSTILE), make_result(spec, "ok")])
    return make_summary([slot], name=HOSTILE)


class Tags(HTMLParser):
    """The tags of a page and the URLs that they name."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.urls: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.urls += [value or "" for name, value in attributes if name in {"src", "href", "data", "action"}]


def test_every_view_names_its_evidence() -> None:
    shown = views(make_summary(two_arms()))
    assert [recorded_evidence(view) for view in shown] == [EVIDENCE] * 3
    assert [f"Evidence: sha256:{EVIDENCE}"] * 2 == [view.splitlines()[-1] for view in shown[:2]]


def test_foreign_text_cannot_pose_as_evidence() -> None:
    fake = f"Evidence: sha256:{'f' * 64}"
    meta = f'<meta name="tamesu-evidence" content="sha256:{"f" * 64}">'
    spec = make_spec([fake, meta])
    slot = make_slot(spec, [make_failure(spec, fake, f"x\n{fake}"), make_failure(spec, meta, meta)])
    assert [recorded_evidence(view) for view in views(make_summary([slot], name=meta))] == [EVIDENCE] * 3
    assert recorded_evidence(f"{fake}\nmore\n") is None
    assert recorded_evidence("") is None


def test_same_summary_gives_the_same_bytes_whatever_the_order_of_results() -> None:
    spec = make_spec(["a", "b"])
    results = [make_result(spec, "a"), make_failure(spec, "b")]
    slots = [make_slot(spec, results), make_slot(spec, results[::-1])]
    first, second = (views(make_summary([slot]), {(spec.run_id, "a"): PNG}) for slot in slots)
    assert first == second


def test_hostile_text_stays_text_in_markdown() -> None:
    for view in views(hostile_summary())[:2]:
        assert "<script" not in view and "\u202e" not in view
        assert not re.search(r"(?<!\\)\[a", view)
        assert [line for line in view.splitlines() if line.startswith("# head")] == []
        widths = {line.count(" | ") for line in re.findall(r"^\| .* \|$", view, re.M) if "planned" in line}
        assert widths


def test_markdown_tables_keep_their_columns() -> None:
    lines = table(("a|b", "c"), [("x\ny|z", "1")], (1,)).splitlines()
    assert lines == ["| a\\|b | c |", "| --- | ---: |", "| x y\\|z | 1 |"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("007", "007"),
        ("snake_case_id", "snake_case_id"),
        ("_a_", "\\_a\\_"),
        ("# x", "\\# x"),
        ("1. x", "1\\. x"),
        ("0.729 [0.5]", "0.729 \\[0.5\\]"),
        ("- x", "\\- x"),
        ("a\u2028b\x07c", "a b c"),
        ("a & <b>", "a &amp; &lt;b&gt;"),
        ("\ud800", "\ufffd"),
    ],
)
def test_foreign_text_in_markdown(text: str, expected: str) -> None:
    assert expected == markdown(text)


def test_the_page_loads_nothing_and_runs_nothing() -> None:
    summary = hostile_summary()
    run_id = summary.rows[0].run_id
    page = evaluation_page(summary, pictures({(run_id, HOSTILE): PNG, (run_id, "ok"): b"<svg onload=alert(1)>"}))
    tags = Tags()
    tags.feed(page)
    assert not tags.tags & {"script", "link", "iframe", "object", "a", "base"}
    assert [url.split(",")[0] for url in tags.urls] == ["data:image/png;base64"]
    assert "default-src 'none'" in page and "\u202e" not in page
    page.encode("utf-8")


def test_a_leader_is_named_when_the_paired_difference_is_clear() -> None:
    summary = make_summary(two_arms())
    assert (summary.leader.cell and summary.leader.cell.arm) == "rich"
    assert summary.leader.sentence.startswith(
        "openai/model-a · rich leads on mean_score:works: openai/model-a · rich with 1.000 against "
        "openai/model-a · plain with 0.125; +0.875 [0.267, 0.978] over 8 shared items, paired, p = 0.016."
    )
    assert [cell.cell.arm for cell in summary.cells] == ["rich", "plain"]
    assert all("leads on" in view for view in views(summary))


def leaderless(slots: list[SlotEvidence], policy: object = POLICY) -> str:
    summary = make_summary(slots, policy)  # type: ignore[arg-type]
    assert summary.leader.cell is None
    assert all("No leader is named" in view for view in views(summary))
    return summary.leader.sentence


def test_no_leader_while_a_run_is_owed() -> None:
    slots = two_arms()
    slots[0] = replace(slots[0], state=SlotState.PARTIAL)
    assert leaderless(slots) == "No leader is named: 1 of 2 runs partial."
    slots[0] = replace(slots[0], state=SlotState.OWED, results={})
    assert leaderless(slots) == "No leader is named: 1 of 2 runs owed."


def test_no_leader_while_reviews_are_owed() -> None:
    assert leaderless(two_arms(), REVIEWED) == "No leader is named: 16 reviews owed."


def test_no_leader_from_one_sample() -> None:
    slots = [scored_slot({"a": 0.0}), scored_slot({"a": 1.0}, arm="rich")]
    assert leaderless(slots) == "No leader is named: one sample cannot carry the claim."


def test_no_leader_by_chance_or_alone() -> None:
    close = [scored_slot({**RIGHT, "i1": 0.0}), scored_slot(RIGHT, arm="rich")]
    assert "may be chance" in leaderless(close)
    assert "nothing to compare it with" in leaderless([scored_slot(RIGHT)])


def test_unranked_rows_stay_in_plan_order() -> None:
    slots = two_arms()
    slots[1] = replace(slots[1], state=SlotState.PARTIAL)
    summary = make_summary(slots)
    assert [cell.cell.arm for cell in summary.cells] == ["plain", "rich"]
    assert "not ranked" in leaderboard_markdown(summary)


def test_only_cells_that_differ_in_one_factor_are_compared() -> None:
    slots = [scored_slot(RIGHT, arm=arm, model=model) for model in ("m1", "m2") for arm in ("plain", "rich")]
    labels = [entry.label for entry in make_summary(slots).comparisons]
    assert labels == [
        "rich − plain (openai/m1)",
        "openai/m2 − openai/m1 (plain)",
        "openai/m2 − openai/m1 (rich)",
        "rich − plain (openai/m2)",
    ]


def test_recorded_answers_are_labelled_in_every_view() -> None:
    banner = "Recorded answers: these figures describe replayed recordings, not live models"
    assert all(banner in view for view in views(make_summary(two_arms(provider="replay"))))
    assert all("Recorded answers" not in view for view in views(make_summary(two_arms())))
    mixed = [scored_slot(RIGHT), scored_slot(RIGHT, arm="rich", provider="replay")]
    assert f"{banner} (1 of 2 runs)" == make_summary(mixed).recorded


def test_c01_counts_stand_beside_both_figures() -> None:
    scores = {f"i{n}": 1.0 if n < 6 else 0.0 if n < 8 else None for n in range(10)}
    for view in views(make_summary([scored_slot(scores)])):
        plain = re.sub(r"<[^>]+>|\s+", " ", view).replace("\\", "")
        assert re.search(r"0\.600 +\[0\.313, 0\.832\] +\(?n ?= ?10", plain)
        assert re.search(r"0\.750 +\[0\.409, 0\.929\] +\(?n ?= ?8", plain)
        assert "| 10 | 8 | 2 | 0 |" in plain or re.search(r"10 10 items × 1 +8 +2 +0", plain)


def test_first_attempts_are_shown_when_items_were_asked_again() -> None:
    spec = make_spec(["a", "b"])
    results = [replace(make_result(spec, "a"), attempts=2), make_result(spec, "b")]
    summary = make_summary([make_slot(spec, results)])
    assert summary.cells[0].value("mean_score_first_attempt:works").value == 0.5
    assert "1 item took more than one attempt" in evaluation_markdown(summary)


def test_owed_reviews_are_no_figure() -> None:
    policy = replace(REVIEWED, secondary_metrics=("accepted_rate",))
    for view in views(make_summary([scored_slot(RIGHT)], policy)):
        assert re.search(r"not known(: |<span class=\"small\">)8 reviews owed", view)


def test_money_other_runs_policy_and_failures_are_told() -> None:
    spec = make_spec(["a", "b"])
    broken = replace(make_result(spec, "b"), outcome=Outcome("invalid_artifact", "undecodable_image"))
    found = FoundRun("old--run", "stale", ("prompt user.md.j2 changed",), 0.25, "put it back")
    summary = summarise(
        make_eval(),
        [make_slot(spec, [make_failure(spec, "a"), broken])],
        status="awaiting review",
        balance=Balance(1.25, 0.5, 0.0),
        evidence=EVIDENCE,
        found=[found],
        policy_changed="pass_at was 1.0, now 0.5",
    )
    for view in views(summary)[1:]:
        for told in (
            "Spent 1.2500 USD; at most 0.5000 USD more",
            "old--run",
            "prompt user.md.j2 changed",
            "policy changed after the evidence existed (was, now): pass_at was 1.0, now 0.5",
            "TimeoutError: connection reset",
            "invalid_artifact: undecodable_image",
            "awaiting review",
        ):
            assert told in view


def test_items_that_a_limit_stopped_are_told_at_the_top() -> None:
    """A score of 0 by a cost limit is no finding about the model."""
    spec = make_spec(["a", "b", "c"], arm="plain")
    stopped = replace(make_result(spec, "a", 0.0), limit="cost")
    summary = make_summary([make_slot(spec, [stopped, make_result(spec, "b"), make_result(spec, "c")])])
    assert len(summary.warnings) == 1
    for view in views(summary):
        assert "not of full answers: openai/model-a · plain: 1 of 3 (cost)" in view
    assert make_summary([scored_slot(RIGHT)]).warnings == ()


def test_a_required_role_that_no_item_staged_is_told() -> None:
    """What some items lack is a result; what all of them lack is a wrong name."""
    spec = make_spec(["a", "b"], arm="plain")
    lacking = [replace(make_result(spec, item), missing_artifacts=("answer", "log")) for item in ("a", "b")]
    (told,) = make_summary([make_slot(spec, [lacking[0], replace(lacking[1], missing_artifacts=("answer",))])]).warnings
    assert told == "no item staged the required artifact 'answer'; compare execution.artifacts with the task"
    assert make_summary([make_slot(spec, [lacking[0], make_result(spec, "b")])]).warnings == ()


def test_the_gallery_is_bounded_and_says_what_it_leaves_out() -> None:
    slot = scored_slot({f"i{n:03d}": 1.0 for n in range(MOST_TILES + 10)})
    thumbnails = {(slot.spec.run_id, item): PNG for item in slot.spec.items}
    page = evaluation_page(make_summary([slot]), pictures(thumbnails))
    assert page.count("<figure>") == MOST_TILES
    assert "The first 240 of 250 planned outputs; 10 are left out." in page


def test_the_gallery_groups_by_item_and_says_why_a_picture_is_missing() -> None:
    slots = [scored_slot({"a": 1.0, "b": None}, arm=arm) for arm in ("plain", "rich")]
    gallery = make_gallery(build_rows(slots, POLICY), pictures({(slots[0].spec.run_id, "a"): PNG}))
    assert gallery is not None
    shown = {
        item: [one.kind for tile in tiles for one in tile.exhibits]
        + [tile.remark for tile in tiles if not tile.exhibits]
        for item, tiles in gallery.items.items()
    }
    assert shown == {"a": ["image", "nothing to show"], "b": ["TimeoutError", "TimeoutError"]}
    assert make_gallery(build_rows(slots, POLICY), {}) is None


@pytest.mark.parametrize(
    ("low", "high", "unit", "ends"),
    [
        (0.2, 0.9, "score", (0.0, 1.0)),
        (-0.2, 0.9, "score", (-0.2, 1.0)),
        (1200.0, 5100.0, "ms", (1000.0, 6000.0)),
    ],
)
def test_axes_hold_their_intervals(low: float, high: float, unit: str, ends: tuple[float, float]) -> None:
    axis = make_axis([PlotRow("x", low, Interval(low, high), "")], unit)  # type: ignore[arg-type]
    assert pytest.approx(ends) == (axis.low, axis.high)


def test_plots_of_nothing_or_one_value_are_still_drawn() -> None:
    for value in (None, 0.0, 3.0, 1e-7):
        assert interval_plot([PlotRow("x", value, None, "")], "t", "l", "usd").endswith("</svg>")


def test_figures_are_written_alike() -> None:
    value = MetricValue("m", 0.8123, 20, Interval(0.701, 0.8934), "")
    assert metric_text(value) == "0.812 [0.701, 0.893] (n=20)"
    assert [
        figure(-0.0001, "score"),
        figure(-0.1, "score"),
        figure(1234.4, "ms"),
        figure(150.5, "tokens"),
    ] == ["0.000", "-0.100", "1234", "150.5"]
    assert [usd(0.0), usd(0.0123), usd(0.000123)] == ["0.0000", "0.0123", "0.000123"]


def test_an_evaluation_without_any_evidence_has_views_that_say_so() -> None:
    slot = make_slot(make_spec(["a", "b"]), [], SlotState.OWED)
    for view in views(make_summary([slot])):
        assert "1 of 1 run owed" in view
    assert all(recorded_evidence(view) == EVIDENCE for view in views(make_summary([])))
