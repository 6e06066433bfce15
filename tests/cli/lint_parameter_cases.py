"""Mistakes in what is asked of a model, each with the rule that names it and where."""

from __future__ import annotations

from tests.cli.lint_cases import (
    EFFORTS,
    PRICES,
    Case,
    swap,
    write,
)

PARAMETER_CASES = [
    Case(
        "parameter/refused",
        (swap("max_tokens: 800", "max_tokens: 800, max_retries: 3"),),
        "parameters:",
        says="max_retries",
    ),
    Case(
        "parameter/refused",
        (swap("    model: sketcher-large\n", "    model: sketcher-large\n    parameters: {cache: true}\n"),),
        "parameters: {cache",
        says="cache",
        name="run",
    ),
    Case(
        "price/repeated",
        (
            write(
                PRICES, "models:\n  - {provider: a, model: b, free: true}\n  - {provider: a, model: b, free: false}\n"
            ),
        ),
        "- {provider: a, model: b, free: f",
        PRICES,
        says="a/b",
    ),
    Case(
        "price/unknown",
        (swap("provider: replay\n    model: sketcher-small", "provider: vllm\n    model: nobody"),),
        "model: nobody",
    ),
    Case(
        "price/contradiction",
        (write(PRICES, "models:\n  - provider: a\n    model: b\n    free: true\n    usd_per_hour: 2\n"),),
        "usd_per_hour:",
        PRICES,
        says="'free' and 'usd_per_hour'",
        name="free-and-rented",
    ),
    Case(
        "price/contradiction",
        (
            write(
                PRICES,
                "models:\n  - provider: a\n    model: b\n    free: true\n    usd_per_million: {input: 1, output: 2}\n",
            ),
        ),
        "usd_per_million:",
        PRICES,
        says="'free' and 'usd_per_million'",
        name="free-and-paid",
    ),
    Case(
        "price/contradiction",
        (write(PRICES, "models:\n  - provider: a\n    model: b\n    replicas: 2\n"),),
        "replicas:",
        PRICES,
        says="replicas but no rent",
        name="replicas-of-nothing",
    ),
    Case(
        "price/repeated",
        (write(PRICES, "models:\n  - {provider: google, model: b}\n  - {provider: gemini, model: b}\n"),),
        "- {provider: gemini",
        PRICES,
        says="google/b",
        name="by-another-name",
    ),
    Case(
        "parameter/effort",
        (
            write(PRICES, EFFORTS),
            swap("max_tokens: 800", "max_tokens: 800, effort: middling"),
            swap("    model: sketcher-large\n", "    model: sketcher-large\n    parameters: {effort: low}\n"),
        ),
        "parameters: {max_tokens",
        says="replay/sketcher-small takes no effort 'middling'",
        name="defaults",
    ),
    Case(
        "parameter/effort",
        (
            write(PRICES, EFFORTS),
            swap(
                "    model: sketcher-large\n", "    model: sketcher-large\n    parameters: {reasoning_effort: [low]}\n"
            ),
        ),
        "parameters: {reasoning_effort",
        says="replay/sketcher-large takes no reasoning_effort",
        name="run",
    ),
    Case("parameter/value", (swap("max_tokens: 800", "max_tokens: -100000"),), "parameters:", name="negative"),
    Case("parameter/value", (swap("max_tokens: 800", "max_tokens: '800'"),), "parameters:", name="text"),
    Case("parameter/value", (swap("temperature: 0.7", "temperature: hot"),), "parameters:", name="word"),
    Case("parameter/value", (swap("temperature: 0.7", "top_p: 1.5"),), "parameters:", name="beyond"),
    Case("parameter/value", (swap("temperature: 0.7", "logprobs: 1"),), "parameters:", name="flag"),
    Case("parameter/refused", (swap("temperature: 0.7", "model: gpt-5"),), "parameters:", name="overriding"),
    Case(
        "parameter/refused",
        (swap("temperature: 0.7", "extra_body: {max_tokens: 99999}"),),
        "parameters:",
        says="max_tokens",
        name="in-the-body",
    ),
]
