"""Asking the items of one attempt: what is begun, asked, kept and told, one call each."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime

from tamesu.base.canonical import digest_bytes
from tamesu.base.model.evidence import SampleEvidence
from tamesu.base.model.progress import ItemEnded
from tamesu.core.pricing import known_sample_cost, sample_cost
from tamesu.core.verdict import item_verdict
from tamesu.edge.backends.native.journal import Begun, Ended, begin_line, write_line
from tamesu.edge.backends.native.questions import Question
from tamesu.edge.backends.native.reading import sample_evidence
from tamesu.edge.backends.native.voices import Voice
from tamesu.edge.backends.outputs import Output, answered, outputs_of, stage_outputs
from tamesu.edge.backends.protocol import AttemptRequest
from tamesu.edge.providers.calls import Called
from tamesu.edge.store.progress import tell_progress


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one question, and when it was asked (UTC seconds)."""

    called: Called
    outputs: tuple[Output, ...]
    started: float
    ended: float


class ItemDesk:
    """Begins, asks and keeps the items of an attempt; nothing of an item is lost once its line is written."""

    def __init__(self, request: AttemptRequest, voice: Voice) -> None:
        self._request = request
        self._voice = voice
        self._journal = request.paths.journal(request.attempt)
        self._costs: list[float] = []

    def begin(self, question: Question) -> None:
        begin_line(self._journal, Begun(question.item, question.digest, time.time(), question.messages_digest))

    async def ask(self, question: Question) -> Answer:
        started = time.time()
        called = answered(self._request.spec.task, await self._voice.ask(question))
        return Answer(called, outputs_of(self._request.spec.task, called), started, time.time())

    def ended(self, question: Question, result: Answer) -> None:
        """Stage the outputs, then write the line that makes them count."""
        called = result.called
        if called.fault is None:
            stage_outputs(self._request.paths.staging(self._request.attempt), question.item, result.outputs)
        ended = Ended(
            item=question.item,
            time=result.ended,
            started=result.started,
            answered=any(output.says_anything for output in result.outputs),
            no_content=called.no_content,
            stop_reason=called.stop_reason,
            usage=called.usage,
            usage_problem=called.usage_problem,
            error=called.fault,
            limit=self._limit(called),
            outputs=tuple(digest_bytes(output.content) for output in result.outputs),
            served=called.served,
            request_id=called.request_id,
            refused=called.refused and called.fault is None,
        )
        write_line(self._journal, ended)
        self._tell(sample_evidence(ended))

    def cut(self, question: Question) -> None:
        """A call that was in flight has no line of its end, which is how its attempt is closed."""

    def _limit(self, called: Called) -> str | None:
        """Return the limit that a reply went beyond, as Inspect names it: it is known only when the reply is here."""
        spec, limits = self._request.spec, self._request.spec.limits
        if called.usage is None:
            return None
        if limits.token_limit is not None and called.usage.total > limits.token_limit:
            return "token"
        sample = SampleEvidence("", (), None, called.usage, None, True, None, called.latency_ms)
        cost = sample_cost(spec.price, sample, spec.concurrency)
        return "cost" if limits.cost_limit is not None and cost is not None and cost > limits.cost_limit else None

    def _tell(self, sample: SampleEvidence) -> None:
        spec, progress = self._request.spec, self._request.progress
        if progress is None:
            return
        self._costs.append(known_sample_cost(spec, sample, spec.concurrency))
        cost = round(sum(self._costs), 9) if spec.paid and not spec.unpriced else None
        failed = item_verdict(spec, sample).state == "failed"
        moment = datetime.now(UTC).isoformat(timespec="milliseconds")
        tell_progress(progress, ItemEnded(moment, spec.run_id, self._request.attempt, sample.item, failed, cost))
