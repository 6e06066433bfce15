"""A process that stray variables, `.env` files and other runs cannot change."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

# By name and for a reason: finding programs and folders, text and time, terminals, TLS, proxies, Docker.
_KEPT = frozenset(
    {
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "LANG", "LANGUAGE", "TZ", "TERM", "COLUMNS",
        "NO_COLOR", "VIRTUAL_ENV", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE",
        "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
        "DOCKER_HOST", "DOCKER_CONFIG", "DOCKER_CONTEXT", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY",
        "XDG_RUNTIME_DIR", "OPENBLAS_NUM_THREADS", "OPENBLAS_CORETYPE",
    }
)  # fmt: skip

# Set for an execution by `isolate`, by Inspect (metadata of the sample) or by Docker Compose.
_SET = re.compile(r"LC_\w*|XDG_\w*|SAMPLE_METADATA_\w*|INSPECT_\w*|COMPOSE_\w*|GIT_DIR|PWD|PYTHON\w*")


def differs_between_executions(name: str) -> bool:
    """Return whether an execution sees a variable whose value the project's files do not tell."""
    return name in _KEPT or _SET.fullmatch(name) is not None


def kept_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that an execution may see; everything of Inspect's or a provider's is dropped."""
    return {name: value for name, value in environment.items() if name in _KEPT or name.startswith("LC_")}


def isolate(workdir: Path) -> None:
    """Enter the attempt's own folder with a clean environment.

    An empty `.env` there ends Inspect's upward search; homes of its own keep its buffers with the run; a Git
    folder that does not exist keeps the remote out of the log.
    """
    home = workdir / "home"
    for folder in (workdir, home):
        folder.mkdir(parents=True, exist_ok=True)
    (workdir / ".env").write_bytes(b"")
    kept = kept_environment(os.environ)
    os.environ.clear()
    os.environ.update(kept)
    for kind in ("DATA", "CONFIG", "CACHE", "STATE"):
        os.environ[f"XDG_{kind}_HOME"] = str(home / kind.lower())
    os.environ["GIT_DIR"] = str(home / "no-git")
    # Inspect reads these at import and at eval; set here so that nothing else decides them
    os.environ["INSPECT_LOG_DIR"] = str(workdir / "logs")
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True
    os.chdir(workdir)
