"""From a run to Inspect's own settings: GenerateConfig, limits, log metadata. Used to run and to check."""

from __future__ import annotations

from typing import Any

from inspect_ai.model import GenerateConfig

from tamesu.base.model.plan import RunSpec
from tamesu.core.parameters import split_parameters
from tamesu.core.routes import Protocol, protocol_of

METADATA_KEY = "tamesu"


def generate_config(spec: RunSpec) -> GenerateConfig:
    """Return the configuration of every call; retries live in this one layer, nothing is adaptive."""
    split = split_parameters(spec.parameters, protocol_of(spec.provider))
    fields: dict[str, Any] = dict(split.config)
    if split.extra_body and not body_is_argument(spec.provider) and spec.provider != "google":
        fields["extra_body"] = dict(split.extra_body)
    if spec.provider == "openai":
        # left out, Inspect finds out by a call that no log holds whether summaries are allowed
        fields.setdefault("reasoning_summary", "none")
    return GenerateConfig(
        max_retries=spec.retries,
        attempt_timeout=spec.timeout_seconds,
        max_connections=spec.concurrency,
        adaptive_connections=False,
        **fields,
    )


def body_is_argument(provider: str) -> bool:
    """Return whether a provider takes further fields of the body as an argument, and drops those of a call."""
    return protocol_of(provider) is Protocol.MESSAGES


def limit_fields(spec: RunSpec) -> dict[str, Any]:
    """Return the limits that the manifest sets, by Inspect's names; `message_limit` is decided later."""
    limits = spec.limits
    return {
        "cost_limit": limits.cost_limit,
        "time_limit": limits.time_limit,
        "token_limit": limits.token_limit,
        "turn_limit": limits.turn_limit,
        "working_limit": limits.working_limit,
    }


def log_metadata(spec: RunSpec, attempt: int) -> dict[str, Any]:
    """Return what the log says about the run it belongs to."""
    return {
        METADATA_KEY: {
            "run_id": spec.run_id,
            "attempt": attempt,
            "identity_version": spec.identity.version,
            "generation": dict(spec.identity.generation),
            "recorded": spec.provider == "replay",
        }
    }
