"""One attempt: one call of Inspect's eval, with everything that matters set explicitly."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import Any

from inspect_ai import Task, task_with
from inspect_ai import eval as inspect_eval
from inspect_ai._util.error import PrerequisiteError

from tamesu.base.errors import TamesuError
from tamesu.base.model.evidence import Fault
from tamesu.core.tasks import runs_built_in_task
from tamesu.edge.backends.inspect.approval_option import chosen_approval
from tamesu.edge.backends.inspect.attempt_models import attempt_models
from tamesu.edge.backends.inspect.built_in import built_in_task
from tamesu.edge.backends.inspect.protocol_models import import_protocol_unbuilt
from tamesu.edge.backends.inspect.sandbox_option import chosen_sandbox
from tamesu.edge.backends.inspect.task_origin import search_no_package_for_copied_tasks
from tamesu.edge.backends.inspect.tasks import bind_scorers, load_task, message_limit
from tamesu.edge.backends.protocol import AttemptRequest
from tamesu.edge.credentials import without_secrets
from tamesu.edge.providers.causes import root_cause, without_addresses
from tamesu.edge.providers.provider_state import import_no_idle_client
from tamesu.edge.providers.settings import limit_fields, log_metadata

_PROCESS_OPTIONS = ("max_subprocesses", "max_sandboxes", "log_images", "sandbox_prebuilt", "review")
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
        return _fault(request, "PrerequisiteError", str(getattr(error, "message", error)))
    except (Exception, SystemExit) as error:
        cause = root_cause(error)
        return _fault(request, type(cause).__name__, str(cause))
    return None


def _fault(request: AttemptRequest, name: str, text: str) -> Fault:
    """Return a fault in one line, without any key that a library may have quoted."""
    return Fault(name, without_addresses(" ".join(without_secrets(text, request.secrets).split()))[:500])


def _evaluate(request: AttemptRequest) -> None:
    import_no_idle_client()
    import_protocol_unbuilt()
    search_no_package_for_copied_tasks()
    spec, paths = request.spec, request.paths
    task = _task(request)
    options = dict(spec.options)
    models = attempt_models(request)
    task = task_with(
        task,
        name=spec.run_id,
        model=models.own,
        scorer=bind_scorers(spec, task, paths.staging(request.attempt)),
        metadata={**_free(options.get("metadata")), **log_metadata(spec, request.attempt)},
        message_limit=message_limit(spec, task),
        **limit_fields(spec),
    )
    inspect_eval(
        task,
        model_roles=dict(models.roles) or None,
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
        approval=chosen_approval(spec, paths.sources),
    )


def _task(request: AttemptRequest) -> Task:
    spec, paths = request.spec, request.paths
    if runs_built_in_task(spec.task, spec.backend, spec.task_file):
        return built_in_task(request)
    return load_task(spec, paths.sources, paths.attempt_dataset(request.attempt))


def _free(value: object) -> dict[str, Any]:
    return dict(value) if isinstance(value, dict) else {}


def _texts(value: object) -> list[str] | None:
    return [str(part) for part in value] if isinstance(value, list) else None
