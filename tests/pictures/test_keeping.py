"""A picture is on the disk before the journal says so; a death in between leaves a call in flight."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tamesu.base.errors import StorageFull
from tamesu.base.model.evidence import Fault
from tamesu.base.model.plan import RunSpec
from tamesu.edge.backends.native import desk as desks
from tamesu.edge.backends.native.desk import ItemDesk
from tamesu.edge.backends.native.journal import Ended, Line, Opened, read_journal, write_line
from tamesu.edge.backends.native.questions import Question, questions
from tamesu.edge.backends.native.voices import LiveVoice
from tamesu.edge.backends.protocol import AttemptRequest
from tamesu.edge.documents.eval_reader import read_eval
from tamesu.edge.providers.calls import Called, ReplyPicture, Turn
from tamesu.edge.store.paths import Project
from tamesu.stages.attempts import make_request
from tamesu.stages.freeze import freeze_run
from tests.pictures.drawn import drawn
from tests.pictures.project import DATASET, pictures


@dataclass
class Drawing:
    """A model that answers every call with one picture."""

    asked: int = 0

    async def call(self, name: str, turns: tuple[Turn, ...]) -> Called:
        self.asked += 1
        return Called("", "stop", None, 5, pictures=(ReplyPicture(drawn(), "image/png"),))


def attempt(folder: Path) -> tuple[AttemptRequest, RunSpec]:
    """Return an attempt at the first run of the project, frozen and opened, with one asset."""
    made = pictures(folder / "p")
    made.path(DATASET / "photo.png").write_bytes(drawn(size=(7, 7)))
    made.edit(DATASET / "dataset.yml", "name: products\n", "name: products\nshared_assets: [photo.png]\n")
    project = Project(made.root)
    read = read_eval(project, project.refs()[0])
    assert read.matrix is not None
    spec = read.matrix.runs[0]
    freeze_run(project, spec, read.matrix.datasets[spec.arm])
    request = make_request(project, spec, 1, spec.items)
    dataset = request.paths.dataset.read_bytes()
    request.paths.attempt_dataset(1).write_bytes(dataset)
    write_line(request.paths.journal(1), Opened(spec.run_id, 1, 1, dict(spec.identity.generation), recorded=False))
    return request, spec


def keep(request: AttemptRequest, question: Question, caller: Drawing) -> None:
    desk = ItemDesk(request, LiveVoice(caller))  # type: ignore[arg-type]
    desk.begin(question)
    desk.ended(question, asyncio.run(desk.ask(question)))


def struck(at_the_end: Callable[[], None]) -> Callable[[Path, Line], None]:
    def write(path: Path, line: Line) -> None:
        if isinstance(line, Ended):
            at_the_end()
        write_line(path, line)

    return write


def test_the_bytes_are_here_before_the_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    request, _ = attempt(tmp_path)
    question = questions(request)[0]
    staged = request.paths.staging(1) / question.item
    seen: list[bytes] = []
    monkeypatch.setattr(desks, "write_line", struck(lambda: seen.append((staged / "blobs/0001").read_bytes())))
    keep(request, question, Drawing())
    assert seen == [drawn()]
    ended = read_journal(request.paths.journal(1)).ended
    assert (list(ended), ended["mug"].answered, len(ended["mug"].outputs)) == (["mug"], True, 1)
    assert max(len(line) for line in request.paths.journal(1).read_bytes().splitlines()[1:]) < 1000


def test_a_death_before_the_line_leaves_the_item_in_flight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    request, _ = attempt(tmp_path)

    def full() -> None:
        raise StorageFull("the disk is full")

    monkeypatch.setattr(desks, "write_line", struck(full))
    with pytest.raises(StorageFull):
        keep(request, questions(request)[0], Drawing())
    journal = read_journal(request.paths.journal(1))
    assert (dict(journal.ended), journal.in_flight, journal.status) == ({}, ("mug",), "started")


def test_what_is_sent_is_what_was_frozen_whatever_is_edited_meanwhile(tmp_path: Path) -> None:
    request, spec = attempt(tmp_path)
    photo = tmp_path / "p" / DATASET / "photo.png"
    photo.write_bytes(drawn(plain=True))
    question = questions(request)[0]
    (turn,) = question.turns()
    assert [getattr(part, "content", None) for part in turn.parts] == [None, drawn(size=(7, 7))]
    frozen = request.paths.sent_pictures / spec.pictures[0].sha256
    frozen.write_bytes(drawn(plain=True))
    caller = Drawing()
    called = asyncio.run(LiveVoice(caller).ask(question))  # type: ignore[arg-type]
    assert called.fault is not None
    assert called == replace(called, text=None, fault=Fault("ChangedPicture", called.fault.message))
    assert called.fault.message.endswith("is not the picture that this run froze; put it back")
    assert caller.asked == 0
