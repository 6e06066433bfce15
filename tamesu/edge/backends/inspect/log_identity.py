"""Identity computed again from a log's own fields and the sealed files beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from inspect_ai.log import EvalSpec, read_eval_log
from inspect_ai.model import GenerateConfig, ModelConfig

from tamesu.base.canonical import Json, digest
from tamesu.base.errors import LogRefused
from tamesu.base.model.plan import RunSpec
from tamesu.core.base_url import split_base_url
from tamesu.core.freeze import sample_digest
from tamesu.core.identity import ADAPTER_VERSION, partition_digest
from tamesu.core.roles import as_run
from tamesu.core.routes import find_route, provider_of_uri
from tamesu.core.task_parameters import task_parameters
from tamesu.core.tasks import runs_built_in_task
from tamesu.edge.backends.inspect.log_bounds import check_header
from tamesu.edge.backends.protocol import AttemptRequest
from tamesu.edge.providers.settings import METADATA_KEY, generate_config
from tamesu.edge.store.digests import file_digest

_LIMITS = ("cost_limit", "time_limit", "token_limit", "turn_limit", "working_limit")


def check_identity(path: Path, request: AttemptRequest) -> None:
    """Raise LogRefused unless the log's own fields yield the generation digest of its run."""
    spec = request.spec
    try:
        check_header(path)
    except (ValueError, BadZipFile) as error:
        raise LogRefused(f"{path}: {error}; no log of Inspect is like that") from None
    header = read_eval_log(str(path), header_only=True).eval
    claims = _claims(header, path)
    problem = _disagreement(header, claims, request)
    if problem is not None:
        raise LogRefused(f"{path}: {problem}; the log was altered or belongs to another run")
    values = generation_from_log(header, claims, request)
    if partition_digest(values) != spec.identity.generation_digest:
        raise LogRefused(f"{path}: its fields yield another identity than run {spec.run_id}; it is refused")


def _claims(header: EvalSpec, path: Path) -> dict[str, Any]:
    claims = (header.metadata or {}).get(METADATA_KEY)
    if not isinstance(claims, dict) or not isinstance(claims.get("generation"), dict):
        raise LogRefused(f"{path}: names no Tamesu run; only logs made by `tamesu run` can be ingested")
    return claims


def generation_from_log(header: EvalSpec, claims: dict[str, Any], request: AttemptRequest) -> dict[str, Json]:
    """Return the generation map: what the log claims, overridden by every field that stands in it natively."""
    values: dict[str, Json] = dict(claims["generation"])
    values |= {
        "adapter_version": ADAPTER_VERSION,
        "model_uri": header.model,
        "provider": _provider(header.model, claims["generation"]),
        "base_url_origin": _origin(header, claims["generation"]),
        "inspect_version": header.packages.get("inspect_ai"),
        "retries": header.model_generate_config.max_retries,
        "timeout_seconds": header.model_generate_config.attempt_timeout,
        "dataset": _dataset_digest(request),
    }
    values |= _task(header, request.spec)
    limits = {name: getattr(header.config, name) for name in _LIMITS}
    arguments = {name: value for name, value in header.task_args_passed.items() if name != "dataset"}
    _replace(values, "limit/", {name: value for name, value in limits.items() if value is not None}, _LIMITS)
    _replace(values, "task_arg/", arguments, None)
    for role in request.spec.roles:
        if role.recordings is not None:
            values[f"model_role_recordings/{role.role}"] = file_digest(request.paths.role_recordings(role.role))
    for source in request.spec.sources:
        values[f"source/{source.target}"] = file_digest(request.paths.sources / source.target)
    if request.spec.recordings is not None:
        values["recordings"] = file_digest(request.paths.recordings)
    return values


def _task(header: EvalSpec, spec: RunSpec) -> dict[str, Json]:
    """Return which task the log says that it is of: Tamesu's own carries a version and no name."""
    if runs_built_in_task(spec.task, spec.backend, spec.task_file) and header.task_registry_name is None:
        return {"built_in_task": header.task_version}
    return {"task_function": header.task_registry_name}


