"""Progress of runs at work: how events add up, what of them is shown, and that a broken file harms nobody."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from tamesu.base.model.progress import (
    AttemptBegun,
    AttemptClosed,
    CallsEnded,
    EndpointAwaited,
    ItemEnded,
    ProgressEvent,
)
from tamesu.cli.live import drawn
from tamesu.core.attempt_lines import beginning_line
from tamesu.core.progress import Progress, Told, Totals, advanced, cost_text, lines_due, shown, totals
from tamesu.edge.store.progress import ProgressReader, open_progress, tell_progress

TIME = "2026-01-01T00:00:00.000+00:00"


def begun(run: str = "a", asked: int = 10, *, attempt: int = 1, paid: bool = True, **fields: object) -> AttemptBegun:
    made = {"provider": "openai", "model": "model-a", "arm": "plain", "repetition": 1, "recorded": False} | fields
    return AttemptBegun(TIME, "case/experiment/eval", run, attempt, asked=asked, paid=paid, **made)  # type: ignore[arg-type]


def ended(run: str = "a", item: str = "x", *, failed: bool = False, cost: float | None = 0.5) -> ItemEnded:
    return ItemEnded(TIME, run, 1, item, failed, cost)


def closed(run: str = "a", finished: int = 10, failed: int = 0, state: str = "finished") -> AttemptClosed:
    return AttemptClosed(TIME, run, 1, state, finished, failed, 0.75, f"{run} is closed")  # type: ignore[arg-type]


def after(*events: ProgressEvent) -> Progress:
    return advanced(Progress(), events)


class TestFold:
    def test_items_and_calls_add_up(self) -> None:
        progress = after(begun(), CallsEnded(TIME, "a", 1, 0.1), ended(cost=0.3), ended(failed=True, cost=0.4))
        (run,) = progress.runs.values()
        assert (run.done, run.failed, run.cost_usd, run.state) == (2, 1, 0.4, "at work")

    def test_an_unknown_cost_leaves_what_was_known(self) -> None:
        (run,) = after(begun(), ended(cost=0.3), ended(cost=None)).runs.values()
        assert run.cost_usd == 0.3

    def test_the_closed_attempt_has_the_last_word(self) -> None:
        (run,) = after(begun(), ended(), closed(finished=3, failed=1, state="interrupted"), ended()).runs.values()
        assert (run.done, run.failed, run.cost_usd, run.state) == (3, 1, 0.75, "interrupted")

    def test_events_of_an_attempt_that_never_began_do_not_count(self) -> None:
        assert after(ended("b"), closed("b")).runs == {}

    def test_a_wait_for_an_endpoint_is_no_progress(self) -> None:
        waiting = EndpointAwaited(TIME, "a", "waiting")
        assert after(waiting, begun(), waiting, ended()) == after(begun(), ended())

    def test_two_attempts_of_a_run_are_two(self) -> None:
        progress = after(begun(), closed(), begun(attempt=2, asked=1))
        assert [run.state for run in progress.runs.values()] == ["finished", "at work"]

    def test_folding_in_pieces_is_folding_at_once(self) -> None:
        events = [begun(), ended(), ended(failed=True), begun("b", paid=False), ended("b", cost=None), closed()]
        whole = advanced(Progress(), events)
        for cut in range(len(events)):
            assert advanced(advanced(Progress(), events[:cut]), events[cut:]) == whole

    def test_totals(self) -> None:
        progress = after(begun(), ended(), begun("b", 4, recorded=True), ended("b", failed=True, cost=0.25), closed())
        assert totals(progress) == Totals(closed=1, done=11, asked=14, failed=1, cost_usd=1.0, recorded=True)

    def test_what_is_free_has_no_cost(self) -> None:
        progress = after(begun(paid=False), ended(cost=None), closed())
        assert totals(progress).cost_usd is None
        assert [cost_text(run) for run in progress.runs.values()] == ["free"]

    @pytest.mark.parametrize(
        ("paid", "recorded", "cost", "text"),
        [
            (True, False, None, ""),
            (True, False, 0.12344, "0.1234"),
            (True, True, 0.0, "0.0000"),
            (False, True, None, "recorded"),
            (False, False, None, "free"),
        ],
    )
    def test_cost_is_an_amount_or_says_why_there_is_none(
        self, paid: bool, recorded: bool, cost: float | None, text: str
    ) -> None:
        (run,) = after(begun(paid=paid, recorded=recorded), ended(cost=cost)).runs.values()
        assert cost_text(run) == text


class TestShown:
    def test_work_comes_before_failures_and_these_before_the_rest(self) -> None:
        names = "abcdef"
        progress = after(
            *(begun(name) for name in names), closed("a"), closed("b", failed=1), closed("c"), closed("d"), closed("e")
        )
        kept = [shown(progress, most) for most in (1, 2, 3, 6)]
        assert ["".join(run.begun.run_id for run in one.runs) for one in kept] == ["f", "bf", "bef", names]
        assert [one.more for one in kept] == [5, 4, 3, 0]

    @pytest.mark.parametrize(("width", "height"), [(80, 24), (100, 50), (80, 10)])
    def test_the_picture_fits_the_terminal(self, width: int, height: int) -> None:
        names = [f"r{number}" for number in range(40)]
        wide = {"model": "a-model-with-a-name-of-more-than-forty-letters", "arm": "an-arm-whose-name-is-long"}
        progress = after(*(begun(name, 10000, **wide) for name in names), *(closed(name, 9999, 12) for name in names))
        console = Console(width=width, height=height, record=True, file=StringIO())
        console.print(drawn(progress, 64, 3725, width, height))
        lines = console.export_text().splitlines()
        assert max(map(len, lines)) <= width
        assert len(lines) <= height - 1
        assert lines[-1] == " 40/64 runs, 399960/400000 items, 480 failed, 30.0000 USD, 1:02:05"
        assert lines[-2] == f" + {40 - sum('finished' in line for line in lines)} more"
        assert sum("9999/10000      12    0.7500  finished" in line for line in lines) == min(15, height - 8)


class TestLines:
    def test_a_tenth_is_told_after_ten_seconds_and_anything_after_thirty(self) -> None:
        progress = after(begun(asked=100), ended(cost=0.1))
        lines, told = lines_due(progress, {}, 0.0)
        assert (lines, told) == ((), {("a", 1): Told(0.0, 1, 0.1)})
        assert lines_due(progress, told, 1000.0)[0] == ()
        progress = advanced(progress, [ended() for _ in range(9)])
        assert lines_due(progress, told, 29.9)[0] == ()
        assert lines_due(progress, told, 30.0)[0] == ("model-a x plain rep 1: 10/100 items ended, 0.5000 USD so far",)
        progress = advanced(progress, [ended(failed=True, cost=0.7)])
        assert lines_due(progress, told, 9.9)[0] == ()
        lines, told = lines_due(progress, told, 10.0)
        assert lines == ("model-a x plain rep 1: 11/100 items ended, 1 failed, 0.7000 USD so far",)
        assert lines_due(progress, told, 1000.0)[0] == ()

    def test_time_runs_from_the_first_news_on(self) -> None:
        lines, told = lines_due(after(begun()), {}, 0.0)
        assert (lines, told) == ((), {})
        assert lines_due(after(begun(), ended()), told, 60.0) == ((), {("a", 1): Told(60.0, 1, 0.5)})

    @pytest.mark.parametrize("last", [ended(), closed()], ids=["all ended", "closed"])
    def test_the_end_is_told_by_the_attempts_own_process(self, last: ProgressEvent) -> None:
        progress = after(begun(asked=2), ended(), last)
        assert lines_due(progress, {("a", 1): Told(0.0, 0, None)}, 100.0)[0] == ()

    def test_recorded_answers_are_called_so(self) -> None:
        progress = after(begun(asked=2, paid=False, recorded=True), ended(cost=None))
        assert lines_due(progress, {("a", 1): Told(0.0, 0, None)}, 10.0)[0] == (
            "model-a x plain rep 1: 1/2 items ended (recorded)",
        )

    def test_the_beginning(self) -> None:
        assert beginning_line(begun(asked=1)) == "model-a x plain rep 1: attempt 1 asks 1 item"
        assert beginning_line(begun(asked=2, attempt=3)) == "model-a x plain rep 1: attempt 3 asks 2 items"


class TestFile:
    EVENTS = (begun(), CallsEnded(TIME, "a", 1, None), ended(item="ünï"), closed())

    def test_every_event_comes_back_once(self, tmp_path: Path) -> None:
        path = tmp_path / "progress" / "one.jsonl"
        open_progress(path)
        reader = ProgressReader(path)
        tell_progress(path, self.EVENTS[0])
        assert reader.new() == self.EVENTS[:1]
        for event in self.EVENTS[1:]:
            tell_progress(path, event)
        assert (reader.new(), reader.new()) == (self.EVENTS[1:], ())

    def test_a_line_counts_when_it_is_whole_and_readable(self, tmp_path: Path) -> None:
        path = tmp_path / "one.jsonl"
        line = msgspec.json.encode(ended()) + b"\n"
        path.write_bytes(b'{"event":"item_ended"\n\xff\n{"event":"later_version"}\n[]\n' + line + line[:20])
        reader = ProgressReader(path)
        assert reader.new() == (ended(),)
        with path.open("ab") as stream:
            stream.write(line[20:])
        assert reader.new() == (ended(),)

    def test_nobody_looks_nothing_is_written(self, tmp_path: Path) -> None:
        tell_progress(None, begun())
        tell_progress(tmp_path / "one.jsonl", begun())
        assert list(tmp_path.iterdir()) == []
        assert ProgressReader(tmp_path / "one.jsonl").new() == ()

    def test_a_full_disk_and_a_wrong_path_are_silent(self, tmp_path: Path) -> None:
        tell_progress(Path("/dev/full"), begun())
        tell_progress(tmp_path, begun())
        (tmp_path / "file").touch()
        open_progress(tmp_path / "file" / "one.jsonl")
        assert ProgressReader(tmp_path / "file" / "one.jsonl").new() == ()

    def test_files_of_long_ago_are_forgotten(self, tmp_path: Path) -> None:
        for number in range(60):
            open_progress(tmp_path / f"{number}.jsonl")
        assert len(list(tmp_path.iterdir())) == 50
        assert (tmp_path / "59.jsonl").exists()
