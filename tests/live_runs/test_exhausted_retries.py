"""When all retries are used up, evidence says what the provider said, and no address in memory."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.live_runs.attempt_lab import attempted
from tests.live_runs.test_faulty_replies import CHAT, GEMINI, MESSAGES
from tests.servers import ModelServer, Reply

NO_ROOM = Reply(
    status=503,
    headers={"retry-after": "0"},
    body=b'{"error": {"code": 503, "message": "no room today", "status": "UNAVAILABLE"}}',
)


@pytest.mark.parametrize("backend", ["native", "inspect"])
@pytest.mark.parametrize(
    "model", [GEMINI, *(pytest.param(one, marks=pytest.mark.long) for one in (CHAT, MESSAGES))], ids=lambda m: m.name
)
def test_the_cause_is_told_and_no_address(backend: str, model: object, tmp_path: Path) -> None:
    with ModelServer(NO_ROOM) as server:
        project = attempted(
            tmp_path / "p", server, [model], checked=False, items=1, backend=backend, defaults={"retries": 1}
        )
        assert len(server.calls) == 2
    (result,) = project.results().values()
    assert "no room today" in result["error"]["message"]
    assert "RetryError" not in result["error"]["type"] + result["error"]["message"]
    written = [path for path in project.eval.rglob("*") if path.suffix in {".yml", ".jsonl", ".csv", ".md", ".json"}]
    assert written
    assert {
        path.name: found for path in written if (found := re.findall(r".* at 0x[0-9a-f]+.*", path.read_text()))
    } == {}
