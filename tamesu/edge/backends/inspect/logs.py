"""Reading a log back, in bounded pieces, through Inspect's own readers."""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from inspect_ai._util.constants import NO_CONTENT as INSPECT_NO_CONTENT
from inspect_ai.event import ApprovalEvent, ModelEvent
from inspect_ai.log import (
    EvalSample,
    EvalSampleSummary,
    read_eval_log,
    read_eval_log_sample_summaries,
    read_eval_log_samples_by_id,
)
from inspect_ai.model import ChatMessageAssistant, ContentImage, ModelConfig, ModelOutput
from inspect_ai.scorer import CORRECT, INCORRECT, NOANSWER, PARTIAL, Score, value_to_float

from tamesu.base.errors import FrameworkFault, ImpossibleUsage
from tamesu.base.model.evidence import Fault, ModelShare, SampleEvidence, SampleScore, Usage
from tamesu.base.model.wire import NO_CONTENT, REFUSED, ModelCalls
from tamesu.core.pricing import samples_at_once
from tamesu.core.usage import total_usage
from tamesu.edge.backends.inspect.log_bounds import (
    MOST_SAMPLE_BYTES,
    check_header,
    in_pieces,
    is_too_large,
    sample_member,
    sample_sizes,
)
from tamesu.edge.backends.protocol import LogReading
from tamesu.edge.providers.causes import FUTURE, without_addresses
from tamesu.edge.providers.reply_content import UNSTATED_TOOL, lacks_tool_tokens
from tamesu.edge.providers.usage import model_usage

_WORDS = frozenset({"yes", "no", "true", "false"})
_LETTERS = frozenset({CORRECT, INCORRECT, PARTIAL, NOANSWER})
_CANCELLED = "RuntimeError('model call cancelled')"
_to_float = value_to_float()


def read_log(path: Path) -> LogReading:
    """Return the evidence in a log, of which only some samples are in memory at a time.

    Every entry of the log is returned, repeated ones too; the caller decides what they mean. A sample that is too
    large to be read has failed, and keeps no other from being read.
    Raises FrameworkFault for a file that is no readable log.
    """
    calls: list[tuple[float, float]] = []
    runs: list[tuple[float, float]] = []
    try:
        check_header(path)
        sizes = sample_sizes(path)
        header = read_eval_log(str(path), header_only=True)
        summaries = read_eval_log_sample_summaries(str(path))
        keys = [(summary.id, summary.epoch) for summary in summaries]
        unique = list(dict.fromkeys(keys))
        counts = _CallCounts(header.eval.model, _role_models(header.eval.model_roles or {}))
        held = [key for key in unique if not is_too_large(sizes.get(sample_member(*key), 0))]
        read = {
            (sample.id, sample.epoch): _evidence(sample, calls, runs, counts) for sample in _samples(path, held, sizes)
        }
        for summary in summaries:
            if (summary.id, summary.epoch) not in held:
                read[summary.id, summary.epoch] = _too_large(summary)
    except Exception as error:
        line = " ".join(str(error).split())[:200]
        raise FrameworkFault(f"{path}: the log cannot be read ({type(error).__name__}: {line})") from None
    samples = tuple(read[key] for key in keys if key in read)
    worked_ms = sum(sample.latency_ms or 0 for sample in samples)
    made = ModelCalls(dict(counts.answered), dict(counts.others), {k: dict(v) for k, v in counts.roles.items()})
    return LogReading(header.status, samples, _most_at_once(calls), samples_at_once(runs, worked_ms), made)


def sample_evidence(sample: EvalSample) -> SampleEvidence:
    """Return the evidence of one sample that ended."""
    return _evidence(sample, [], [], _CallCounts("", {}))


def _role_models(stated: Mapping[str, ModelConfig | list[ModelConfig]]) -> dict[str, str]:
    return {role: model.model for role, model in stated.items() if isinstance(model, ModelConfig)}


class _CallCounts:
    """Answered model calls by item, of the run's model and of each role's, and all of other models."""

    def __init__(self, model: str, roles: Mapping[str, str]) -> None:
        self._model = model
        self._roles = roles
        self.answered: Counter[str] = Counter()
        self.others: Counter[str] = Counter()
        self.roles: dict[str, Counter[str]] = {role: Counter() for role in roles}

    def add(self, item: str, events: Iterable[ModelEvent]) -> None:
        for event in events:
            # a role that nobody declared falls back to the run's model
            declared = event.role if event.role in self._roles else None
            if event.model != (self._model if declared is None else self._roles[declared]):
                self.others[event.model] += 1
            elif not event.pending and event.error is None and not _is_refusal(event.output):
                (self.answered if declared is None else self.roles[declared])[item] += 1


