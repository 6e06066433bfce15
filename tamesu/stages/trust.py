"""Trust: code of a case that came from elsewhere runs only after its review, or on a person's word that is kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import msgspec

from tamesu.base.errors import EvidenceError, UntrustedCode
from tamesu.base.model.manifest import EvalRef
from tamesu.base.model.plan import RunSpec
from tamesu.base.model.trust import Origin, TrustedCode
from tamesu.core.trust import given_words, still_untrusted, untrusted_line, words_for
from tamesu.edge.backends.protocol import AttemptRequest
from tamesu.edge.documents.origins import read_origins
from tamesu.edge.store.files import write_atomic
from tamesu.edge.store.paths import Project, RunPaths
from tamesu.stages.clock import now


def executed_origins(project: Project, ref: EvalRef, specs: Iterable[RunSpec]) -> tuple[Origin, ...]:
    """Return the markers of the eval's own case and of every case that some executed file of the runs lies in."""
    sources = (source.path for spec in specs for source in spec.executed)
    return concerned_origins(project, ref, sources)


def concerned_origins(project: Project, ref: EvalRef, sources: Iterable[str]) -> tuple[Origin, ...]:
    """Return the markers of the eval's own case and of every case that holds one of these project paths.

    A link counts where it lies and where it leads to.
    """
    marked = read_origins(project)
    if not marked:
        return ()
    code: dict[str, dict[str, None]] = {}
    for path in sources:
        for case in _cases(project, path):
            code.setdefault(case, {})[path] = None
    return tuple(
        replace(origin, code=tuple(code.get(origin.case, ())))
        for origin in marked
        if origin.case == ref.case or origin.case in code
    )


def _cases(project: Project, path: str) -> set[str]:
    places = (project.root / path, (project.root / path).resolve())
    inside = [place.relative_to(project.root).parts for place in places if place.is_relative_to(project.root)]
    return {parts[1] for parts in inside if len(parts) > 2 and parts[0] == "cases"}


def give_word(project: Project) -> tuple[TrustedCode, ...]:
    """Return a person's word of now for the markers of the project; what of it is needed is kept with the attempts."""
    return given_words(read_origins(project), now())


def check_trust(project: Project, ref: EvalRef, specs: Sequence[RunSpec], words: Sequence[TrustedCode]) -> None:
    """Raise UntrustedCode when code from elsewhere would run without a word; read anew, whatever was planned."""
    untrusted = still_untrusted(executed_origins(project, ref, specs), words)
    if untrusted:
        raise UntrustedCode(untrusted_line(untrusted[0]))


def note_trust(project: Project, request: AttemptRequest, words: Sequence[TrustedCode]) -> None:
    """Write the word that an attempt needs before it begins, so that whoever closes it records it."""
    needed = words_for(executed_origins(project, request.spec.ref, [request.spec]), words)
    if needed:
        write_atomic(request.paths.trust(request.attempt), msgspec.json.encode(needed))


def noted_trust(run: RunPaths, attempt: int) -> tuple[TrustedCode, ...]:
    """Return the word that an attempt began with. Raises EvidenceError when it cannot be read."""
    path = run.trust(attempt)
    if not path.exists():
        return ()
    try:
        return msgspec.json.decode(path.read_bytes(), type=tuple[TrustedCode, ...])
    except msgspec.DecodeError as error:
        raise EvidenceError(f"{path}: is damaged ({error}); restore it from a backup") from None
