"""Begin and end of an attempt, told as a line and as an event."""

from __future__ import annotations

from tamesu.base.model.evidence import AttemptRecord
from tamesu.base.model.plan import RunSpec
from tamesu.base.model.progress import AttemptBegun, AttemptClosed, EndpointAwaited


def run_label(model: str, arm: str, repetition: int) -> str:
    """Return what a line calls a run."""
    return f"{model} x {arm} rep {repetition}"


def attempt_begun(spec: RunSpec, attempt: int, asked: int, time: str) -> AttemptBegun:
    """Return the event that an attempt begins."""
    return AttemptBegun(
        time=time,
        eval=str(spec.ref),
        run_id=spec.run_id,
        attempt=attempt,
        provider=spec.provider,
        model=spec.model,
        arm=spec.arm,
        repetition=spec.repetition,
        asked=asked,
        paid=spec.paid,
        recorded=spec.provider == "replay",
    )


def attempt_closed(spec: RunSpec, record: AttemptRecord) -> AttemptClosed:
    """Return the event that an attempt has its record."""
    return AttemptClosed(
        time=record.ended,
        run_id=spec.run_id,
        attempt=record.attempt,
        state=record.state,
        finished=len(record.finished),
        failed=record.failed,
        cost_usd=None if spec.unpriced else record.spent_usd,
        line=closing_line(spec, record),
    )


def endpoint_awaited(spec: RunSpec, seconds: float, time: str) -> EndpointAwaited:
    """Return the event that a run waits, for so many seconds at most, until its endpoint is ready."""
    label, endpoint = run_label(spec.model, spec.arm, spec.repetition), spec.base_url_origin or spec.provider
    advice = "start it or correct the base URL, Ctrl-C ends this"
    line = f"{label}: waiting up to {seconds:.0f} s for {endpoint}, which is not ready or idle; {advice}"
    return EndpointAwaited(time, spec.run_id, line)


def beginning_line(begun: AttemptBegun) -> str:
    """Return that an attempt begins, in one line."""
    label = run_label(begun.model, begun.arm, begun.repetition)
    items = "1 item" if begun.asked == 1 else f"{begun.asked} items"
    return f"{label}: attempt {begun.attempt} asks {items}"


def closing_line(spec: RunSpec, attempt: AttemptRecord) -> str:
    """Return how an attempt ended, in one line."""
    label = run_label(spec.model, spec.arm, spec.repetition)
    good = len(attempt.finished) - attempt.failed
    parts = [f"{label}: attempt {attempt.attempt} {attempt.state}, {good}/{len(attempt.asked)} items good"]
    if attempt.failed:
        parts.append(f"{attempt.failed} failed")
    if spec.unpriced:
        parts.append("cost not known")
    elif spec.paid:
        parts.append(f"{attempt.spent_usd:.4f} USD")
    if spec.paid and attempt.lost_usd > 0:
        parts.append(f"up to {attempt.lost_usd:.4f} USD more for calls whose usage is unknown")
    reserved = spec.exposure_usd(len(attempt.asked))
    if attempt.spent_usd > reserved + 1e-9:
        parts.append(f"more than the {reserved:.4f} USD that were reserved (a later call was larger than the first)")
    elif attempt.spent_usd + attempt.lost_usd > reserved + 1e-9:
        parts.append(f"together more than the {reserved:.4f} USD that were reserved (calls were retried unanswered)")
    recorded = " (recorded)" if spec.provider == "replay" else ""
    why = f": {attempt.error or attempt.failure}" if attempt.error or attempt.failure else ""
    return f"{', '.join(parts)}{recorded}{why}"
