"""Who answers the items of a run: its model over the provider's client, or recorded answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from tamesu.base.errors import EvidenceError, UsageError
from tamesu.base.model.evidence import Fault
from tamesu.edge.backends.native.questions import Question
from tamesu.edge.backends.protocol import AttemptRequest
from tamesu.edge.providers.calls import Called, Caller
from tamesu.edge.providers.opening import open_caller
from tamesu.edge.providers.recordings import Cell, parse_recordings
from tamesu.edge.providers.replayed import RecordedCall, ReplayedCalls


class Voice(Protocol):
    """Answers one question."""

    async def ask(self, question: Question) -> Called:
        """Make one call; whatever goes wrong with it is in the result."""


@dataclass(frozen=True, slots=True)
class LiveVoice:
    caller: Caller

    async def ask(self, question: Question) -> Called:
        try:
            turns = question.turns()
        except EvidenceError as error:
            return Called(None, None, None, 0, Fault("ChangedPicture", str(error)))
        return await self.caller.call(question.item, turns)


@dataclass(frozen=True, slots=True)
class RecordedVoice:
    answers: ReplayedCalls
    cell: Cell

    async def ask(self, question: Question) -> Called:
        return await self.answers.call(RecordedCall(question.item, self.cell, 0))


def voice_of(request: AttemptRequest) -> Voice:
    """Return who answers an attempt. Raises UsageError when the provider has no route or its client is not here."""
    spec = request.spec
    if spec.provider == "replay":
        content = request.paths.recordings.read_bytes()
        recordings = parse_recordings(content, str(request.paths.recordings))
        answers = ReplayedCalls(recordings, request.replay_calls, request.paths.recorded_pictures)
        return RecordedVoice(answers, Cell(spec.model, spec.arm, spec.repetition))
    if request.access is None:
        raise UsageError(f"{spec.ref}: provider '{spec.provider}' has no route; see docs/routes.md")
    return LiveVoice(open_caller(spec, request.access, request.paths.wire, request.attempt, role=None))