def _samples(path: Path, keys: list[tuple[str | int, int]], sizes: Mapping[str, int]) -> Iterator[EvalSample]:
    for piece in in_pieces(keys, [sizes.get(sample_member(*key), 0) for key in keys]):
        yield from read_eval_log_samples_by_id(str(path), piece)


def _too_large(summary: EvalSampleSummary) -> SampleEvidence:
    """What a summary tells of a sample that is not read itself."""
    usage = [model_usage(name, used) for name, used in summary.model_usage.items()]
    return SampleEvidence(
        item=str(summary.id),
        scores=(),
        error=Fault("SampleTooLarge", f"the log holds more than {MOST_SAMPLE_BYTES:,} bytes of it, too much to read"),
        usage=total_usage(usage) if usage else None,
        stop_reason=None,
        answered=False,
        limit=None,
        latency_ms=None if summary.working_time is None else round(summary.working_time * 1000),
        calls_without_usage=int(not usage),
        shares={name: ModelShare(model_usage(name, used), 0) for name, used in sorted(summary.model_usage.items())},
    )


def _evidence(
    sample: EvalSample, calls: list[tuple[float, float]], runs: list[tuple[float, float]], counts: _CallCounts
) -> SampleEvidence:
    events = [event for event in sample.events if isinstance(event, ModelEvent)]
    calls.extend(_spans(events))
    counts.add(str(sample.id), events)
    runs.extend(_span(sample))
    choices = sample.output.choices if sample.output else []
    interrupted = sample.error is not None and _was_cancelled(sample)
    in_flight = interrupted and sample.completed_at is None
    usage, usage_problem = _usage(sample)
    return SampleEvidence(
        item=str(sample.id),
        scores=tuple(_scores(sample.scores or {})),
        error=_never_answered(sample, events) if sample.error is None else _sample_fault(sample.error.message, events),
        usage=usage,
        stop_reason=str(choices[0].stop_reason) if choices else None,
        answered=bool(choices and _says_anything(choices[0].message)),
        limit=None if sample.limit is None else sample.limit.type,
        latency_ms=None if sample.working_time is None else round(sample.working_time * 1000),
        interrupted=interrupted and not in_flight,
        in_flight=in_flight,
        calls_without_usage=sum(_states_no_usage(event) for event in events),
        usage_problem=usage_problem,
        no_content=bool(sample.output and (sample.output.metadata or {}).get(NO_CONTENT)),
        shares={} if usage_problem is not None else _shares(sample, events),
        rejected_calls=sum(_was_rejected(event) for event in sample.events),
    )


def _says_anything(message: ChatMessageAssistant) -> bool:
    """Return whether a reply holds words, pictures or calls of tools."""
    pictures = not isinstance(message.content, str) and any(isinstance(one, ContentImage) for one in message.content)
    words = message.text.strip() not in {"", INSPECT_NO_CONTENT}
    return words or bool(message.tool_calls) or pictures


def _shares(sample: EvalSample, events: list[ModelEvent]) -> dict[str, ModelShare]:
    """Return what each model had of a sample, those among them that stated no usage at all."""
    silent = Counter(event.model for event in events if _states_no_usage(event))
    stated = {name: model_usage(name, usage) for name, usage in sample.model_usage.items()}
    return {name: ModelShare(stated.get(name), silent[name]) for name in sorted({*stated, *silent})}


def _was_rejected(event: object) -> bool:
    """Approvers that pass a call on are no decision; one of the policy ends every call that nobody decided."""
    return isinstance(event, ApprovalEvent) and event.decision in {"reject", "terminate"}


def _was_cancelled(sample: EvalSample) -> bool:
    return sample.error is not None and sample.error.message.startswith("CancelledError(")


def _states_no_usage(event: ModelEvent) -> bool:
    """A reply arrived and says nothing about tokens; what failed is told by its error."""
    if event.pending or event.error is not None or not event.output.choices or _tells_cost_otherwise(event.output):
        return False
    usage = event.output.usage
    return usage is None or (usage.total_tokens == 0 and usage.input_tokens == 0 and usage.output_tokens == 0)


def _tells_cost_otherwise(output: ModelOutput) -> bool:
    """Return whether a reply costs nothing, or says itself that its tokens are not known."""
    return _is_refusal(output) or lacks_tool_tokens(output)


