"""The line of a run that is not banked says what to do about it."""

from __future__ import annotations

from tamesu.core.slots import slot
from tamesu.stages.workflow import slot_line
from tests.run_factories import ALL, FINAL, RETRY, SPEC, evidence

AGAIN = "all is final; `tamesu resume --again` asks what failed once more"


def test_a_failed_run_names_the_command_that_asks_again() -> None:
    line = slot_line(slot(SPEC, evidence(SPEC, ALL | {"b": FINAL})))
    assert line.endswith(f"failed, 3/4 complete, 1 failed: {AGAIN}"), line


def test_evidence_that_does_not_verify_is_restored_not_asked_again() -> None:
    line = slot_line(slot(SPEC, evidence(SPEC, ALL, problem="items/a/result.yml: is missing; restore it")))
    assert line.endswith("failed, 4/4 complete, 0 failed: items/a/result.yml: is missing; restore it"), line


def test_a_partial_run_is_not_final() -> None:
    assert AGAIN not in slot_line(slot(SPEC, evidence(SPEC, ALL | {"b": RETRY})))
