"""Token counts in one normal form: input without cache, cache read, cache write, output with reasoning.

Each provider counts in its own way; one function per convention turns its usage block into `Usage`. All raise
ImpossibleUsage for counts that cannot be (negative, no whole number, a part larger than its whole), since a
cost computed from them would be a wrong number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from tamesu.base.canonical import Json
from tamesu.base.errors import ImpossibleUsage
from tamesu.base.model.evidence import Usage

Block = Mapping[str, Json]


def openai_chat(block: Block) -> Usage:
    """Chat Completions: `prompt_tokens` holds cache reads and writes, `completion_tokens` holds reasoning.

    Some compatible services leave reasoning out of `completion_tokens`; their total tells. So counts OpenRouter.
    """
    read = _count(block, "prompt_tokens_details", "cached_tokens")
    write = _count(block, "prompt_tokens_details", "cache_write_tokens")
    return _with_reasoning_in_output(
        Usage(
            input=_without_cache(_required(block, "prompt_tokens"), read + write),
            output=_required(block, "completion_tokens"),
            cache_read=read,
            cache_write=write,
            reasoning=_count(block, "completion_tokens_details", "reasoning_tokens"),
            total=_count(block, "total_tokens"),
        )
    )


def openai_responses(block: Block) -> Usage:
    """Responses: `input_tokens` holds cache reads and writes, `output_tokens` holds reasoning."""
    read = _count(block, "input_tokens_details", "cached_tokens")
    write = _count(block, "input_tokens_details", "cache_write_tokens")
    return _checked(
        Usage(
            input=_without_cache(_required(block, "input_tokens"), read + write),
            output=_required(block, "output_tokens"),
            cache_read=read,
            cache_write=write,
            reasoning=_count(block, "output_tokens_details", "reasoning_tokens"),
            total=_count(block, "total_tokens"),
        )
    )


def anthropic(block: Block) -> Usage:
    """Messages: `input_tokens` never held cache reads or creation; `output_tokens` holds thinking."""
    return _summed(
        input_tokens=_required(block, "input_tokens"),
        output=_required(block, "output_tokens"),
        read=_count(block, "cache_read_input_tokens"),
        write=_count(block, "cache_creation_input_tokens"),
        reasoning=_count(block, "output_tokens_details", "thinking_tokens"),
    )


def bedrock_converse(block: Block) -> Usage:
    """Converse: `inputTokens` never held cache reads or writes; `outputTokens` holds reasoning, not told apart."""
    return _summed(
        input_tokens=_required(block, "inputTokens"),
        output=_required(block, "outputTokens"),
        read=_count(block, "cacheReadInputTokens"),
        write=_count(block, "cacheWriteInputTokens"),
        reasoning=0,
    )


def google(block: Block) -> Usage:
    """generateContent: `promptTokenCount` holds cached content, `candidatesTokenCount` does not hold thoughts.

    Tokens of tool results are counted apart and are input.
    """
    read = _count(block, "cachedContentTokenCount")
    thoughts = _count(block, "thoughtsTokenCount")
    fresh = _without_cache(_required(block, "promptTokenCount"), read)
    return _checked(
        Usage(
            input=fresh + _count(block, "toolUsePromptTokenCount"),
            output=_count(block, "candidatesTokenCount") + thoughts,
            cache_read=read,
            reasoning=thoughts,
            total=_count(block, "totalTokenCount"),
        )
    )


def mistral(block: Block) -> Usage:
    """Chat and Conversations: as Chat Completions, with connectors' tokens apart, which are input."""
    usage = openai_chat(block)
    return replace(usage, input=usage.input + _count(block, "connector_tokens"))


def xai(block: Block) -> Usage:
    """Chat of xAI, over HTTP or gRPC: `prompt_tokens` holds cached ones, `completion_tokens` no reasoning.

    A total of prompt and completion alone says that reasoning was in it after all.
    """
    read = _count(block, "cached_prompt_text_tokens") or _count(block, "prompt_tokens_details", "cached_tokens")
    reasoning = _count(block, "reasoning_tokens") or _count(block, "completion_tokens_details", "reasoning_tokens")
    return _with_reasoning_added(
        Usage(
            input=_without_cache(_required(block, "prompt_tokens"), read),
            output=_required(block, "completion_tokens"),
            cache_read=read,
            reasoning=reasoning,
            total=_count(block, "total_tokens"),
        )
    )


