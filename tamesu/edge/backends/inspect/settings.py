"""From a run to Inspect's own settings: GenerateConfig, limits, log metadata. Used to run and to check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspect_ai.model import GenerateConfig

from tamesu.base.canonical import Json
from tamesu.base.model.plan import RunSpec
from tamesu.core.parameters import split_parameters

METADATA_KEY = "tamesu"


def generate_config(parameters: Mapping[str, Json], retries: int, timeout: int, concurrency: int) -> GenerateConfig:
    """Return the configuration of every call; retries live in this one layer, nothing is adaptive."""
    split = split_parameters(parameters)
    fields: dict[str, Any] = dict(split.config)
    if split.extra_body:
        fields["extra_body"] = dict(split.extra_body)
    return GenerateConfig(
        max_retries=retries,
        attempt_timeout=timeout,
        max_connections=concurrency,
        adaptive_connections=False,
        **fields,
    )


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
