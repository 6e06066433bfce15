"""Shapes of keys that the library of detectors does not know, in one table.

A key may have letters directly before it, as in a file whose fields have no borders; within a long run of the digits
of Base64 the beginning of a key is chance.
"""

from __future__ import annotations

import re

from tamesu.core.packages.shapes import Shape

_RUN = "[A-Za-z0-9+/_-]{24}"
_DIGIT_AND_LETTER = r"(?=[^\s\"']{0,199}[0-9])(?=[^\s\"']{0,199}[A-Za-z])"


def _begun(kind: str, beginning: str, rest: str) -> Shape:
    """Return a shape that begins with these letters; the look back stands behind them, where it is fast."""
    literal = re.escape(beginning)
    return Shape(kind, re.compile(f"{literal}(?<!{_RUN}{literal}){rest}"), (beginning.lower().encode(),))


_SK = "API key with the prefix sk-"

ISSUED_KEYS: tuple[Shape, ...] = (
    # platform.openai.com, console.anthropic.com, openrouter.ai and many servers that speak as they do. English words
    # end in -sk, always behind a vowel; `sk-` behind one counts only with what an issuer writes next.
    Shape(_SK, re.compile(r"sk-(?<![\w-]sk-)(?:[a-z0-9]+-)*[A-Za-z0-9_]{20,}"), (b"sk-",)),
    Shape(_SK, re.compile(rf"sk-(?<![aeiouAEIOU_-]sk-)(?<!{_RUN}sk-)(?:[a-z0-9]+-)*[A-Za-z0-9_]{{20,}}"), (b"sk-",)),
    Shape(
        _SK,
        re.compile(r"sk-(?:ant-[a-z]{3,8}\d\d|proj|svcacct|admin|or-v1)-(?=[\w-]{0,80}\d)[\w-]{32,}"),
        (b"sk-ant-", b"sk-proj-", b"sk-svcacct-", b"sk-admin-", b"sk-or-v1-"),
    ),
    # cloud.google.com/docs/authentication/api-keys
    Shape(
        "Google API key",
        re.compile(rf"AIza(?<!{_RUN}AIza)[0-9A-Za-z_-]{{35}}(?![A-Za-z0-9+/_-]{{24}})"),
        (b"aiza",),
    ),
    _begun("Google access token", "ya29.", "[0-9A-Za-z_-]{20,}"),  # developers.google.com/identity/protocols/oauth2
    _begun("xAI API key", "xai-", "[0-9A-Za-z]{40,}"),  # docs.x.ai
    _begun("Groq API key", "gsk_", "[0-9A-Za-z]{40,}"),  # console.groq.com/docs
    _begun("Hugging Face token", "hf_", "[0-9A-Za-z]{30,}"),  # huggingface.co/docs/hub/security-tokens
    _begun("Hugging Face token", "api_org_", "[0-9A-Za-z]{30,}"),  # the same, of organisations
    # docs.aws.amazon.com/bedrock/latest/userguide/api-keys.html: long ones, and short ones that hold a signed address
    _begun("Amazon Bedrock API key", "ABSK", "[0-9A-Za-z+/]{40,}={0,2}"),
    _begun("Amazon Bedrock API key", "bedrock-api-key-", "[0-9A-Za-z+/]{40,}={0,2}"),
    # docs.github.com/authentication: fine-grained personal access tokens
    _begun("GitHub Token", "github_pat_", "[0-9A-Za-z_]{36,}"),
    _begun("NPM tokens", "npm_", "[0-9A-Za-z]{36}"),  # github.blog/changelog, npm's token format; without an .npmrc
    _begun("NVIDIA API key", "nvapi-", "[0-9A-Za-z_-]{40,}"),  # docs.api.nvidia.com
    _begun("Perplexity API key", "pplx-", "[0-9A-Za-z]{40,}"),  # docs.perplexity.ai
    _begun("Replicate API token", "r8_", "[0-9A-Za-z]{37}"),  # replicate.com/docs/topics/security/api-tokens
    # developer.hashicorp.com/vault/docs/concepts/tokens: of a service, of a batch
    _begun("Vault token", "hvs.", r"(?=[\w-]{0,80}\d)[\w-]{24,}"),
    _begun("Vault token", "hvb.", r"(?=[\w-]{0,80}\d)[\w-]{24,}"),
    _begun("LangSmith API key", "lsv2_pt_", "[0-9a-f]{32}_[0-9a-f]{10}"),  # docs.smith.langchain.com
    _begun("LangSmith API key", "lsv2_sk_", "[0-9a-f]{32}_[0-9a-f]{10}"),
    _begun("DigitalOcean token", "dop_v1_", "[0-9a-f]{64}"),  # docs.digitalocean.com/reference/api
    _begun("Databricks token", "dapi", "[0-9a-f]{32}"),  # docs.databricks.com/dev-tools/auth/pat
    # age-encryption.org/v1: Bech32 in capitals
    _begun("age secret key", "AGE-SECRET-KEY-1", "[02-9AC-HJ-NP-Z]{58}"),
    _begun("Tavily API key", "tvly-", r"(?=[\w-]{0,80}\d)[\w-]{20,}"),  # docs.tavily.com
    _begun("Jina API key", "jina_", "[0-9A-Za-z_-]{40,}"),  # jina.ai/api-dashboard
    # RFC 9110, section 11.6.2: what a client sends; names of variables hold no digits
    Shape(
        "Authorization header",
        re.compile(
            r"(?i)authorization[\"']?\s{0,9}[:=]\s{0,9}[\"']?(?:bearer|basic|token)\s{1,9}"
            rf"{_DIGIT_AND_LETTER}[\w.~+/=-]{{20,}}"
        ),
        (b"authorization",),
    ),
    # assignments in JSON, YAML, Python and shells; the library's own detector of them takes any quoted word
    Shape(
        "assigned key",
        re.compile(
            r"(?i)(?:api[_-]?key|secret[_-]?key|secret[_-]?access[_-]?key|access[_-]?token|auth[_-]?token|client[_-]?secret)"
            rf"[\"']?\s{{0,9}}[:=]\s{{0,9}}[\"']{_DIGIT_AND_LETTER}[\w+/=.-]{{20,200}}[\"']"
        ),
        tuple(
            f"{first}{between}{last}".encode()
            for first, last in (
                ("api", "key"),
                ("secret", "key"),
                ("access", "key"),
                ("access", "token"),
                ("auth", "token"),
                ("client", "secret"),
            )
            for between in ("", "_", "-")
        ),
    ),
)