def from_inspect(provider: str, stated: Usage) -> Usage:
    """Return the normal form of what Inspect recorded for a model of that provider.

    Inspect subtracts the cache from the input for every provider and adds thoughts to Google's output. It does
    not add reasoning to the output of grok, nor tokens of tool results to the input of Google and Mistral; both
    show in the total.
    """
    if provider == "grok":
        return _with_reasoning_added(stated)
    if provider in {"google", "mistral"}:
        beyond = stated.total - _parts(stated)
        if stated.total and provider == "google" and beyond < 0:
            raise ImpossibleUsage(_line(stated, "its total is less than its parts"))
        return _checked(replace(stated, input=stated.input + max(beyond, 0)))
    return _with_reasoning_in_output(stated)


def total_usage(stated: Iterable[Usage]) -> Usage:
    """Return the sum over several models or calls."""
    parts = list(stated)
    return Usage(
        input=sum(usage.input for usage in parts),
        output=sum(usage.output for usage in parts),
        cache_read=sum(usage.cache_read for usage in parts),
        cache_write=sum(usage.cache_write for usage in parts),
        reasoning=sum(usage.reasoning for usage in parts),
        total=sum(usage.total for usage in parts),
    )


def _with_reasoning_in_output(usage: Usage) -> Usage:
    """Add reasoning where the counts themselves say that the output was without it."""
    apart = usage.reasoning > usage.output or usage.total == _parts(usage) + usage.reasoning
    return _checked(replace(usage, output=usage.output + usage.reasoning) if apart else usage)


def _with_reasoning_added(usage: Usage) -> Usage:
    """Add reasoning unless the total says that the output was with it."""
    within = usage.total == _parts(usage) and usage.reasoning <= usage.output
    return _checked(usage if within else replace(usage, output=usage.output + usage.reasoning))


def _summed(*, input_tokens: int, output: int, read: int, write: int, reasoning: int) -> Usage:
    total = input_tokens + output + read + write
    return _checked(Usage(input_tokens, output, read, write, reasoning, total))


def _parts(usage: Usage) -> int:
    return usage.input + usage.cache_read + usage.cache_write + usage.output


def _checked(usage: Usage) -> Usage:
    counts = (usage.input, usage.output, usage.cache_read, usage.cache_write, usage.reasoning, usage.total)
    if any(isinstance(count, bool) or not isinstance(count, int) or count < 0 for count in counts):
        raise ImpossibleUsage(_line(usage, "a count is negative or no whole number"))
    if usage.reasoning > usage.output:
        raise ImpossibleUsage(_line(usage, "reasoning exceeds the output it is part of"))
    return usage


def _without_cache(whole: int, cached: int) -> int:
    if cached > whole:
        raise ImpossibleUsage(f"usage: {cached} cached tokens of {whole} cannot be; report it to the provider")
    return whole - cached


def _required(block: Block, name: str) -> int:
    if block.get(name) is None:
        raise ImpossibleUsage(f"usage: '{name}' is missing, so the cost is unknown; report it to the provider")
    return _count(block, name)


def _count(block: Block, *path: str) -> int:
    """Return a count by its path; what a provider leaves out it did not use."""
    value: Json = dict(block)
    for name in path:
        if not isinstance(value, dict):
            raise ImpossibleUsage(f"usage: '{'.'.join(path)}' cannot be read; report it to the provider")
        value = value.get(name)
        if value is None:
            return 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ImpossibleUsage(f"usage: '{'.'.join(path)}' is {value!r}, no token count; report it to the provider")
    return value


def _line(usage: Usage, why: str) -> str:
    counts = (
        f"input {usage.input}, cache read {usage.cache_read}, cache write {usage.cache_write}, "
        f"output {usage.output}, reasoning {usage.reasoning}, total {usage.total}"
    )
    return f"usage: {counts}: {why}; the cost is unknown, report it to the provider"
