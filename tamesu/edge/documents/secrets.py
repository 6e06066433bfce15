"""What looks like a secret in files: shapes of keys that providers issue, and fields whose names hold them."""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

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
_LONG_RUN = re.compile(r"[\w+-]{16,}")
_TELLING = re.compile(r"PRIVATE KEY|://[^/\s]{0,200}@")
_SEARCHED_CHARACTERS = 4096  # of a line; the patterns are not linear in its length
_HOLDS_SECRET = re.compile(
    r"(?i)(^|[_-])(api[_-]?key|access[_-]?key|secret([_-]?key)?|password|passwd|auth(orization)?"
    r"|(access|api|auth|bearer|refresh|session|secret|hf|github|gitlab)[_-]?token)$|^token$"
)
_SCHEME = re.compile(r"(?i)(bearer|basic|token)\s+")
_STAND_IN = re.compile(r"\$?\{?[A-Z][A-Z0-9_]*\}?|<.*>")
_MASK = "[secret]"
_SHORTEST = 8


@dataclass(frozen=True, slots=True)
class Secret:
    """What looks like a secret, and the finding about it, which does not repeat it."""

    value: str
    finding: Finding


def secrets_in_text(label: str, text: str) -> Iterator[Secret]:
    """Yield what has the shape of a key that somebody issues, by lines; time is linear in the text."""
    for number, line in enumerate(text.split("\n"), 1):
        if _worth_searching(line):
            for kind, match in _shapes(line[:_SEARCHED_CHARACTERS]):
                message = f"this looks like a secret ({kind})"
                yield Secret(match.group(), Finding(label, number, match.start() + 1, "error", _RULE, message, _FIX))


def secrets_in_fields(document: Document) -> Iterator[Secret]:
    """Yield the values of fields whose names say that they hold a secret."""
    for path, name, value in _named(document.value, ()):
        place = document.position(path)
        message = f"'{name}' looks like a secret"
        yield Secret(value, Finding(document.label, place.line, place.column, "error", _RULE, message, _FIX))


def masked(finding: Finding, secrets: Collection[str]) -> Finding:
    """Return a finding that repeats none of the secrets, nor what is shaped like a model's key."""
    return replace(finding, message=_masked(finding.message, secrets), fix=_masked(finding.fix, secrets))


def _masked(text: str, secrets: Collection[str]) -> str:
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, _MASK)
        # messages shorten what they quote
        for kept in range(len(secret) - 1, _SHORTEST - 1, -1) if "…" in text else ():
            text = text.replace(f"{secret[:kept]}…", f"{_MASK}…")
    for pattern in _MODEL_KEYS.values():
        text = pattern.sub(_MASK, text)
    return text


def _worth_searching(line: str) -> bool:
    runs = (match.group() for match in _LONG_RUN.finditer(line))
    mixed = any(re.search("[0-9]", run) and re.search("[A-Za-z]", run) for run in runs)
    return mixed or _TELLING.search(line) is not None


def _shapes(line: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield the kind and the match of everything that has the shape of a secret."""
    for kind, pattern in issued_shapes():
        for match in pattern.finditer(line):
            yield kind, match


def _named(value: Json, path: NodePath) -> Iterator[tuple[NodePath, str, str]]:
    """Yield place, name and value of fields named as secrets, unless the value names a variable."""
    if isinstance(value, list):
        for number, part in enumerate(value):
            yield from _named(part, (*path, number))
    elif isinstance(value, dict):
        for name, part in value.items():
            if isinstance(part, str) and _HOLDS_SECRET.search(name):
                bare = _SCHEME.sub("", part, count=1) if _SCHEME.match(part) else part
                if len(bare) >= _SHORTEST and " " not in bare and not _STAND_IN.fullmatch(bare):
                    yield (*path, name), name, bare
            else:
                yield from _named(part, (*path, name))


@functools.cache
def issued_shapes() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the patterns of keys that issuers give out, each with its kind; none is linear in a long line."""
    known = []
    for module, name in _DETECTORS.items():
        detector = getattr(importlib.import_module(f"detect_secrets.plugins.{module}"), name)()
        known += [(detector.secret_type, pattern) for pattern in detector.denylist]
    return (*known, *_MODEL_KEYS.items())
