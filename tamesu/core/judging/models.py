"""The model of a judge, resolved: what Inspect calls it, where it answers, what is sent, what a call may cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tamesu.base.canonical import Json
from tamesu.base.model.manifest import Eval, Limits, ModelJudge, OutputSchema
from tamesu.base.model.plan import RoleRun, RunSpec, SourceCopy
from tamesu.core.judging.reply import verdict_schema
from tamesu.core.matrix import Setting, model_uri
from tamesu.core.pricing import largest_call_usd
from tamesu.core.response_schema import with_schema
from tamesu.core.roles import as_run

# The most tokens that one picture of at most 1536 x 1536 pixels was seen to count for, by who counts.
_IMAGE_TOKENS = {"openai": 48_169}
_OTHER_IMAGE_TOKENS = 8_192
_OVERHEAD_TOKENS = 1_000  # what a provider puts around messages and a schema


def judge_models(evaluation: Eval, setting: Setting) -> Mapping[str, RoleRun]:
    """Return the model of each judge by the judge's ID."""
    return {judge.id: _model(judge, setting) for judge in evaluation.policy.judges}


def _model(judge: ModelJudge, setting: Setting) -> RoleRun:
    file = judge.recordings
    return RoleRun(
        role=judge.id,
        provider=judge.provider,
        model=judge.model,
        model_uri=model_uri(judge.provider, judge.model),
        base_url_origin=setting.origin(judge.provider),
        parameters=_sent(judge),
        recordings=None if file is None else SourceCopy(file.path, "recordings.jsonl", file.sha256),
        max_connections=setting.endpoint(judge.provider).max_connections,
        price=setting.facts(judge.provider, judge.model).price,
        largest_call_usd=None,
    )


def _sent(judge: ModelJudge) -> dict[str, Json]:
    """Return the parameters of a judge with the form of its answer, where its route can carry that."""
    sent = {name: value for name, value in judge.parameters.items() if name != "recordings"}
    rubric = judge.rubric
    schema = None if rubric is None else OutputSchema(None, verdict_schema(rubric.dimensions))
    return with_schema(judge.provider, sent, "verdict", schema)


def judge_call_usd(model: RoleRun, text_bytes: int, images: int) -> float | None:
    """Return an upper bound in US dollars for one call that sends so much text and so many pictures.

    None when nothing bounds it: no price, or no `max_tokens`. A token of text is at least one byte.
    """
    per_image = _IMAGE_TOKENS.get(model.provider, _OTHER_IMAGE_TOKENS)
    tokens = text_bytes + images * per_image + _OVERHEAD_TOKENS
    return largest_call_usd(model.price, Limits(), model.parameters, tokens)


def judge_run(run: RunSpec, model: RoleRun, concurrency: int) -> RunSpec:
    """Return a run as if its model were the judge's, with `concurrency` calls in flight unless a cap is lower."""
    cap = model.max_connections
    return replace(
        as_run(run, model),
        limits=Limits(),
        options={},
        concurrency=concurrency if cap is None else min(concurrency, cap),
    )
