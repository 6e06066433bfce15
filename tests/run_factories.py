"""Records, attempts and evidence of one run of four items, for tests of what a plan makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tamesu.base.model.evidence import AttemptRecord, IdentityRecord, ItemEntry, RunRecord
from tamesu.base.model.plan import Identity, RunSpec
from tamesu.core.slots import RunEvidence
from tests.factories import make_spec

ITEMS = ("a", "b", "c", "d")
DONE, RETRY, FINAL, ENDED = "complete", "failed, retryable", "failed for good", "failed thrice"


def entry(state: str = DONE, sample: str = "5" * 64) -> ItemEntry:
    attempts = 3 if state == ENDED else 1
    return ItemEntry("complete" if state == DONE else "failed", state in {RETRY, ENDED}, attempts, sample, "9" * 64)


def record(spec: RunSpec, states: Mapping[str, str], **fields: Any) -> RunRecord:
    identity = spec.identity
    entries = {name: entry(state) for name, state in states.items()}
    complete = sum(one.state == "complete" for one in entries.values())
    made: dict[str, Any] = {
        "run_id": spec.run_id,
        "eval": str(spec.ref),
        "task": spec.task,
        "provider": spec.provider,
        "model": spec.model,
        "arm": spec.arm,
        "repetition": spec.repetition,
        "state": "complete",
        "planned": len(spec.items),
        "complete": complete,
        "failed": len(entries) - complete,
        "spent_usd": 0.0,
        "started": "",
        "ended": "",
        "error": None,
        "identity": _identity_record(identity),
        "execution": None,
        "attempts": {"01": "1" * 64},
        "items": entries,
    }
    return RunRecord(**(made | fields))


def _identity_record(identity: Identity) -> Any:
    names = ("generation_digest", "scoring_digest", "judgement_digest", "specification_fingerprint")
    return IdentityRecord(
        version=identity.version,
        **{name: getattr(identity, name) for name in names},
        content_fingerprint=identity.content_fingerprint,
        generation=identity.generation,
        scoring=identity.scoring,
        judgement=identity.judgement,
        content={file.path: file.sha256 for file in identity.content},
    )


def attempt(number: int = 1, used: tuple[str, ...] = ITEMS) -> AttemptRecord:
    return AttemptRecord(
        number, "generate", "finished", None, None, "success", None, "", "", ITEMS, used, used, 0, None, 0.0, 0.0, 0, {}
    )


def evidence(spec: RunSpec, states: Mapping[str, str], **fields: Any) -> RunEvidence:
    made: dict[str, Any] = {
        "record": record(spec, states),
        "attempts": (attempt(),),
        "attempt_digests": {"01": "1" * 64},
    }
    return RunEvidence(**(made | fields))


SPEC = make_spec(ITEMS)
ALL = dict.fromkeys(ITEMS, DONE)
