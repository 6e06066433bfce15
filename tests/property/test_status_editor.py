"""Whatever a manifest looks like, changing its status changes one word and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamesu.base.errors import InvalidDocument
from tamesu.edge.documents.status_editor import replace_status, set_status
from tamesu.edge.documents.yaml_reader import read_yaml

# A spelling of the field's value, with `{}` where the word stands.
SCALARS = ["{}", "'{}'", '"{}"', "{}   # draft no more", '"{}" # "draft"', ">-\n  {}", "|-\n  {}", "&s {}", "!!str {}"]
NEIGHBOURS = [
    "name: draft",
    "question: 'is its status: draft?'",
    "# status: draft",
    "description: |\n  status: draft\n  more",
    "nested: {status: draft, other: [status, draft]}",
    "list:\n  - status: draft\n  - draft",
    '"quoted key": "status: draft ä𝄞\\n"',
    "odd: a\u2028status draft\u2028",
    "astral: 𝄞𝄞𝄞",
    "",
]
READABLE = [scalar for scalar in SCALARS if not scalar.startswith("!!")]


@st.composite
def manifests(draw: st.DrawFn) -> tuple[str, str]:
    """Return a block manifest with `status: draft`, and the same with `status: active`."""
    above = draw(st.lists(st.sampled_from(NEIGHBOURS), max_size=4, unique=True))
    below = [one for one in draw(st.lists(st.sampled_from(NEIGHBOURS), max_size=4, unique=True)) if one not in above]
    key = draw(st.sampled_from(["status: ", '"status": ', "'status':   ", "status:\n  "]))
    spelling = draw(st.sampled_from([one for one in READABLE if "\n" not in key or "\n" not in one]))
    end = draw(st.sampled_from(["\n", "", "\n\n# the end\n", "\n...\n"]))
    start = draw(st.sampled_from(["", "---\n", "%YAML 1.2\n---\n"]))
    lines = lambda word: "\n".join([*above, key + spelling.format(word), *below])  # noqa: E731
    return start + lines("draft") + end, start + lines("active") + end


@given(manifests(), st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from([b"", b"\xef\xbb\xbf"]))
def test_one_word_changes_in_any_block_manifest(texts: tuple[str, str], line_end: str, mark: bytes) -> None:
    before, after = (mark + text.replace("\n", line_end).encode() for text in texts)
    assert replace_status("eval.yml", before, "active") == after


@given(
    st.sampled_from(["{}", "'{}'", '"{}"']),
    st.sampled_from(["{{status: {}}}", '{{"status": {}, "a": [1, {{status: draft}}]}}', "{{a: draft, status: {} }}\n"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_one_word_changes_in_flow_style(scalar: str, frame: str, line_end: str) -> None:
    before, after = (frame.format(scalar.format(word)).replace("\n", line_end) for word in ("draft", "active"))
    assert replace_status("eval.yml", before.encode(), "active") == after.encode()


def test_the_last_line_may_lack_its_end() -> None:
    assert replace_status("eval.yml", b"name: a\nstatus: draft", "active") == b"name: a\nstatus: active"


@pytest.mark.parametrize("written", ['"dr\\x61ft"', '"dr\\\n  aft"', "*word"])
def test_a_word_that_does_not_stand_there_literally_is_written_anew(written: str) -> None:
    before = f"name: &word draft\nstatus: {written} # why\nlast: 1\n"
    after = replace_status("eval.yml", before.encode(), "active")
    assert read_yaml("eval.yml", after).value == {"name": "draft", "status": "active", "last": 1}
    assert after.startswith(b"name: &word draft\nstatus: ")
    assert after.endswith(b" # why\nlast: 1\n")


@pytest.mark.parametrize("content", [b"name: draft\n", b"", b"- status: draft\n"])
def test_a_manifest_without_the_field_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidDocument, match="holds no `status`; write `status: active` by hand"):
        replace_status("eval.yml", content, "active")


def test_an_anchor_that_others_use_is_refused() -> None:
    with pytest.raises(InvalidDocument, match="tied to other fields"):
        replace_status("eval.yml", b"status: &word draft\nname: *word\n", "active")


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("text", ["name: a\n", "name: a", "name: a\n\n# the end\n", "name: |\n  a\n"])
def test_a_status_that_is_left_out_becomes_the_last_line(text: str, line_end: str) -> None:
    before = text.replace("\n", line_end).encode()
    after = set_status("eval.yml", before, "complete")
    assert after.startswith(before)
    assert after.removeprefix(before).strip() == b"status: complete"
    assert set_status("eval.yml", after, "active") == after.replace(b"complete", b"active")


@pytest.mark.parametrize("text", ["{name: a}\n", "name: a\n...\n", "description: |+\n  a\n\n"])
def test_where_no_line_can_be_added_a_person_is_asked_or_nothing_else_changes(text: str) -> None:
    try:
        after = set_status("eval.yml", text.encode(), "complete")
    except InvalidDocument as refusal:
        assert str(refusal) == "eval.yml: holds no `status`; write `status: complete` by hand"
    else:
        expected = {**read_yaml("eval.yml", text.encode()).value, "status": "complete"}
        assert read_yaml("eval.yml", after).value == expected