def _sample_fault(message: str, events: list[ModelEvent]) -> Fault:
    """Return why a sample failed; of exhausted retries the last call tells it, which the error itself does not."""
    exhausted = FUTURE.fullmatch(message.strip())
    return _fault(message) if exhausted is None else Fault(exhausted[1], _told_of_calls(events))


def _never_answered(sample: EvalSample, events: list[ModelEvent]) -> Fault | None:
    """A limit that ended a sample while its endpoint only refused says nothing about the model."""
    refused = [event for event in events if event.error is not None and event.error != _CANCELLED]
    if sample.limit is None or not refused or any(event.error is None and not event.pending for event in events):
        return None
    return Fault("NoAnswer", f"{sample.limit.type} limit, {_told_of_calls(refused)}")


def _told_of_calls(events: list[ModelEvent]) -> str:
    errors = [event.error for event in events if event.error is not None]
    # what says only that the tries were used up stands behind the call that it is about
    told = [error for error in errors if FUTURE.search(error) is None] or errors
    last = _fault(told[-1]) if told else Fault("", "")
    plain = last.message if last.type != "AttemptTimeoutError" else "no answer within timeout_seconds"
    return f"{len(errors)} call{'s' * (len(errors) != 1)} failed, the last with: {plain}"


def _fault(message: str) -> Fault:
    """Inspect records errors as their repr: `ValueError('...')` is told as a class and its text."""
    head, _, rest = message.partition("(")
    name = head.rpartition(".")[2]
    if not name.isidentifier() or len(name) > 80:
        return Fault("SampleError", _one_line(message))
    try:
        text = ast.literal_eval(rest[:-1]) if rest.endswith(")") else message
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        text = message
    return Fault(name, _one_line(text if isinstance(text, str) else message))


def _one_line(text: str) -> str:
    return without_addresses(" ".join(text.split()))[:500]


def _spans(events: Iterable[ModelEvent]) -> Iterator[tuple[float, float]]:
    """Timestamps include queueing; the call itself is the working time before its completion."""
    for event in events:
        if event.completed is not None and event.working_time is not None:
            end = event.completed.timestamp()
            yield end - event.working_time, end


def _most_at_once(spans: list[tuple[float, float]]) -> int | None:
    if not spans:
        return None
    edges = sorted([(end, -1) for _, end in spans] + [(start, 1) for start, _ in spans])
    most = running = 0
    for _, step in edges:
        running += step
        most = max(most, running)
    return most


def _span(sample: EvalSample) -> Iterator[tuple[float, float]]:
    if sample.started_at is not None and sample.completed_at is not None:
        yield _instant(sample.started_at), _instant(sample.completed_at)


def _instant(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def _usage(sample: EvalSample) -> tuple[Usage | None, str | None]:
    """Tokens over all models the sample called, None when no reply stated any; or why they cannot be known."""
    if any(lacks_tool_tokens(event.output) for event in sample.events if isinstance(event, ModelEvent)):
        return None, UNSTATED_TOOL
    try:
        stated = [model_usage(name, usage) for name, usage in sample.model_usage.items()]
    except ImpossibleUsage as error:
        return None, str(error)
    if not stated and _was_refused(sample):
        return Usage(0, 0, 0, 0, 0, 0), None
    return (total_usage(stated) if stated else None), None


def _was_refused(sample: EvalSample) -> bool:
    """Return whether the only answer is an error of the provider's, which is not billed."""
    calls = [event for event in sample.events if isinstance(event, ModelEvent)]
    return _is_refusal(sample.output) and all(one.error is not None or _is_refusal(one.output) for one in calls)


def _is_refusal(output: ModelOutput) -> bool:
    return (output.metadata or {}).get(REFUSED) is True


def _scores(scores: dict[str, Score]) -> Iterator[SampleScore]:
    for name, score in scores.items():
        if isinstance(score.value, dict):
            for key, value in score.value.items():
                yield _score(f"{name}.{key}", value, score)
        else:
            yield _score(name, score.value, score)


def _score(name: str, value: Any, score: Score) -> SampleScore:
    return SampleScore(
        name=name,
        raw=list(value) if isinstance(value, (list, tuple)) else value,
        number=score_number(value),
        answer=score.answer,
        explanation=score.explanation,
        metadata=score.metadata,
    )


def score_number(value: object) -> float | None:
    """Return a score as Inspect's value_to_float does, but None for what that maps to 0.0 with a warning."""
    if isinstance(value, str):
        known = value in _LETTERS or value.lower() in _WORDS or _is_number(value)
        return _to_float(value) if known else None
    if isinstance(value, (bool, int, float)):
        number = float(value)
        return number if math.isfinite(number) else None
    return None


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
