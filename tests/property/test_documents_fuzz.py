"""Whatever the bytes: the readers return documents that JSON can carry, or one-line findings with a place.

No input may take a second (Hypothesis' deadline) or need 200 MB (the bound of the process that reads them);
C37 is the report about aliases.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.property import document_fuzzing

ROOT = Path(__file__).parents[2]


@pytest.mark.long
def test_any_input_is_read_or_refused_in_bounded_time_and_memory() -> None:
    seen: Counter[str] = Counter()
    for prop in document_fuzzing.PROPERTIES:
        done = subprocess.run(
            [sys.executable, "-m", "tests.property.document_fuzzing", prop.__name__],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        seen.update(json.loads(done.stdout))
    assert seen["inputs"] >= 2000
    assert min(seen["documents"], seen["item files"]) >= 100
    rules = {rule for rule in seen if "/" in rule}
    assert len(rules) >= 30, f"the inputs reach only {sorted(rules)}"
