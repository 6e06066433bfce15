"""One attempt: one call of Inspect's eval, with everything that matters set explicitly."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import Any

from inspect_ai import eval as inspect_eval
from inspect_ai import task_with
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import (
    Model,
    ModelCost,
    ModelInfo,
    get_model,
    set_model_cost,
    set_model_info,
)

from tamesu.base.errors import TamesuError
from tamesu.base.model.evidence import Fault
from tamesu.base.model.plan import Price, RunSpec
from tamesu.core.pricing import rates_up_to
from tamesu.edge.backends.inspect.sandbox_option import chosen_sandbox
from tamesu.edge.backends.inspect.settings import generate_config, limit_fields, log_metadata
from tamesu.edge.backends.inspect.tasks import bind_scorers, load_task, message_limit
from tamesu.edge.backends.protocol import AttemptRequest

_PROCESS_OPTIONS = ("max_subprocesses", "max_sandboxes", "log_images", "sandbox_prebuilt", "approval", "review")
_FLUSHES_PER_LOG = 100


def run_attempt(request: AttemptRequest) -> Fault | None:
    """Evaluate the asked items. Faults of the user's code or of Inspect come back as values."""
    try:
        # what Inspect and the user's code print is no line of ours; stderr goes to the invocation's log
        with redirect_stdout(sys.stderr):
            _evaluate(request)
    except TamesuError:
        raise
    except PrerequisiteError as error:
        return Fault("PrerequisiteError", _one_line(str(getattr(error, "message", error))))
    except (Exception, SystemExit) as error:
        return Fault(type(error).__name__, _one_line(str(error)))
    return None


def _one_line(text: str) -> str:
    return " ".join(text.split())[:500]


def _evaluate(request: AttemptRequest) -> None:
    spec, paths = request.spec, request.paths
    dataset = paths.attempt_dataset(request.attempt)
    task = load_task(spec, paths.sources, dataset)
    options = dict(spec.options)
    task = task_with(
        task,
        name=spec.run_id,
        model=_model(request),
        scorer=bind_scorers(task, paths.staging(request.attempt)),
        metadata={**_free(options.get("metadata")), **log_metadata(spec, request.attempt)},
        message_limit=message_limit(spec, task),
        **limit_fields(spec),
    )
    inspect_eval(
        task,
        log_dir=str(request.workdir / "logs"),
        log_format="eval",
        log_level="warning",
        display="none",
        max_tasks=1,
        max_samples=spec.concurrency,
        max_connections=spec.concurrency,
        adaptive_connections=False,
        fail_on_error=False,
        continue_on_fail=True,
        score_on_error=False,
        log_samples=True,
        log_realtime=True,
        log_buffer=max(1, len(request.asked) // _FLUSHES_PER_LOG),
        log_model_api=False,
        log_refusals=False,
        score_display=False,
        ctl_server=False,
        acp_server=False,
        tags=_texts(options.get("tags")),
        **{name: options[name] for name in _PROCESS_OPTIONS if name in options},  # type: ignore[arg-type]
        sandbox=chosen_sandbox(spec, paths.sources),
    )


def _free(value: object) -> dict[str, Any]:
    return dict(value) if isinstance(value, dict) else {}


def _texts(value: object) -> list[str] | None:
    return [str(part) for part in value] if isinstance(value, list) else None


def _model(request: AttemptRequest) -> Model:
    """The run's model, never shared with another run of the process."""
    spec = request.spec
    register_price(spec)
    arguments: dict[str, Any] = _free(spec.options.get("model_args"))
    if spec.provider == "replay":
        arguments |= {
            "recordings": str(request.paths.recordings),
            "dataset": str(request.paths.dataset),
            "arm": spec.arm,
            "repetition": spec.repetition,
            "calls": str(request.replay_calls),
        }
    return get_model(
        spec.model_uri,
        base_url=spec.base_url_origin,
        config=generate_config(spec.parameters, spec.retries, spec.timeout_seconds, spec.concurrency),
        memoize=False,
        **arguments,
    )


def register_price(spec: RunSpec) -> None:
    """Inspect enforces cost_limit only for models whose price it knows; a free one costs zero.

    It knows no tiers, so it gets the dearest rates that a sample within its token_limit can reach. Tokens of a
    rented endpoint cost nothing: there time_limit bounds the money.
    """
    rates = rates_up_to(spec.price or Price(0.0, 0.0), spec.limits.token_limit)
    set_model_info(spec.model_uri, ModelInfo(organization=spec.provider))
    set_model_cost(
        spec.model_uri,
        ModelCost(
            input=rates.input,
            output=rates.output,
            input_cache_write=rates.cache_write,
            input_cache_read=rates.cache_read,
        ),
    )
