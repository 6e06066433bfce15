"""What looks like a secret in files: shapes of keys that providers issue, and fields whose names hold them."""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from tamesu.base.canonical import Json
from tamesu.base.model.finding import Finding
from tamesu.core.packages.shapes import Shape
from tamesu.edge.documents.document import Document, NodePath
from tamesu.edge.documents.issued_keys import ISSUED_KEYS

_RULE = "secret/in-manifest"
_FIX = "remove it, revoke it, and keep it in an environment variable; credentials are read by name"

# Detectors whose patterns name an issuer; those that only measure entropy take digests for secrets. Each with what
# every match of it holds, in small letters: texts, or a pattern where its own begins with digits of any kind.
_DETECTORS: dict[tuple[str, str], tuple[str, ...] | str] = {
    ("aws", "AWSKeyDetector"): ("a3t", "abia", "acca", "akia", "asia", "aws"),
    ("azure_storage_key", "AzureStorageKeyDetector"): ("accountkey=",),
    ("basic_auth", "BasicAuthDetector"): ("://",),
    ("discord", "DiscordBotTokenDetector"): r"\.[a-z\d_-]{6}\.[a-z\d_-]{27}",
    ("github_token", "GitHubTokenDetector"): ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    ("gitlab_token", "GitLabTokenDetector"): ("gl", "gr1348941"),
    ("jwt", "JwtTokenDetector"): ("eyj",),
    ("mailchimp", "MailchimpDetector"): r"-us\d",
    ("npm", "NpmDetector"): (":_authtoken=",),
    ("openai", "OpenAIDetector"): ("t3blbkfj",),
    ("private_key", "PrivateKeyDetector"): ("private key", "putty-user-key"),
    ("pypi_token", "PypiTokenDetector"): ("pypi-",),
    ("sendgrid", "SendGridDetector"): ("sg.",),
    ("slack", "SlackDetector"): ("xox", "hooks.slack.com"),
    ("square_oauth", "SquareOAuthDetector"): ("sq0csp-",),
    ("stripe", "StripeDetector"): ("k_live_",),
    ("telegram_token", "TelegramBotTokenDetector"): r":[\da-z_-]{35}",
    ("twilio", "TwilioKeyDetector"): ("ac", "sk"),
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
    for shape in ISSUED_KEYS:
        text = shape.pattern.sub(_MASK, text)
    return text


def _worth_searching(line: str) -> bool:
    runs = (match.group() for match in _LONG_RUN.finditer(line))
    mixed = any(re.search("[0-9]", run) and re.search("[A-Za-z]", run) for run in runs)
    return mixed or _TELLING.search(line) is not None


def _shapes(line: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield the kind and the match of everything that has the shape of a secret."""
    small = line.lower().encode("utf-8", "surrogatepass")
    for shape in issued_shapes():
        for match in shape.pattern.finditer(line) if shape.may_be_in(small) else ():
            yield shape.kind, match


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
def issued_shapes() -> tuple[Shape, ...]:
    """Return the shapes of keys that issuers give out; no pattern is linear in a long line."""
    known: list[Shape] = []
    for (module, name), held in _DETECTORS.items():
        detector = getattr(importlib.import_module(f"detect_secrets.plugins.{module}"), name)()
        literals = () if isinstance(held, str) else tuple(literal.encode() for literal in held)
        sign = re.compile(held.encode()) if isinstance(held, str) else None
        known += [Shape(detector.secret_type, pattern, literals, sign) for pattern in detector.denylist]
    return (*known, *ISSUED_KEYS)
