"""Code in answers: every fence with its own closing one, one program or a reason, linear and never raising."""

from __future__ import annotations

import ast
import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tamesu.extract import Block, ExtractionFailed, Program, code_blocks, file_name_fault, pick_program

MAIN = "int main(void) { return 0; }\n"


def bodies(text: str) -> list[str]:
    return [block.body for block in code_blocks(text)]


def picked(text: str, **wishes: object) -> str:
    """Return the code that is picked, or the reason why there is none."""
    found = pick_program(text, **{"languages": ("c",), "entry": r"\bmain\s*\(", **wishes})  # type: ignore[arg-type]
    return found.code if isinstance(found, Program) else found.reason


def fenced(code: str, info: str = "c", mark: str = "```") -> str:
    return f"{mark}{info}\n{code}{mark}\n"


# --- pairing ---------------------------------------------------------------------------------------------


def test_a_block_tells_language_info_file_body_line_and_end() -> None:
    (block,) = code_blocks(f"Here it is:\n\n```C src/main.c\n{MAIN}```\nDone.\n")
    assert block == Block(language="c", info="C src/main.c", file="src/main.c", body=MAIN, line=3, closed=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```\na\n```\nprose\n```\nb\n```\n", ["a\n", "b\n"]),
        ("````md\n```c\na\n```\n````\n", ["```c\na\n```\n"]),
        ("~~~\n```\na\n~~~\n", ["```\na\n"]),
        ("```\na\n~~~\n```\n", ["a\n~~~\n"]),
        ("```\na\n`````  \t\n", ["a\n"]),
        ("````\na\n```\nb\n", ["a\n```\nb\n"]),
        ("```c\na\n```c\nb\n```\n", ["a\n```c\nb\n"]),
        ("   ```\n   a\n     b\n c\n   ```\n", ["a\n  b\nc\n"]),
        ("    ```\n    a\n    ```\n", []),
        ("\t```\na\n", []),
        ("```\na\n    ```\n```\n", ["a\n    ```\n"]),
        ("`` `\na\n", []),
        ("``` a`b\na\n", []),
        ("~~~ a`b\na\n~~~\n", ["a\n"]),
        ("say ```\na\n```\n", [""]),
        ("```\n```\n", [""]),
        ("```", [""]),
        ("", []),
        ("```\r\na\r\n```\r\nb", ["a\r\n"]),
        ("```\ra\r```\rb", ["a\r"]),
        ("```\na\u2028```\nb\x0c```\n```\n", ["a\u2028```\nb\x0c```\n"]),
    ],
)
def test_every_fence_is_paired_with_its_own_closing_one(text: str, expected: list[str]) -> None:
    assert bodies(text) == expected


def test_an_unclosed_fence_runs_to_the_end_and_says_so() -> None:
    first, second = code_blocks("```c\na\n```\n\n~~~~c\nb\n~~~\nc")
    assert (first.closed, first.line) == (True, 1)
    assert (second.closed, second.body, second.line) == (False, "b\n~~~\nc", 5)


