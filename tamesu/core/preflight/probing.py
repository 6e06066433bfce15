"""What a tiny request says: it was answered, it carried the declared fields, and its sampling is alive."""

from __future__ import annotations

from collections.abc import Sequence

from tamesu.base.canonical import Json
from tamesu.base.model.endpoint import Check, ProbeFinding
from tamesu.base.model.plan import RunSpec
from tamesu.core.preflight.lines import failed, passed, unknown

FEWEST_PROBES = 3  # identical outputs of two say little


def probe_check(finding: ProbeFinding, timeout_seconds: int) -> Check:
    """Return whether the request was answered, in how many seconds and for how much."""
    if not finding.answered:
        fix = f"correct what the reply names; it waited up to {timeout_seconds} s"
        return failed("probe", finding.error or "no answer", fix)
    cost = "cost unknown" if finding.cost_usd is None else f"{finding.cost_usd:.6f} USD"
    tokens = "no usage told" if finding.usage is None else f"{finding.usage.input} + {finding.usage.output} tokens"
    data: dict[str, Json] = {"seconds": finding.seconds, "cost_usd": finding.cost_usd}
    figure = f"answered in {finding.seconds:.1f} s, {tokens}, {cost}"
    if finding.usage is None:
        return unknown("probe", figure, "without usage a cost limit cannot act; every reply would be a fault", data)
    return passed("probe", figure, data)


def sampling_check(spec: RunSpec, finding: ProbeFinding) -> Check:
    """Return whether the request carried what was declared, as read from the request itself."""
    if not finding.answered and not finding.problems:
        return unknown("sampling", "no request was answered")
    if finding.problems:
        more = f" (and {len(finding.problems) - 1} more)" if len(finding.problems) > 1 else ""
        return failed(
            "sampling",
            f"{finding.problems[0]}{more}",
            "take the field out, spell it as the provider does, or put it into extra_body",
            {"problems": list[Json](finding.problems)},
        )
    declared = [f"{name} {value}" for name, value in spec.parameters.items() if isinstance(value, bool | int | float)]
    figure = ", ".join(declared) or "no number declared"
    return passed("sampling", f"{figure}; seen {_seen(finding.way)}", {"way": finding.way})


def _seen(way: str) -> str:
    return {"http": "at the HTTP client", "call": "in the call that the provider's client returned"}.get(way, way)


def variety_check(spec: RunSpec, findings: Sequence[ProbeFinding]) -> Check:
    """Return whether several probes at the declared temperature differ; without them it is not known (C33)."""
    temperature = spec.parameters.get("temperature")
    if isinstance(temperature, int | float) and temperature == 0:
        return passed("variety", "temperature 0: equal outputs are what is declared")
    digests = [finding.text_sha256 for finding in findings if finding.answered and finding.text_sha256 is not None]
    if len(digests) < 2:
        return unknown("variety", f"not tried; --probes {FEWEST_PROBES + 2} asks as often")
    data: dict[str, Json] = {"probes": len(digests), "different": len(set(digests))}
    at = _at(temperature)
    if len(set(digests)) > 1:
        return passed("variety", f"{len(set(digests))} different outputs of {len(digests)} at {at}", data)
    figure = f"identical outputs at {at} ({len(digests)} of {len(digests)})"
    fix = "the server's own sampling (generation_config.json, a hidden top_k) overrides it; declare top_k and top_p too"
    if "seed" in spec.parameters:
        return unknown(
            "variety", f"{figure}, with a seed declared", "a seed explains it; leave it out to be sure", data
        )
    sure = isinstance(temperature, int | float) and len(digests) >= FEWEST_PROBES
    return failed("variety", figure, fix, data) if sure else unknown("variety", figure, fix, data)


def _at(temperature: Json) -> str:
    return f"temperature {temperature}" if isinstance(temperature, int | float) else "the server's own temperature"
