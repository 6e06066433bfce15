"""What a parameter may hold: types and bounds of Inspect's GenerateConfig, and names that must not travel beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tamesu.base.canonical import Json

# Says that a field is left out on purpose; it is never sent.
PROVIDER_DEFAULT = "provider-default"


@dataclass(frozen=True, slots=True)
class Kind:
    """What one parameter holds, in words, and how that is told; bounds count for numbers."""

    words: str
    types: tuple[type, ...]
    lowest: float | None = None
    highest: float | None = None
    choices: tuple[str, ...] = ()


def _whole(lowest: int | None) -> Kind:
    bound = "" if lowest is None else f" of at least {lowest}"
    return Kind(f"a whole number{bound}", (int,), lowest)


def _one_of(*choices: str) -> Kind:
    return Kind(f"one of {', '.join(choices)}", (str,), choices=choices)


_FLAG = Kind("true or false", (bool,))
_MAPPING = Kind("a mapping", (dict,))
_EFFORTS = ("low", "medium", "high", "xhigh", "max")

# By the names of GenerateConfig; checked against the installed Inspect by tests/unit/test_inspect_facts.py.
KINDS: Mapping[str, Kind] = {
    "best_of": _whole(1),
    "cache_prompt": Kind("auto, true or false", (bool, str), choices=("auto",)),
    "effort": _one_of(*_EFFORTS),
    "extra_body": _MAPPING,
    "extra_headers": _MAPPING,
    "fail_on_refusal": _FLAG,
    "frequency_penalty": Kind("a number", (int, float)),
    "internal_tools": _FLAG,
    "logit_bias": _MAPPING,
    "logprobs": _FLAG,
    "max_tokens": _whole(1),
    "max_tool_output": _whole(0),
    "modalities": Kind("a list", (list,)),
    "parallel_tool_calls": _FLAG,
    "presence_penalty": Kind("a number", (int, float)),
    "prompt_logprobs": Kind("a whole number from 1 to 20", (int,), 1, 20),
    "reasoning_effort": _one_of("none", "minimal", *_EFFORTS),
    "reasoning_history": _one_of("none", "all", "last", "auto"),
    "reasoning_mode": _one_of("standard", "pro"),
    "reasoning_summary": _one_of("none", "concise", "detailed", "auto"),
    "reasoning_tokens": _whole(0),
    "response_schema": _MAPPING,
    "seed": _whole(None),
    "stop_seqs": Kind("a list of texts", (list,)),
    "stream_idle_timeout": _whole(1),
    "temperature": Kind("a number of at least 0", (int, float), 0.0),
    "top_k": _whole(None),
    "top_logprobs": _whole(0),
    "top_p": Kind("a number from 0 to 1", (int, float), 0.0, 1.0),
    "verbosity": _one_of("low", "medium", "high"),
}

_OUTPUT = "it would be another bound than max_tokens, which prices count with"
_ANSWERS = "an item has one output; use repetitions"
_MANIFEST = "the prompts and the model are those of the plan"
_LIMITS = "set it in execution.limits"

# Names on the wire that would replace what the plan says.
OVERRIDING: Mapping[str, str] = {
    **dict.fromkeys(("max_completion_tokens", "max_output_tokens", "maxOutputTokens"), _OUTPUT),
    **dict.fromkeys(("n", "candidate_count", "candidateCount"), _ANSWERS),
    **dict.fromkeys(("contents", "input", "messages", "model", "models", "prompt", "route", "system"), _MANIFEST),
    **dict.fromkeys(("cost_limit", "message_limit", "time_limit", "token_limit", "turn_limit"), _LIMITS),
    "epochs": "use repetitions",
    "stream": "how a reply arrives is Inspect's affair",
}


def value_problem(name: str, value: Json) -> str | None:
    """Return what a known parameter should hold when it holds something else; None when it is right."""
    kind = KINDS.get(name)
    if kind is None or value == PROVIDER_DEFAULT or _fits(kind, value):
        return None
    return kind.words


def _fits(kind: Kind, value: Json) -> bool:
    if isinstance(value, bool) and bool not in kind.types:
        return False
    if not isinstance(value, kind.types):
        return False
    if isinstance(value, str):
        return not kind.choices or value in kind.choices
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return (kind.lowest is None or value >= kind.lowest) and (kind.highest is None or value <= kind.highest)
    return True