@pytest.mark.parametrize(
    ("info", "language", "file"),
    [
        ("c", "c", None),
        ("", "", None),
        ("c src/main.c", "c", "src/main.c"),
        ('c title="main.c"', "c", "main.c"),
        ("c title='my main.c'", "c", "my main.c"),
        ("c file=main.c", "c", "main.c"),
        ("c filename=main.c linenos", "c", "main.c"),
        ("c:main.c", "c", "main.c"),
        ("c:src/main", "c", "src/main"),
        ("c // src/main.c", "c", "src/main.c"),
        ("main.c", "", "main.c"),
        ("{.c title=main.c}", "c", "main.c"),
        ("C,ignore", "c", None),
        ("c linenos", "c", None),
        ('c title="unclosed', "c", '"unclosed'),
        ("ts:no-line-numbers", "ts", None),
        ("makefile", "makefile", None),
        ("make Makefile", "make", "Makefile"),
        ("node.js", "node.js", None),
        ("c++ v1.2", "c++", None),
        ("c see https://example.org/main", "c", None),
        ("c ../../etc/passwd", "c", "../../etc/passwd"),
        ('c title="../x.c" main.c', "c", "../x.c"),
    ],
)
def test_language_and_file_stand_on_the_line_of_the_fence(info: str, language: str, file: str | None) -> None:
    (block,) = code_blocks(f"~~~ {info}\n~~~\n")
    assert (block.info, block.language, block.file) == (info, language, file)


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("main.c", None),
        ("src/main.c", None),
        ("./main.c", None),
        ("a..b.c", None),
        ("...", None),
        ("", "is empty"),
        (" ", "is empty"),
        ("..", "leads out of its folder"),
        ("src/../../x", "leads out of its folder"),
        ("..\\x", "leads out of its folder"),
        ("/etc/passwd", "is absolute"),
        ("~/x", "is absolute"),
        ("C:main.c", "is absolute"),
        ("src\\main.c", "holds a backslash"),
        ("a\0.c", "holds a control character"),
        ("a\n.c", "holds a control character"),
        ("src/", "names a folder"),
        ("a" * 256, "is too long"),
    ],
)
def test_a_name_that_must_not_become_a_path_is_reported_and_not_repaired(name: str, fault: str | None) -> None:
    assert file_name_fault(name) == fault
    assert Block("c", "", name, "", 1, True).file_fault == fault


# --- the one program -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (fenced(MAIN), MAIN),
        (fenced(MAIN, "C main.c"), MAIN),
        (fenced("make\n", "sh") + fenced(MAIN), MAIN),
        (fenced("plan\n", "") + fenced(MAIN), MAIN),
        (fenced(MAIN, ""), MAIN),
        (fenced("int f(void);\n") + fenced(MAIN), MAIN),
        (fenced(MAIN) + "again:\n" + fenced(MAIN), MAIN),
        (fenced(MAIN) + "```\n", MAIN),
        ("", "no_block"),
        (MAIN, "no_block"),
        (fenced("print(1)\n", "python"), "no_block"),
        (fenced(" \n\n"), "no_block"),
        ("```c\n" + MAIN, "unclosed"),
        (fenced(MAIN) + "Better:\n```c\n#include <st", "unclosed"),
        (fenced("int f(void);\n"), "no_entry_point"),
        (fenced(MAIN) + fenced(MAIN.replace("0", "1")), "several_candidates"),
        (fenced(MAIN, "c ../main.c"), "unsafe_file_name"),
        (fenced(MAIN, "c:/etc/passwd"), "unsafe_file_name"),
    ],
)
def test_the_one_program_is_picked_or_a_reason_given(text: str, expected: str) -> None:
    assert picked(text) == expected


def test_a_cut_answer_holds_no_program_whatever_is_in_it() -> None:
    assert picked(fenced(MAIN), truncated=True) == "truncated"


def test_a_failure_names_itself_with_reason_and_lines() -> None:
    text = fenced(MAIN) + fenced(MAIN.replace("0", "1"))
    failed = pick_program(text, languages=("c",), entry=re.compile("main"))
    assert failed == ExtractionFailed("several_candidates", "different programs could be meant; looked at line 1, 4")
    assert str(failed).startswith("extraction_failed: several_candidates: different programs")


def test_parsing_decides_which_block_is_meant() -> None:
    text = fenced("def f(:\n", "py") + fenced("x = 1\n", "python")
    found = pick_program(text, languages=("python", "py"), parse=ast.parse)
    assert isinstance(found, Program)
    assert (found.code, found.block.line) == ("x = 1\n", 4)


@pytest.mark.parametrize("parse", [lambda code: False, ast.parse, lambda code: int(code)])
def test_code_that_does_not_parse_is_no_program(parse: object) -> None:
    assert picked(fenced(MAIN), parse=parse) == "parse_failed"


def test_a_mistake_in_the_check_itself_is_not_the_answers() -> None:
    def broken(code: str) -> bool:
        raise KeyError(code)

    with pytest.raises(KeyError):
        picked(fenced(MAIN), parse=broken)


# --- foreign input ---------------------------------------------------------------------------------------

