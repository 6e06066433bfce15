"""Secrets in manifests: found by shape or by the name of the field, never repeated in the finding.

The rule is secret/in-manifest.
"""

from __future__ import annotations

import random
import string

import pytest

from tamesu.base.model.finding import Finding
from tamesu.edge.documents.secrets import masked, secrets_in_fields, secrets_in_text
from tamesu.edge.documents.yaml_reader import read_yaml

LETTERS = string.ascii_letters + string.digits


def made(prefix: str, length: int, alphabet: str = LETTERS) -> str:
    """Return a canary: the prefix and random characters, so that no key stands in this file."""
    source = random.Random(prefix)
    return prefix + "1a" + "".join(source.choice(alphabet) for _ in range(length - 2))


CANARIES = {
    "openai": made("sk-" + "proj-", 48),
    "anthropic": made("sk-" + "ant-api03-", 60),
    "google": made("AI" + "za", 35),
    "github": made("gh" + "p_", 36),
    "aws": made("AK" + "IA", 16, string.ascii_uppercase + string.digits).upper(),
    "hugging-face": made("h" + "f_", 34),
    "xai": made("xa" + "i-", 60),
}


def found(text: str) -> list[tuple[int, int, str]]:
    fields = secrets_in_fields(read_yaml("eval.yml", text.encode()))
    findings = [secret.finding for secret in (*secrets_in_text("eval.yml", text), *fields)]
    return [(one.line, one.column, one.message) for one in findings]


@pytest.mark.parametrize("issuer", CANARIES)
def test_a_key_is_found_wherever_it_stands(issuer: str) -> None:
    text = f"name: plain\nquestion: why {CANARIES[issuer]}\n"
    places = found(text)
    assert {(line, column) for line, column, _ in places} == {(2, 15)}
    assert all(CANARIES[issuer] not in message for _, _, message in places)


@pytest.mark.parametrize(
    "field",
    [
        "token",
        "auth_token",
        "x-api-key",
        "hf_token",
        "api_key",
        "openai_api_key",
        "secret",
        "password",
        "aws_secret_access_key",
    ],
)
def test_a_field_named_as_one_that_holds_a_secret(field: str) -> None:
    assert found(f"model_args:\n  {field}: correcthorse\n") == [(2, 3, f"'{field}' looks like a secret")]


@pytest.mark.parametrize(
    "line",
    [
        "api_key: OPENAI_API_KEY",
        "api_key: ${OPENAI_API_KEY}",
        "token_limit: 60000",
        "max_tokens: 16000",
        "image: registry.example/tool@sha256:" + "0a" * 32,
        "dataset: ../../../../datasets/a-rather-long-name-v1/dataset.yml",
        "password: short",
        "token: <|endoftext|>",
        "stop_token: endoftext",
        "Authorization: Bearer ${SERVICE_TOKEN}",
    ],
)
def test_what_manifests_usually_hold_is_none(line: str) -> None:
    assert found(f"{line}\n") == []


def test_a_header_with_a_scheme() -> None:
    assert found("extra_headers: {Authorization: Bearer correcthorse}\n") == [
        (1, 17, "'Authorization' looks like a secret")
    ]


def test_what_quotes_a_secret_is_masked_also_when_it_is_cut() -> None:
    key = CANARIES["openai"]
    quoting = Finding("eval.yml", 1, 1, "error", "path/missing", f"'{key}' is not; '{key[:30]}…'", f"write {key}")
    shown = masked(quoting, {key})
    assert (shown.message, shown.fix) == ("'[secret]' is not; '[secret]…'", "write [secret]")
    assert key not in str(masked(quoting, ()))
    plain = Finding("eval.yml", 1, 1, "error", "path/missing", "'a.md' does not exist", "write a.md")
    assert masked(plain, {key}) == plain


def test_a_long_line_is_searched_in_bounded_time() -> None:
    """The patterns are not linear, so only the start of a line is searched."""
    assert found("question: " + "sk-" * 300_000 + "1\n") == []
