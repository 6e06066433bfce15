"""How each provider's own usage block reads in the normal form: what Inspect and `from_inspect` must arrive at."""

from __future__ import annotations

from typing import Any

from tamesu.base.model.evidence import Usage

Block = dict[str, Any]


def count(block: Block, *path: str) -> int:
    """Return a count by its path; what a provider leaves out it did not use."""
    value: Any = block
    for name in path:
        value = (value or {}).get(name)
    return value or 0


def openai_chat(block: Block) -> Usage:
    """`prompt_tokens` holds cache reads and writes; reasoning is in the output, or apart if the total says so."""
    read = count(block, "prompt_tokens_details", "cached_tokens")
    write = count(block, "prompt_tokens_details", "cache_write_tokens")
    reasoning = count(block, "completion_tokens_details", "reasoning_tokens")
    prompt, completion, total = block["prompt_tokens"], block["completion_tokens"], count(block, "total_tokens")
    apart = reasoning > 0 and total == prompt + completion + reasoning
    return Usage(prompt - read - write, completion + reasoning * apart, read, write, reasoning, total)


def openai_responses(block: Block) -> Usage:
    """`input_tokens` holds cache reads and writes, `output_tokens` holds reasoning."""
    read = count(block, "input_tokens_details", "cached_tokens")
    write = count(block, "input_tokens_details", "cache_write_tokens")
    reasoning = count(block, "output_tokens_details", "reasoning_tokens")
    return Usage(
        block["input_tokens"] - read - write,
        block["output_tokens"],
        read,
        write,
        reasoning,
        count(block, "total_tokens"),
    )


def anthropic(block: Block) -> Usage:
    """`input_tokens` never held cache reads or creation; `output_tokens` holds thinking; there is no total."""
    read, write = count(block, "cache_read_input_tokens"), count(block, "cache_creation_input_tokens")
    thinking = count(block, "output_tokens_details", "thinking_tokens")
    whole = block["input_tokens"] + read + write + block["output_tokens"]
    return Usage(block["input_tokens"], block["output_tokens"], read, write, thinking, whole)


def bedrock_converse(block: Block) -> Usage:
    """`inputTokens` never held cache reads or writes; reasoning is in the output and not told apart."""
    read, write = count(block, "cacheReadInputTokens"), count(block, "cacheWriteInputTokens")
    return Usage(block["inputTokens"], block["outputTokens"], read, write, 0, count(block, "totalTokens"))


def google(block: Block) -> Usage:
    """`promptTokenCount` holds cached content, candidates hold no thoughts, tokens of tool results are apart."""
    read, thoughts = count(block, "cachedContentTokenCount"), count(block, "thoughtsTokenCount")
    fresh = block["promptTokenCount"] - read + count(block, "toolUsePromptTokenCount")
    return Usage(
        fresh, count(block, "candidatesTokenCount") + thoughts, read, 0, thoughts, count(block, "totalTokenCount")
    )


def mistral(block: Block) -> Usage:
    """As chat, with connectors' tokens apart, which are input."""
    usage = openai_chat(block)
    return Usage(usage.input + count(block, "connector_tokens"), usage.output, total=usage.total)


def xai(block: Block) -> Usage:
    """`prompt_tokens` holds cached ones, `completion_tokens` no reasoning unless the total says that it does."""
    read = count(block, "cached_prompt_text_tokens") or count(block, "prompt_tokens_details", "cached_tokens")
    reasoning = count(block, "reasoning_tokens") or count(block, "completion_tokens_details", "reasoning_tokens")
    prompt, completion, total = block["prompt_tokens"], block["completion_tokens"], block["total_tokens"]
    within = total == prompt + completion
    return Usage(prompt - read, completion + reasoning * (not within), read, 0, reasoning, total)