def _provider(model: str, claimed: Mapping[str, Any]) -> str | None:
    """Return the provider that a model's name tells, or the claimed one when it is another name of the same route."""
    route = find_route(str(claimed.get("provider")))
    if route is not None and model.startswith(f"{route.service}/"):
        return str(claimed["provider"])
    return provider_of_uri(model)


def _origin(header: EvalSpec, claimed: Mapping[str, Any]) -> str | None:
    """Return where the models answered; the log names the place of a route even where nobody set one."""
    named = header.model_base_url
    # gRPC knows hosts; whether TLS was spoken only the claim says
    scheme = str(claimed.get("base_url_origin")).partition("://")[0] if claimed.get("base_url_origin") else "https"
    split = None if named is None else split_base_url(named if "://" in named else f"{scheme}://{named}")
    route = find_route(_provider(header.model, claimed) or "")
    return named if split is None or route is None else route.origin(split)


def _replace(values: dict[str, Json], prefix: str, found: Mapping[str, Any], only: Sequence[str] | None) -> None:
    """Put what stands in the log in the place of what it claims; a claim that does not stand there is dropped."""
    for name in [name for name in values if name.startswith(prefix)]:
        if only is None or name.removeprefix(prefix) in only:
            del values[name]
    values |= {f"{prefix}{name}": value for name, value in found.items()}


def _dataset_digest(request: AttemptRequest) -> str:
    """The digest of the whole frozen dataset, from its bytes."""
    pairs: list[Json] = []
    for line in request.paths.dataset.read_bytes().split(b"\n"):
        if line.strip():
            record = json.loads(line)
            assets = request.spec.assets.get(record["id"], ())
            pairs.append([record["id"], sample_digest(record, assets)])
    return digest(pairs)


def _disagreement(header: EvalSpec, claims: dict[str, Any], request: AttemptRequest) -> str | None:
    """Return the first native field that differs from what the run would have set."""
    spec = request.spec
    for source in spec.scoring_sources:
        if file_digest(request.paths.sources / source.target) != source.sha256:
            return f"the sealed scoring source {source.target} is not what the run froze"
    declared = spec.limits.message_limit
    stated = header.config.message_limit
    if declared is not None and (stated is None or stated > declared):
        return "its field message_limit is above what the run set"
    if header.config.epochs not in {None, 1}:
        return "its field epochs is not 1"
    generation = claims["generation"]
    parameters = {
        name.removeprefix("parameter/"): value for name, value in generation.items() if name.startswith("parameter/")
    }
    expected: dict[str, object] = {
        "task": spec.run_id,
        "metadata.run_id": spec.run_id,
        "metadata.attempt": request.attempt,
        "dataset.sample_ids": list(request.asked),
        "model_generate_config": _plain_config(parameters, spec),
        "model_roles": {role.role: _role(as_run(spec, role)) for role in spec.roles},
    }
    found: dict[str, object] = {
        "task": header.task,
        "metadata.run_id": claims.get("run_id"),
        "metadata.attempt": claims.get("attempt"),
        "dataset.sample_ids": [str(name) for name in header.dataset.sample_ids or []],
        "model_generate_config": _comparable(header.model_generate_config),
        "model_roles": {
            name: (model.model, _comparable(model.config)) if isinstance(model, ModelConfig) else None
            for name, model in (header.model_roles or {}).items()
        },
    }
    for name, value in expected.items():
        if found[name] != value:
            return f"its field {name} is not what the run set"
    return None


def _plain_config(parameters: dict[str, Any], spec: RunSpec) -> dict[str, Any]:
    """Return the configuration that these parameters make, with what a plan adds for the task."""
    sent = task_parameters(spec.task, spec.provider, parameters, spec.output_schema)
    return _comparable(generate_config(replace(spec, parameters=sent)))


def _role(spec: RunSpec) -> tuple[str, dict[str, Any]]:
    return spec.model_uri, _comparable(generate_config(spec))


def _comparable(config: GenerateConfig) -> dict[str, Any]:
    """Concurrency is no identity, and may have been another when the log was made."""
    return config.model_dump(exclude_none=True, exclude={"max_connections"})
