"""The store: atomic and exclusive writes, append-only lines, digests, records, locks."""

from __future__ import annotations

import errno
import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tamesu.base.canonical import digest_bytes
from tamesu.base.errors import EvidenceError, RunHeld, StorageFull
from tamesu.base.model.evidence import ItemResult, ScoreRecord
from tamesu.base.model.plan import Price, PriceTier
from tamesu.core.aftermath import describe
from tamesu.edge.store import digests
from tamesu.edge.store.digests import DigestCache, file_digest
from tamesu.edge.store.files import append_line, whole_lines, write_atomic, write_durable, write_exclusive
from tamesu.edge.store.journal import log_event, read_events
from tamesu.edge.store.locks import Presence, held, holder
from tamesu.edge.store.records import dump_record, parse_record, read_record
from tests.factories import make_result, make_spec

SEPARATORS = "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\x1dh\x1ei\rj\nk\tl\x00m\x7fn\ufeffo\ufffep\U0001f600"


def fail(number: int) -> Callable[..., Any]:
    def failing(*_: object, **__: object) -> Any:
        raise OSError(number, os.strerror(number))

    return failing


class TestWriting:
    @pytest.mark.parametrize("write", [write_atomic, write_exclusive])
    def test_a_new_file_is_complete_readable_and_alone(self, tmp_path: Path, write: Callable[..., None]) -> None:
        path = tmp_path / "deep" / "er" / "file"
        write(path, b"content")
        assert path.read_bytes() == b"content"
        assert path.stat().st_mode & 0o777 == 0o644
        assert list(path.parent.iterdir()) == [path]

    def test_atomic_replaces(self, tmp_path: Path) -> None:
        path = tmp_path / "file"
        write_atomic(path, b"old")
        write_atomic(path, b"new")
        assert path.read_bytes() == b"new"

    def test_exclusive_refuses_what_is_there(self, tmp_path: Path) -> None:
        path = tmp_path / "file"
        write_exclusive(path, b"old")
        with pytest.raises(FileExistsError):
            write_exclusive(path, b"new")
        assert path.read_bytes() == b"old"
        assert list(tmp_path.iterdir()) == [path]

    def test_exclusive_refuses_a_dangling_link(self, tmp_path: Path) -> None:
        path = tmp_path / "file"
        path.symlink_to(tmp_path / "elsewhere")
        with pytest.raises(FileExistsError):
            write_exclusive(path, b"new")
        assert not (tmp_path / "elsewhere").exists()

    @pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
    @pytest.mark.parametrize("call", ["fsync", "replace"])
    def test_a_full_disk_leaves_the_old_content(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, call: str
    ) -> None:
        path = tmp_path / "file"
        write_atomic(path, b"old")
        monkeypatch.setattr(os, call, fail(number))
        with pytest.raises(StorageFull, match=r"file: the disk is full"):
            write_atomic(path, b"new")
        monkeypatch.undo()
        assert path.read_bytes() == b"old"
        assert list(tmp_path.iterdir()) == [path]

    def test_a_full_disk_makes_no_exclusive_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "fsync", fail(errno.ENOSPC))
        with pytest.raises(StorageFull):
            write_exclusive(tmp_path / "file", b"new")
        assert list(tmp_path.iterdir()) == []

    def test_other_errors_pass_through(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "fsync", fail(errno.EIO))
        with pytest.raises(OSError, match="Input/output") as caught:
            write_atomic(tmp_path / "file", b"new")
        assert caught.value.errno == errno.EIO