MARKUP = st.lists(
    st.sampled_from(["```", "````", "~~~", "`", "~", "\n", "\r\n", "\r", " ", "   ", "\t", "c", "main(", "=", '"'])
    | st.characters(),
    max_size=60,
).map("".join)


@given(MARKUP | st.text())
@example("\ud800```\n```\ud800")
@example("```\0\n\0")
def test_any_text_gives_blocks_that_stand_in_it_and_one_answer(text: str) -> None:
    lines = re.split(r"\r\n|\n|\r", text)
    last = 0
    for block in code_blocks(text):
        assert block.line > last
        last = block.line
        opening = lines[block.line - 1]
        assert opening.lstrip(" ")[:3] in {"```", "~~~"}
        assert block.info in opening
        if not opening.startswith(" "):
            assert block.body in text
        assert all(part in text for part in block.body.splitlines())
        assert block.closed or text.endswith(block.body)
    assert all(block.closed for block in code_blocks(text)[:-1])
    assert isinstance(pick_program(text, languages=("c",), entry="main"), Program | ExtractionFailed)


LINES = st.text(st.characters(exclude_characters="\r\n`~"), max_size=12)
WRITTEN = st.lists(
    st.tuples(
        st.sampled_from(["`", "~"]),
        st.integers(3, 6),
        st.integers(0, 3),
        st.sampled_from(["", "c", "python title=a.py"]),
        st.lists(LINES | st.sampled_from(["``", "`````` x", "~~~~~~ x"]), max_size=4),
        LINES,
    ),
    max_size=5,
)


@given(WRITTEN)
def test_blocks_that_were_written_are_read_back(
    written: list[tuple[str, int, int, str, list[str], str]],
) -> None:
    text, expected, line = "", [], 1
    for mark, length, indent, info, content, prose in written:
        body = "".join(f"{part}\n" for part in content)
        pad = " " * indent
        inside = "".join(f"{pad}{part}\n" for part in content)
        text += f"{pad}{mark * length}{info}\n{inside}{pad}{mark * length}\n{prose}\n"
        expected.append((info, body, line, True))
        line += len(content) + 3
    assert [(block.info, block.body, block.line, block.closed) for block in code_blocks(text)] == expected


def test_what_a_failure_tells_stays_short_however_long_the_answer() -> None:
    languages = "".join(f"```l{number}\nx\n```\n" for number in range(1000))
    failed = pick_program(languages, languages=("c",))
    assert isinstance(failed, ExtractionFailed)
    assert failed.detail == f"no block is c; there is {', '.join(f'l{n}' for n in range(10))} and 990 more"
    named = pick_program(f"```c {'a/' * 100_000}main.c\nint main(void);\n```\n", languages=("c",))
    assert isinstance(named, ExtractionFailed)
    assert (named.reason, len(named.detail) < 400) == ("unsafe_file_name", True)


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("a/" * 511 + "bc", None),
        ("a/" * 511 + "bcd", "is too long"),
        ("src/.", "names a folder"),
        ("./", "names a folder"),
        ("./main.c", None),
    ],
)
def test_a_name_is_no_folder_and_no_longer_than_any_system_takes(name: str, fault: str | None) -> None:
    assert file_name_fault(name) == fault


@given(st.text())
def test_any_name_is_judged(name: str) -> None:
    fault = file_name_fault(name)
    if fault is None:
        assert not name.startswith("/")
        assert ".." not in name.split("/")


@pytest.mark.parametrize(
    "part",
    [
        "`",
        "~~~",
        "```\n",
        "```\na\n",
        "   ```\n ",
        "a",
        "a=",
        "a='",
        'a="b',
        "a.",
        "a.-",
        "a.b",
        " ",
        "\r",
        "/",
        "{",
        "c:",
    ],
)
@pytest.mark.parametrize("before", ["", "``` ", "```c\n", '``` c a=" '])
def test_hostile_text_takes_linear_time(before: str, part: str) -> None:
    """Quadratic work on a text of this length would take minutes."""
    text = before + part * (400_000 // len(part))
    started = time.process_time()
    pick_program(text, languages=("c",), entry="main")
    code_blocks(text + "\n```\n")
    assert time.process_time() - started < 10
