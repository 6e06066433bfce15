"""Recorded models and items of one prompt: only the run's own model is told by it which item is asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tamesu.base.errors import InvalidDocument
from tamesu.edge.providers.replay import ReplayAPI


def opened(folder: Path, for_role: str | None) -> ReplayAPI:
    dataset, recordings = folder / "input.jsonl", folder / "answers.jsonl"
    message = {"role": "user", "content": "Draw."}
    dataset.write_text("".join(json.dumps({"id": item, "input": [message]}) + "\n" for item in ("a", "b")))
    recordings.write_text('{"tamesu_recording": 1, "label": "made up"}\n')
    return ReplayAPI(
        "judge", recordings=str(recordings), dataset=str(dataset), arm="terse", repetition=1, for_role=for_role
    )


def test_a_role_needs_no_prompts_that_differ(tmp_path: Path) -> None:
    assert opened(tmp_path, "grader").connection_key() == "replay"
    with pytest.raises(InvalidDocument, match="items 'a' and 'b' render to the same prompt"):
        opened(tmp_path, None)