class TestAppending:
    def test_lines_are_appended_in_order(self, tmp_path: Path) -> None:
        path = tmp_path / "deep" / "lines"
        for number in range(3):
            append_line(path, f"{number}".encode())
        assert path.read_bytes() == b"0\n1\n2\n"

    def test_a_torn_line_is_ended_and_never_joined(self, tmp_path: Path) -> None:
        path = tmp_path / "lines"
        path.write_bytes(b'{"a": 1}\n{"b": ')
        append_line(path, b'{"c": 3}')
        assert path.read_bytes() == b'{"a": 1}\n{"b": \n{"c": 3}\n'

    def test_a_torn_last_line_is_no_line(self) -> None:
        assert whole_lines(b"") == []
        assert whole_lines(b"torn") == []
        assert whole_lines(b"a\n\n b \ntorn") == [b"a", b" b "]
        assert whole_lines("x\u2028y\x85z\n".encode()) == ["x\u2028y\x85z".encode()]

    @pytest.mark.parametrize("call", ["write", "fsync"])
    def test_a_full_disk_takes_the_line_back(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
        path = tmp_path / "lines"
        append_line(path, b"first")
        monkeypatch.setattr(os, call, fail(errno.ENOSPC))
        with pytest.raises(StorageFull, match="lines: the disk is full"):
            append_line(path, b"second")
        monkeypatch.undo()
        assert path.read_bytes() == b"first\n"
        append_line(path, b"third")
        assert path.read_bytes() == b"first\nthird\n"

    def test_a_short_write_is_a_full_disk(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "lines"
        append_line(path, b"first")
        write = os.write
        monkeypatch.setattr(os, "write", lambda handle, content: write(handle, content[:3]))
        with pytest.raises(StorageFull):
            append_line(path, b"second")
        monkeypatch.undo()
        assert path.read_bytes() == b"first\n"

    def test_a_durable_file_on_a_full_disk_is_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "folder" / "file"
        write_durable(path, b"whole")
        assert path.read_bytes() == b"whole"

        def full(_handle: int) -> None:
            raise OSError(errno.ENOSPC, "no space left")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(StorageFull, match="file: the disk is full"):
            write_durable(path, b"more")

    def test_processes_that_append_at_once_lose_nothing(self, tmp_path: Path) -> None:
        path = tmp_path / "lines"
        code = (
            "import sys; from pathlib import Path; from tamesu.edge.store.files import append_line\n"
            "for n in range(40): append_line(Path(sys.argv[1]), (sys.argv[2] + str(n)).encode() * 20)"
        )
        started = [subprocess.Popen([sys.executable, "-c", code, str(path), name]) for name in "ab"]
        assert [process.wait() for process in started] == [0, 0]
        lines = whole_lines(path.read_bytes())
        assert sorted(lines) == sorted(f"{name}{n}".encode() * 20 for name in "ab" for n in range(40))

    def test_an_event_is_one_line_whatever_it_says(self, tmp_path: Path) -> None:
        path = tmp_path / "calls.jsonl"
        log_event(path, "framework_error", "t", {"message": SEPARATORS})
        log_event(path, "run_finished", "t", {"state": "failed"})
        assert path.read_bytes().count(b"\n") == 2
        assert read_events(path)[0] == {"event": "framework_error", "time": "t", "message": SEPARATORS}
        assert len(read_events(path)) == 2

    def test_a_torn_event_tells_nothing_and_hides_no_other(self, tmp_path: Path) -> None:
        path = tmp_path / "calls.jsonl"
        path.write_bytes(b'{"event": "run_started", "usage": {"input": 1}')
        log_event(path, "run_finished", "t", {"state": "failed"})
        assert [event["event"] for event in read_events(path)] == ["run_finished"]

    def test_no_call_log_has_no_events(self, tmp_path: Path) -> None:
        assert list(read_events(tmp_path / "calls.jsonl")) == []


class TestDigests:
    def test_of_a_file(self, tmp_path: Path) -> None:
        path = tmp_path / "file"
        path.write_bytes(b"x" * (1 << 20) + b"y")
        assert file_digest(path) == digest_bytes(path.read_bytes())

    @pytest.mark.parametrize("make", ["link", "pipe", "folder"])
    def test_only_regular_files(self, tmp_path: Path, make: str) -> None:
        path = tmp_path / "thing"
        (tmp_path / "file").write_bytes(b"x")
        if make == "link":
            path.symlink_to(tmp_path / "file")
        elif make == "pipe":
            os.mkfifo(path)
        else:
            path.mkdir()
        with pytest.raises(OSError):
            file_digest(path)

    @pytest.fixture
    def file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A file whose times lie well before the cache looks at it."""
        monkeypatch.setattr(digests, "_GRAIN_NS", -(10**18))
        path = tmp_path / "file"
        path.write_bytes(b"old")
        return path

    def test_a_second_look_reads_nothing(self, tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        cache = DigestCache(tmp_path / "cache")
        assert cache.digest(file) == digest_bytes(b"old")
        cache.save()
        monkeypatch.setattr(digests, "file_digest", fail(errno.EIO))
        assert cache.digest(file) == digest_bytes(b"old")
        assert DigestCache(tmp_path / "cache").digest(file) == digest_bytes(b"old")

    def test_a_change_of_the_same_size_and_mtime_is_noticed(self, tmp_path: Path, file: Path) -> None:
        cache = DigestCache(tmp_path / "cache")
        cache.digest(file)
        times = file.stat()
        ctime = times.st_ctime_ns
        while file.stat().st_ctime_ns == ctime:  # until the clock of the file system has moved on
            file.write_bytes(b"new")
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
        assert file.stat().st_mtime_ns == times.st_mtime_ns
        assert cache.digest(file) == digest_bytes(b"new")

    def test_a_file_put_in_place_with_the_same_times_is_noticed(self, tmp_path: Path, file: Path) -> None:
        cache = DigestCache(tmp_path / "cache")
        cache.digest(file)
        times = file.stat()
        other = tmp_path / "other"
        other.write_bytes(b"new")
        os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))
        other.replace(file)
        assert cache.digest(file) == digest_bytes(b"new")

    def test_a_file_changed_a_moment_ago_is_not_remembered(self, tmp_path: Path) -> None:
        file = tmp_path / "file"
        file.write_bytes(b"old")
        cache = DigestCache(tmp_path / "cache")
        cache.digest(file)
        cache.save()
        assert not (tmp_path / "cache").exists()

    @pytest.mark.parametrize("content", [b"", b"junk", b"\x81\xa1a\x92\x94\x01\x02\x03"])
    def test_a_damaged_cache_is_an_empty_one(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "cache").write_bytes(content)
        (tmp_path / "file").write_bytes(b"old")
        assert DigestCache(tmp_path / "cache").digest(tmp_path / "file") == digest_bytes(b"old")

    def test_a_cache_that_cannot_be_written_is_no_failure(
        self, tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        cache = DigestCache(tmp_path / "cache")
        cache.digest(file)
        monkeypatch.setattr(digests, "write_atomic", fail(errno.EACCES))
        cache.save()
        assert not (tmp_path / "cache").exists()

    def test_a_full_disk_is_no_failure_of_the_cache(
        self, tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        cache = DigestCache(tmp_path / "cache")
        cache.digest(file)
        monkeypatch.setattr(os, "fsync", fail(errno.ENOSPC))
        cache.save()
        assert not (tmp_path / "cache").exists()


class Loose(msgspec.Struct):
    """A record of anything."""

    value: Any
    text: str


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**63), st.floats(allow_nan=False), TEXTS)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=12)


class TestRecords:
    @settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=200)
    @given(VALUES, TEXTS)
    def test_what_is_written_is_read_back(self, value: Any, text: str) -> None:
        content = dump_record(Loose(value, text))
        read = parse_record(content, Loose, "x")
        assert (read.value, read.text) == (value, text)
        assert dump_record(read) == content

    @pytest.mark.parametrize(
        "text", [SEPARATORS, *SEPARATORS, "no", "1e3", "2026-05-01", "~", "0x10", "1_0", "=", "<<"]
    )
    def test_texts_that_yaml_likes_to_change(self, text: str) -> None:
        assert parse_record(dump_record(Loose({text: [text]}, text)), Loose, "x") == Loose({text: [text]}, text)

    @pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
    def test_numbers_that_are_none(self, number: float) -> None:
        read = parse_record(dump_record(Loose(number, "")), Loose, "x").value
        assert read == number or (math.isnan(read) and math.isnan(number))

    def test_numbers_keep_their_kind(self) -> None:
        numbers = [1, 1.0, -0.0, 0.1, 1e-7, 1e22, 5e-324, 1.7976931348623157e308, 123456789012345678]
        read = parse_record(dump_record(Loose(numbers, "")), Loose, "x").value
        assert [(type(one), repr(one)) for one in read] == [(type(one), repr(one)) for one in numbers]

    def test_lone_surrogates_become_the_replacement_character(self) -> None:
        read = parse_record(dump_record(Loose({"a\ud800": ["\udfff"]}, "x\ud834y")), Loose, "x")
        assert (read.value, read.text) == ({"a\ufffd": ["\ufffd"]}, "x\ufffdy")

    def test_an_item_result_comes_back(self, tmp_path: Path) -> None:
        raw = {"works": ScoreRecord(None, False, math.inf, SEPARATORS, "said", {"k": [SEPARATORS, None]})}
        made = replace(make_result(make_spec(["x"]), "x"), scores=raw)
        path = tmp_path / "result.yml"
        write_atomic(path, dump_record(made))
        assert read_record(path, ItemResult) == made
        assert dump_record(read_record(path, ItemResult)) == path.read_bytes()

    def test_a_price_of_an_older_record_still_reads(self) -> None:
        content = b"input: 2.0\noutput: 8.0\ncache_read: 2.0\ncache_write: 2.0\nfree: false\n"
        assert parse_record(content, Price, "x") == Price(2.0, 8.0, 2.0, 2.0)

    def test_a_price_with_tiers_comes_back(self) -> None:
        price = Price(2.0, 8.0, 0.2, 2.0, tiers=(PriceTier(1000, 4.0, 12.0, 0.4, 4.0),), source="said so")
        assert parse_record(dump_record(price), Price, "x") == price

    @pytest.mark.parametrize(
        "content",
        [b"", b"[]", b"text: 1\nvalue: 1\n", b"text: [", b"\xff", b"text: a\n", b"text: !!python/none x\nvalue: 1\n"],
    )
    def test_what_is_no_record_is_named(self, content: bytes) -> None:
        with pytest.raises(EvidenceError, match=r"runs/x/run\.yml: does not hold what it must: .*restore it") as caught:
            parse_record(content, Loose, "runs/x/run.yml")
        assert "\n" not in str(caught.value)


HOLD = """
import sys
from pathlib import Path
from tamesu.edge.store.locks import held
with held(Path(sys.argv[1]), "the run", 0):
    print("held", flush=True)
    sys.stdin.read()
"""


class TestLocks:
    @pytest.fixture
    def keeper(self, tmp_path: Path) -> Any:
        """Another process that holds the lock."""
        command = [sys.executable, "-c", HOLD, str(tmp_path / "locks" / "run.lock")]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()
        process.wait()

    def test_who_holds_it_is_named(self, tmp_path: Path, keeper: subprocess.Popen[str]) -> None:
        path = tmp_path / "locks" / "run.lock"
        found = holder(path)
        assert found is not None
        assert found.pid == keeper.pid
        assert found.since.endswith("+00:00")
        assert describe(found) == f"process {keeper.pid} on {found.host} since {found.since}"
        with pytest.raises(RunHeld, match=f"the run is held by process {keeper.pid} on "), held(path, "the run", 0):
            raise AssertionError("both hold it")

    @pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
    def test_it_dies_with_its_process(self, tmp_path: Path, keeper: subprocess.Popen[str], end: signal.Signals) -> None:
        path = tmp_path / "locks" / "run.lock"
        keeper.send_signal(end)
        keeper.wait()
        assert holder(path) is None
        with held(path, "the run", 0):
            found = json.loads(path.read_bytes())
            assert found["pid"] == os.getpid()
        assert holder(path) is None

    def test_waiting_ends_when_the_holder_does(self, tmp_path: Path, keeper: subprocess.Popen[str]) -> None:
        path = tmp_path / "locks" / "run.lock"
        assert keeper.stdin is not None
        keeper.stdin.close()
        with held(path, "the run", 60):
            assert json.loads(path.read_bytes())["pid"] == os.getpid()

    def test_nobody_holds_what_is_not_there(self, tmp_path: Path) -> None:
        assert holder(tmp_path / "none.lock") is None
        assert not (tmp_path / "none.lock").exists()

    def test_asking_who_holds_it_does_not_take_it(self, tmp_path: Path) -> None:
        path = tmp_path / "run.lock"
        path.touch()
        assert holder(path) is None
        with held(path, "the run", 0):
            assert holder(path) is not None

    @pytest.mark.parametrize("content", [b"", b"junk", b"[]", b"{}", b'{"pid": "x"}'])
    def test_a_holder_that_wrote_nothing_readable_still_holds(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "run.lock"
        with held(path, "the run", 0):
            path.write_bytes(content)
            found = holder(path)
        assert found is not None
        assert (found.pid, found.host) == (0, "unknown")

    def test_presence_tells_whether_another_invocation_is_alive(self, tmp_path: Path) -> None:
        first, second = Presence(tmp_path / "p.lock"), Presence(tmp_path / "p.lock")
        assert first.alone()
        assert not second.alone()
        first.close()
        assert second.alone()
        second.close()
