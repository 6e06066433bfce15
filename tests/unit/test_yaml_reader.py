"""The YAML reader: YAML 1.2 core, strict, every value with its place, no surprise whatever the bytes."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tamesu.base.canonical import Json, digest
from tamesu.base.errors import InvalidDocument
from tamesu.base.model.finding import Finding
from tamesu.edge.documents.yaml_reader import (
    MAX_BYTES,
    Document,
    DocumentFault,
    MergeKeys,
    Position,
    read_yaml,
)

BOMB = "l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"l{level}: &l{level} [{', '.join([f'*l{level - 1}'] * 10)}]\n" for level in range(1, 8)
)


def read(text: str | bytes, merges: MergeKeys = MergeKeys.REFUSE) -> Document:
    return read_yaml("manifest.yml", text if isinstance(text, bytes) else text.encode(), merges=merges)


def refusal(text: str | bytes, merges: MergeKeys = MergeKeys.REFUSE) -> Finding:
    with pytest.raises(DocumentFault) as caught:
        read(text, merges)
    assert isinstance(caught.value, InvalidDocument)
    assert str(caught.value) == str(caught.value.finding)
    assert (caught.value.finding.file, caught.value.finding.severity) == ("manifest.yml", "error")
    assert caught.value.finding.fix
    return caught.value.finding


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        *[(word, None) for word in ("", "~", "null", "Null", "NULL")],
        *[(word, True) for word in ("true", "True", "TRUE")],
        *[(word, False) for word in ("false", "False", "FALSE")],
        ("0", 0),
        ("-7", -7),
        ("+12", 12),
        ("0o17", 15),
        ("0x1F", 31),
        ("9007199254740991", 2**53 - 1),
        ("4.10", 4.1),
        ("1e5", 100000.0),
        ("1.0e+5", 100000.0),
        ("-.5", -0.5),
        ("1.", 1.0),
    ],
)
def test_a_plain_scalar_of_yaml_1_2_core_has_its_value(literal: str, value: Json) -> None:
    document = read(f"a: {literal}\n")
    assert {"a": value} == document.value
    assert type(value) is type(document.value["a"])  # type: ignore[index, call-overload]
    assert {("a",): literal} == document.literals


@pytest.mark.parametrize(
    "literal",
    [
        "no",
        "on",
        "Yes",
        "y",
        "OFF",
        "012",
        "0144",
        "-012",
        "012.5",
        "00e3",
        "1:30",
        "12:30:45",
        "1_000",
        "0b11",
        "2026-03-01",
        "2026-03-01T10:00:00Z",
        "0o8",
        "+0x1F",
        "1.2.3",
        "nULL",
        "tRue",
        "=",
        "inf",
        "e5",
    ],
)
def test_c36_a_spelling_of_yaml_1_1_stays_text(literal: str) -> None:
    assert {"a": literal} == read(f"a: {literal}\n").value


def test_c36_quotes_make_text() -> None:
    expected: Json = ["true", "1", "~", "<<", ".inf"]
    assert expected == read("['true', \"1\", '~', \"<<\", '.inf']").value


@pytest.mark.parametrize(
    "literal",
    [
        ".inf",
        "-.Inf",
        "+.INF",
        ".nan",
        ".NaN",
        "1e400",
        "83e2010",
        "9007199254740992",
        "-9007199254740993",
        "0xFFFFFFFFFFFFFFFF",
        "9" * 5000,
        "0x" + "f" * 5000,
    ],
    ids=lambda literal: literal[:20],
)
def test_a_number_that_json_cannot_carry_is_refused(literal: str) -> None:
    finding = refusal(f"a: 1\nb: [2, {literal}]\n")
    assert (finding.line, finding.column, finding.rule) == (2, 8, "yaml/number")
    assert finding.fix == f"if it is text, quote it: '{literal[:60]}{'…' if len(literal) > 60 else ''}'"


@pytest.mark.parametrize(
    ("text", "line", "column", "rule"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, 1, "yaml/duplicate-key"),
        ("a: {b: 1, 'b': 2}\n", 1, 11, "yaml/duplicate-key"),
        ("1: a\n", 1, 1, "yaml/non-string-key"),
        ("a:\n  true: b\n", 2, 3, "yaml/non-string-key"),
        ("? [a]\n: b\n", 1, 3, "yaml/non-string-key"),
        ("~: b\n", 1, 1, "yaml/non-string-key"),
        ("- &a [x]\n- {*a : b}\n", 2, 4, "yaml/non-string-key"),
        ("- &a 1\n- {*a : b}\n", 2, 4, "yaml/non-string-key"),
        ("a:\n\tb: 1\n", 2, 1, "yaml/tab"),
        ("a:\n  b: 1\n  \tc: 1\n", 3, 3, "yaml/tab"),
        ("a: [\n\t1]\n", 2, 1, "yaml/tab"),
        ("-\ta: 1\n", 1, 2, "yaml/tab"),
        ("a: |\n\tb\n", 2, 1, "yaml/tab"),
        ("a: !!str 1\n", 1, 4, "yaml/tag"),
        ("a: !!python/object/apply:os.system [x]\n", 1, 4, "yaml/tag"),
        ("! a\n", 1, 1, "yaml/tag"),
        ("a: &x [1, *x]\n", 1, 11, "yaml/self-reference"),
        ("a: &x {b: {c: *x}}\n", 1, 15, "yaml/self-reference"),
        ("a: *x\n", 1, 4, "yaml/alias"),
        ("a: 1\n---\nb: 1\n", 2, 1, "yaml/multiple-documents"),
        ("<<: {a: 1}\n", 1, 1, "yaml/merge"),
        ("a: b: c\n", 1, 5, "yaml/syntax"),
        ("a: 'b\n", 2, 1, "yaml/syntax"),
        ("a: [1\n", 2, 1, "yaml/syntax"),
        ("%FOO\n--- a\n", 1, 5, "yaml/syntax"),
        ("a: b\nc: \x07\n", 2, 4, "yaml/encoding"),
        ("a: \x00\n", 1, 4, "yaml/encoding"),
        ("a: é\x7f\n", 1, 5, "yaml/encoding"),
        ('a: "\\0"\n', 1, 4, "yaml/encoding"),
        (b"a: 1\r\n\xc3\xa9: \xff\r\n", 2, 4, "yaml/encoding"),
        (b"\xff\xfea\x00", 1, 1, "yaml/encoding"),
        ("[" * 101 + "]" * 101, 1, 101, "yaml/depth"),
        ("[" * 100_000, 1, 1001, "yaml/depth"),
        ("- " * 100_000, 1, 201, "yaml/depth"),
        (b" " * (MAX_BYTES + 1), 1, 1, "yaml/size"),
        ("- a\n" * 150_001, 150_000, 3, "yaml/size"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_what_a_manifest_may_not_hold_is_refused_with_its_place(
    text: str | bytes, line: int, column: int, rule: str
) -> None:
    finding = refusal(text)
    assert (line, column, rule) == (finding.line, finding.column, finding.rule)


@pytest.mark.parametrize(
    "text",
    [
        "a: |\n  x\n  \ty\n",
        'a: "x\n\ty"\n',
        "a:\t1\n",
        "a: 1\t# b\n",
        "[" * 100 + "]" * 100,
    ],
)
def test_what_is_only_near_the_bounds_is_read(text: str) -> None:
    assert read(text).value


def test_a_tab_after_a_block_scalar_is_found_again() -> None:
    finding = refusal("a: |\n  x\n  \ty\nb: [\n\tz]\n")
    assert (finding.line, finding.column, finding.rule) == (5, 1, "yaml/tab")


def test_an_empty_file_holds_nothing() -> None:
    for text in ("", "# only a comment\n", "---\n...\n"):
        assert read(text).value is None


@pytest.mark.parametrize("merges", MergeKeys)
def test_c37_nested_aliases_are_refused_before_they_are_expanded(merges: MergeKeys) -> None:
    """Manifests and compose files alike: 8 levels of 10 aliases, 100,000,000 leaves in about 400 bytes."""
    start = time.monotonic()
    finding = refusal(BOMB, merges)
    assert time.monotonic() - start < 1
    assert (finding.line, finding.rule) == (4, "yaml/alias-bomb")
    assert len(BOMB) < 500


@pytest.mark.parametrize("merges", MergeKeys)
def test_c37_a_few_honest_anchors_are_read(merges: MergeKeys) -> None:
    text = "a: &a {x: 1}\nb: &b [*a, *a]\nc: &c {b: *b, a: *a}\nd: [*c, *b, *a]\n"
    a: Json = {"x": 1}
    b: Json = [a, a]
    c: Json = {"b": b, "a": a}
    assert {"a": a, "b": b, "c": c, "d": [c, b, a]} == read(text, merges).value


@pytest.mark.parametrize("merges", MergeKeys)
@pytest.mark.parametrize("text", ["a: &a [*a]\n", "a: &a {b: {c: [1, *a]}}\n", "&a [*a]\n"])
def test_c37_a_value_that_contains_itself_is_refused(text: str, merges: MergeKeys) -> None:
    assert refusal(text, merges).rule == "yaml/self-reference"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
def test_c37_refusing_nested_aliases_needs_little_memory() -> None:
    script = (
        "import sys\n"
        "from tamesu.edge.documents.yaml_reader import DocumentFault, read_yaml\n"
        "try:\n    read_yaml('bomb.yml', sys.stdin.buffer.read())\n"
        "except DocumentFault as error:\n    print(error.finding.rule)\n"
        "lines = open('/proc/self/status').read().splitlines()\n"
        "print(next(line.split()[1] for line in lines if line.startswith('VmHWM')))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], input=BOMB.encode(), capture_output=True, timeout=60, check=True
    )
    rule, peak_kib = run.stdout.decode().split()
    assert rule == "yaml/alias-bomb"
    assert int(peak_kib) < 200 * 1024


def test_c37_a_long_text_repeated_by_aliases_is_refused() -> None:
    finding = refusal(f"a: &a {'x' * 100_000}\nb: [{'*a, ' * 100}]\n")
    assert finding.rule == "yaml/alias-bomb"


def test_c37_depth_counts_through_aliases() -> None:
    chain = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 120))
    assert (refusal(chain).line, refusal(chain).rule) == (100, "yaml/depth")


def test_c37_a_file_with_three_anchors_is_read() -> None:
    text = "a: &a 1\nb: &b [*a, *a]\nc: &c {d: *b}\ne: [*a, *b, *c]\n"
    expected: Json = {"a": 1, "b": [1, 1], "c": {"d": [1, 1]}, "e": [1, [1, 1], {"d": [1, 1]}]}
    assert expected == read(text).value


def test_an_anchor_that_is_used_again_means_the_latest() -> None:
    assert read("[&a 1, *a, &a 2, *a]").value == [1, 1, 2, 2]
    assert read("a: &x [&x 1, *x]\nb: *x\n").value == {"a": [1, 1], "b": 1}


def test_expanded_values_do_not_share_their_parts() -> None:
    value = read("a: &a {b: []}\nc: *a\n").value
    assert isinstance(value, dict)
    assert value["a"] == value["c"]
    assert value["a"] is not value["c"]


@pytest.mark.parametrize(
    "content",
    [
        b"a: x\nb:\n  - y\n",
        b"\xef\xbb\xbfa: x\nb:\n  - y\n",
        b"a: x\r\nb:\r\n  - y\r\n",
        b"a: x\rb:\r  - y\r",
    ],
    ids=["plain", "bom", "crlf", "cr"],
)
def test_c39_bom_and_line_ends_change_neither_value_nor_place(content: bytes) -> None:
    document = read(content)
    assert digest({"a": "x", "b": ["y"]}) == digest(document.value)
    assert Position(3, 5) == document.position(("b", 0))


@pytest.mark.parametrize("break_", ["\x85", "\u2028", "\u2029"])
def test_c40_unicode_line_boundaries_are_ordinary_characters(break_: str) -> None:
    text = f"a: x{break_}b\nq: 'x{break_}y'\nblock: |\n  x{break_}y\nlast: 1\n"
    document = read(text)
    expected: Json = {"a": f"x{break_}b", "q": f"x{break_}y", "block": f"x{break_}y\n", "last": 1}
    assert expected == document.value
    assert Position(5, 1) == document.position(("last",))


def test_c40_private_use_characters_of_the_file_are_kept() -> None:
    text = "a: '\ue000\u2028\ue001\x85\ue002'\n"
    assert read(text).value == {"a": "\ue000\u2028\ue001\x85\ue002"}


def test_positions_are_those_of_keys_and_of_list_elements() -> None:
    document = read("# comment\na:\n  - {b: 1}\n  - é: 2\n\U0001f600: [x, y]\n")
    expected = {
        (): Position(2, 1),
        ("a",): Position(2, 1),
        ("a", 0): Position(3, 5),
        ("a", 0, "b"): Position(3, 6),
        ("a", 1): Position(4, 5),
        ("a", 1, "é"): Position(4, 5),
        ("\U0001f600",): Position(5, 1),
        ("\U0001f600", 0): Position(5, 5),
        ("\U0001f600", 1): Position(5, 8),
    }
    assert expected == document.positions


def test_an_unknown_path_has_the_position_of_its_nearest_parent() -> None:
    document = read("a:\n  b: 1\n")
    assert Position(2, 3) == document.position(("a", "b", "c", 0))
    assert Position(1, 1) == document.position(("z",))


def test_a_value_behind_an_alias_has_the_position_where_it_is_written() -> None:
    document = read("a: &a {b: 1}\nc: *a\n")
    assert Position(2, 1) == document.position(("c",))
    assert Position(1, 8) == document.position(("c", "b"))


def test_merge_keys_are_resolved_where_they_are_allowed() -> None:
    text = "x: &x {a: 1, b: 2}\ny: {b: 3, <<: *x}\nz: {<<: [*x, {a: 9, c: 9}]}\nq: {'<<': 1}\n"
    document = read(text, MergeKeys.ALLOW)
    expected: Json = {
        "x": {"a": 1, "b": 2},
        "y": {"a": 1, "b": 3},
        "z": {"a": 1, "b": 2, "c": 9},
        "q": {"<<": 1},
    }
    assert expected == document.value
    assert (Position(1, 8), Position(2, 5)) == (document.position(("y", "a")), document.position(("y", "b")))


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("a: {<<: 1}", "yaml/merge"),
        ("a: {<<: [{b: 1}, 2]}", "yaml/merge"),
        ("a: {<<: {b: 1}, <<: {c: 1}}", "yaml/duplicate-key"),
        ("a: &a {<<: *a}", "yaml/self-reference"),
        (BOMB.replace("[", "{<<: [").replace("]", "]}"), "yaml/merge"),
    ],
    ids=["scalar", "scalar-in-list", "twice", "self", "bomb"],
)
def test_a_merge_that_cannot_be_resolved_is_refused(text: str, rule: str) -> None:
    assert rule == refusal(text, MergeKeys.ALLOW).rule


@pytest.mark.parametrize(
    "text",
    [
        "[a, " * 1_000_000,
        "{a: " * 1_000_000,
        "? " * 2_000_000,
        "!" * 4_000_000,
        "&a " * 1_000_000,
        "'" + "\n\tx" * 1_000_000 + "'",
        "\u2028" * 2_000_000,
        "a\n" * 2_000_000,
        "|\n" + " \n" * 2_000_000,
    ],
    ids=lambda text: repr(text[:6]),
)
def test_a_hostile_file_of_megabytes_ends_soon(text: str) -> None:
    start = time.monotonic()
    try:
        read(text)
    except DocumentFault as error:
        assert error.finding.rule.startswith("yaml/")
    assert time.monotonic() - start < 10
