"""Fields of manifests that look like secrets: shapes of keys that providers issue, and names that hold them."""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Iterator

from tamesu.base.canonical import Json
from tamesu.base.model.finding import Finding
from tamesu.edge.documents.document import Document, NodePath

_RULE = "secret/in-manifest"
_FIX = "remove it, revoke it, and keep it in an environment variable; credentials are read by name"

# Detectors whose patterns name an issuer; those that only measure entropy take digests for secrets.
_DETECTORS = {
    "aws": "AWSKeyDetector",
    "azure_storage_key": "AzureStorageKeyDetector",
    "basic_auth": "BasicAuthDetector",
    "discord": "DiscordBotTokenDetector",
    "github_token": "GitHubTokenDetector",
    "gitlab_token": "GitLabTokenDetector",
    "jwt": "JwtTokenDetector",
    "mailchimp": "MailchimpDetector",
    "npm": "NpmDetector",
    "openai": "OpenAIDetector",
    "private_key": "PrivateKeyDetector",
    "pypi_token": "PypiTokenDetector",
    "sendgrid": "SendGridDetector",
    "slack": "SlackDetector",
    "stripe": "StripeDetector",
    "telegram_token": "TelegramBotTokenDetector",
    "twilio": "TwilioKeyDetector",
}
# Issuers of model credentials that the library does not know.
_MODEL_KEYS = {
    "API key with the prefix sk-": re.compile(r"(?<![\w-])sk-(?:[a-z0-9]+-)*[A-Za-z0-9_]{20,}"),
    "Google API key": re.compile(r"(?<!\w)AIza[0-9A-Za-z_-]{35}(?!\w)"),
    "xAI API key": re.compile(r"(?<!\w)xai-[0-9A-Za-z]{40,}"),
    "Groq API key": re.compile(r"(?<!\w)gsk_[0-9A-Za-z]{40,}"),
    "Hugging Face token": re.compile(r"(?<!\w)hf_[0-9A-Za-z]{30,}"),
}
# Loading the library's patterns takes as long as the rest of lint, so only lines that hold what every issued key
# has are searched: a long run of letters and digits, a private key's header, or a password in a URL.
_LONG_RUN = re.compile(r"[\w+=-]{16,}")
_TELLING = re.compile(r"PRIVATE KEY|://[^/\s]{0,200}@")
_SEARCHED_CHARACTERS = 4096  # of a line; the patterns are not linear in its length
_HOLDS_SECRET = re.compile(
    r"(?i)(^|[_-])(api[_-]?key|access[_-]?key|secret([_-]?key)?|password|passwd|access[_-]?token|auth(orization)?)$"
)
_VARIABLE = re.compile(r"\$?\{?[A-Z][A-Z0-9_]*\}?")
_SHORTEST = 8


def secret_findings(document: Document, text: str) -> Iterator[Finding]:
    """Yield a finding for each place that looks like a secret; the value itself is never repeated."""
    for number, line in enumerate(text.split("\n"), 1):
        if _worth_searching(line):
            for kind, column in _shapes(line[:_SEARCHED_CHARACTERS]):
                message = f"this looks like a secret ({kind})"
                yield Finding(document.label, number, column, "error", _RULE, message, _FIX)
    for path, name in _named(document.value, ()):
        place = document.position(path)
        message = f"'{name}' looks like a secret"
        yield Finding(document.label, place.line, place.column, "error", _RULE, message, _FIX)


def _worth_searching(line: str) -> bool:
    runs = (match.group() for match in _LONG_RUN.finditer(line))
    mixed = any(re.search("[0-9]", run) and re.search("[A-Za-z]", run) for run in runs)
    return mixed or _TELLING.search(line) is not None


def _shapes(line: str) -> Iterator[tuple[str, int]]:
    """Yield the kind and the column, from 1, of everything that has the shape of a secret."""
    for kind, pattern in _patterns():
        for match in pattern.finditer(line):
            yield kind, match.start() + 1


def _named(value: Json, path: NodePath) -> Iterator[tuple[NodePath, str]]:
    """Fields whose name says that they hold a secret, unless the value names a variable."""
    if isinstance(value, list):
        for number, part in enumerate(value):
            yield from _named(part, (*path, number))
    elif isinstance(value, dict):
        for name, part in value.items():
            if isinstance(part, str) and _HOLDS_SECRET.search(name):
                if len(part) >= _SHORTEST and " " not in part and not _VARIABLE.fullmatch(part):
                    yield (*path, name), name
            else:
                yield from _named(part, (*path, name))


@functools.cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    known = []
    for module, name in _DETECTORS.items():
        detector = getattr(importlib.import_module(f"detect_secrets.plugins.{module}"), name)()
        known += [(detector.secret_type, pattern) for pattern in detector.denylist]
    return (*known, *_MODEL_KEYS.items())
