"""Every parameter of GenerateConfig over every route: what the table of names says is what leaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tamesu.core.parameters import CONFIG_FIELDS
from tamesu.core.routes import Protocol
from tamesu.core.wire_names import travel
from tests import live
from tests.ingest.lab import in_process
from tests.servers import ModelServer

VALUES: Mapping[str, Any] = {
    "best_of": 2,
    "cache_prompt": True,
    "effort": "low",
    "extra_headers": {"x-own": "a"},
    "fail_on_refusal": True,
    "frequency_penalty": 0.25,
    "internal_tools": False,
    "logit_bias": {"42": 3},
    "logprobs": True,
    "max_tokens": 2345,
    "max_tool_output": 10,
    "modalities": ["image"],
    "parallel_tool_calls": False,
    "presence_penalty": 0.35,
    "prompt_logprobs": 1,
    "reasoning_effort": "low",
    "reasoning_history": "all",
    "reasoning_mode": "standard",
    "reasoning_summary": "concise",
    "reasoning_tokens": 1024,
    "response_schema": {"name": "n", "json_schema": {"type": "integer"}},
    "seed": 7,
    "stop_seqs": ["STOP"],
    "stream_idle_timeout": 30,
    "temperature": 0.5,
    "top_k": 11,
    "top_logprobs": 3,
    "top_p": 0.75,
    "verbosity": "low",
}
# What a model takes or not decides Inspect by its name.
OF_THE_MODEL = {
    "openai gpt-4o": {"effort", "reasoning_effort", "reasoning_tokens", "verbosity"},
    "openai gpt-5-mini": {"best_of", "temperature", "top_k", "top_logprobs", "top_p"},
    "openrouter org/base": {"modalities", "verbosity"},
    "meta muse-spark-1.2": {"modalities", "reasoning_tokens", "verbosity"},
    "vllm base": {"modalities", "reasoning_tokens", "verbosity"},
    "anthropic claude-sonnet-4-5": set(),
    "google gemini-2.5-flash": set(),
    "mistral mistral-large-latest": set(),
}
PROTOCOLS = {
    "openai gpt-4o": Protocol.CHAT,
    "openai gpt-5-mini": Protocol.RESPONSES,
    "openrouter org/base": Protocol.CHAT,
    "meta muse-spark-1.2": Protocol.CHAT,
    "vllm base": Protocol.CHAT,
    "anthropic claude-sonnet-4-5": Protocol.MESSAGES,
    "google gemini-2.5-flash": Protocol.GEMINI,
    "mistral mistral-large-latest": Protocol.MISTRAL,
}


def test_every_field_has_a_value_here() -> None:
    assert set(VALUES) == CONFIG_FIELDS - {"extra_body"}


@pytest.mark.parametrize("model", PROTOCOLS)
def test_what_leaves_is_what_the_table_says(tmp_path: Path, model: str) -> None:
    provider, _, name = model.partition(" ")
    with ModelServer() as server:
        project = live.make(tmp_path / "p", server.url, [live.Model(provider, name)], items=1)
        found: dict[str, list[str]] = in_process(_probe_each, str(project.root), dict(project.env))
    protocol = PROTOCOLS[model]
    sent = {field for field, problems in found.items() if not problems}
    ways = {field: travel(protocol, field) for field in VALUES}
    expected = {field for field, way in ways.items() if way.names or way.local}
    assert sent - expected == set()
    assert expected - sent == OF_THE_MODEL[model] & expected
    for field in set(VALUES) - sent:
        assert found[field][0].startswith(f"{field} was declared and not sent") or field in OF_THE_MODEL[model]


def _probe_each(root: str, variables: dict[str, str]) -> dict[str, list[str]]:
    """Return what the wire check says of one request for each parameter, in one process."""
    import os

    from tamesu.edge.backends.chosen import backend
    from tamesu.edge.documents.eval_reader import read_eval
    from tamesu.edge.store.paths import Project
    from tamesu.stages.access import read_accesses

    os.environ.update(variables)
    os.chdir(root)
    project = Project(Path(root))
    read = read_eval(project, project.refs()[0])
    assert read.matrix is not None, read.findings
    (spec,) = read.matrix.runs
    access = read_accesses(project, [spec])[spec.provider]
    engine = backend("inspect")
    engine.isolate(project.state / "probing")
    found = {}
    for name, value in VALUES.items():
        told = engine.probe(replace(spec, parameters={name: value}, retries=0), access, project.state / "wire.jsonl")
        found[name] = list(told.problems) or ([] if told.answered else [f"{name}: {told.error}"])
    return found
