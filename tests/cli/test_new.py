"""`tamesu new`: a working example at once, every mistake told, nothing overwritten."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.cli.calling import Caller, one_line
from tests.cli.scaffolded import CASE, EVAL, EXPERIMENT, NAME, STEPS, begun, contents
from tests.projects import EXAMPLE, ROOT, ShapesProject

PROJECT_FILES = {"Snakefile", "config/config.yaml", "profiles/default/config.yaml", ".gitignore"}
CASE_FILES = {"case.yml", "README.md", "datasets/word-problems-v1/dataset.yml"}
EXPERIMENT_FILES = {
    "README.md",
    "prompts/system.md",
    "prompts/direct.md.j2",
    "prompts/steps.md.j2",
    "inspect/task.py",
}
REVIEW_FILES = {"rubrics/answer.yml", "rubrics/answer.md", "inspect/card.py"}
EVAL_FILES = {"eval.yml", "recordings/answers.jsonl"}


def below(folder: Path, names: set[str]) -> set[str]:
    return {f"{folder.as_posix()}/{name}" for name in names}


ALL_FILES = PROJECT_FILES | below(CASE, CASE_FILES) | below(EXPERIMENT, EXPERIMENT_FILES) | below(EVAL, EVAL_FILES)


# --- what is written -------------------------------------------------------------------------------------


def test_each_step_names_the_files_it_wrote_and_the_next_one(tmp_path: Path, call: Caller) -> None:
    told = [call(tmp_path, "new", kind, name) for kind, name in STEPS]
    assert [(done.code, done.err) for done in told] == [(0, "")] * 3
    lines = [done.out.splitlines() for done in told]
    assert lines[0][0] == f"no project here or above: made one in {tmp_path}"
    written = {line.removeprefix("wrote ") for step in lines for line in step if line.startswith("wrote ")}
    assert written == ALL_FILES == set(contents(tmp_path))
    assert [step[-1].partition(": ")[0] for step in lines] == ["next"] * 3
    assert "`tamesu new experiment word-problems/NAME`" in lines[0][-1]
    assert "`tamesu new eval word-problems/steps-first/NAME`" in lines[1][-1]
    assert lines[2][-1] == "next: read eval.yml, then `tamesu activate replayed` and `tamesu run replayed`"


@pytest.mark.parametrize("review", [(), ("--with", "review")], ids=["plain", "review"])
def test_what_is_written_lints_clean_at_every_step(review: tuple[str, ...], tmp_path: Path, call: Caller) -> None:
    for number, (kind, name) in enumerate(STEPS):
        call(tmp_path, "new", kind, name, *(review if kind == "experiment" else ()))
        done = call(tmp_path, "lint", "--strict")
        assert done.code == 0
        assert done.out.startswith("1 eval(s): no errors" if number == 2 else "0 evals found; begin with")


def test_the_stub_and_the_settings_are_those_of_the_example(tmp_path: Path, call: Caller) -> None:
    begun(tmp_path, call)
    for name in ("Snakefile", "config/config.yaml", "profiles/default/config.yaml"):
        assert (tmp_path / name).read_text() == (EXAMPLE / name).read_text(), name


def test_the_settings_pin_the_installed_inspect(tmp_path: Path, call: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamesu.stages.scaffold.installed_inspect", lambda: "9.8.7")
    call(tmp_path, "new", "case", "word-problems")
    assert yaml.safe_load((tmp_path / "config/config.yaml").read_text()) == {"inspect_version": "9.8.7"}


def test_a_new_eval_is_a_draft_of_two_arms_answered_by_placeholders(tmp_path: Path, call: Caller) -> None:
    manifest = yaml.safe_load((begun(tmp_path, call) / EVAL / "eval.yml").read_text())
    assert manifest["name"] == "replayed"
    assert manifest["status"] == "draft"
    assert [arm["id"] for arm in manifest["arms"]] == ["direct", "steps"]
    assert manifest["runs"] == [{"provider": "replay", "model": "recorded", "arms": ["direct", "steps"]}]
    header, *answers = [json.loads(line) for line in (tmp_path / EVAL / "recordings/answers.jsonl").open()]
    assert header == {"tamesu_recording": 1, "label": "placeholders written by tamesu new: no model was called"}
    assert [(answer["item"], answer["turns"][0]["text"]) for answer in answers] == [
        ("rolls", "Answer: 25"),
        ("train", "Answer: 138"),
        ("fence", "Placeholder without an answer."),
    ]


def test_a_rubric_comes_only_with_review(tmp_path: Path, call: Caller) -> None:
    begun(tmp_path, call, "--with", "review")
    assert set(contents(tmp_path)) == ALL_FILES | below(EXPERIMENT, REVIEW_FILES)
    manifest = yaml.safe_load((tmp_path / EVAL / "eval.yml").read_text())
    assert manifest["evaluation"]["human_review"] == {"rubric": "../../rubrics/answer.yml"}
    assert manifest["execution"]["artifacts"] == {"required": ["answer", "card"], "review": "card"}


def test_the_written_python_is_clean(tmp_path: Path, call: Caller) -> None:
    begun(tmp_path, call, "--with", "review")
    folder = tmp_path / EXPERIMENT / "inspect"
    for path in folder.glob("*.py"):
        ast.parse(path.read_text())
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--line-length", "120", "--select", "E,F,I", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


# --- what is written works -------------------------------------------------------------------------------


def run_new(root: Path) -> ShapesProject:
    done = ShapesProject(root).tamesu("activate", "replayed")
    assert done.code == 0, done.out + done.err
    return ShapesProject(root)


def scores(root: Path) -> dict[tuple[str, str], tuple[str, float | None]]:
    """Return state and score by arm and item."""
    found = {}
    for path in (root / EVAL / "runs").glob("*/items/*/result.yml"):
        record = yaml.safe_load(path.read_text())
        value = record["scores"].get("right_number", {}).get("value")
        arm = path.parents[2].name.split("--")[1]
        found[arm, path.parent.name] = (record["state"], value)
    return found


@pytest.mark.long
def test_what_is_written_runs_at_once(tmp_path: Path, call: Caller) -> None:
    project = run_new(begun(tmp_path, call))
    done = project.tamesu("run")
    assert (done.code, done.err) == (0, "")
    assert f"{NAME}: evidence complete" in done.out
    assert re.search(r"recorded +direct +3/3 +0\.667 ", done.out)
    assert re.search(r"recorded +steps +3/3 +0\.667 ", done.out)
    assert "No leader is named" in done.out


@pytest.mark.long
def test_with_review_it_runs_and_awaits_review(tmp_path: Path, call: Caller) -> None:
    project = run_new(begun(tmp_path, call, "--with", "review"))
    done = project.tamesu("run")
    assert (done.code, done.err) == (0, "")
    assert f"{NAME}: awaiting review" in done.out
    results = [yaml.safe_load(path.read_text()) for path in (tmp_path / EVAL / "runs").glob("*/items/*/result.yml")]
    assert [result["outcome"]["status"] for result in results] == ["generated"] * 6


ANSWERS = {
    "rolls": ("12 * 7 = 84\n84 - 59 = 25\n\n**Answer:** 25.", 1.0),
    "train": ("Answer: 1\nNo, that is wrong.\nAnswer: 138", 1.0),
    "fence": ("Answer: 10", 0.0),
    "debt": ("answer: -1,200.50", 1.0),
    "silent": ("", 0.0),
    "prose": ("It is 7.", 0.0),
    "unit": ("Answer: 7 rolls", 0.0),
}
EXTRA = """\
  - {id: debt, input: {problem: a}, expected: -1200.5}
  - {id: silent, input: {problem: b}, expected: "7"}
  - {id: prose, input: {problem: c}, expected: 7}
  - {id: unit, input: {problem: d}, expected: 7}
  - {id: broken, input: {problem: e}, expected: many}
  - {id: cut, input: {problem: f}, expected: 7}
"""


@pytest.mark.long
def test_the_scorer_reads_the_last_answer_line_and_fails_no_item_by_its_answer(tmp_path: Path, call: Caller) -> None:
    begun(tmp_path, call)
    with (tmp_path / CASE / "datasets/word-problems-v1/dataset.yml").open("a") as dataset:
        dataset.write(EXTRA)
    manifest = tmp_path / EVAL / "eval.yml"
    manifest.write_text(manifest.read_text().replace("    arms: [direct, steps]", "    arms: [direct]"))
    turns = {item: {"text": text} for item, (text, _) in ANSWERS.items()}
    turns |= {"broken": {"text": "Answer: 7"}, "cut": {"text": "Answer: 7", "stop_reason": "max_tokens"}}
    lines: list[object] = [{"tamesu_recording": 1, "label": "made up for a test"}]
    lines += [{"item": item, "turns": [turn]} for item, turn in turns.items()]
    (tmp_path / EVAL / "recordings/answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = run_new(tmp_path).tamesu("run")
    assert done.code == 1  # one item has no score
    found = scores(tmp_path)
    expected = {("direct", item): ("complete", value) for item, (_, value) in ANSWERS.items()}
    assert {key: found[key] for key in expected} == expected
    assert found["direct", "cut"] == ("complete", 0.0)
    # a dataset's mistake is neither a wrong answer nor asked again for money
    record = yaml.safe_load(next((tmp_path / EVAL / "runs").glob("*/items/broken/result.yml")).read_text())
    assert (record["state"], record["error"]["type"]) == ("failed", "MissingScore")
    assert ShapesProject(tmp_path).tamesu("run").code == 1
    calls = [json.loads(line)["item"] for line in (tmp_path / ".tamesu/replay-calls.jsonl").open()]
    assert calls.count("broken") == 1


# --- options of new eval ---------------------------------------------------------------------------------


def new_eval(root: Path, call: Caller, *options: str) -> dict[str, object]:
    done = call(root, "new", "eval", "steps-first/other", *options)
    assert (done.code, done.err) == (0, "")
    return yaml.safe_load((root / EXPERIMENT / "evals/other/eval.yml").read_text())


@pytest.mark.parametrize(
    ("wanted", "items"),
    [
        ("all", "all"),
        ("2", {"first": 2}),
        ("fence", {"ids": ["fence"]}),
        ("fence,rolls", {"ids": ["fence", "rolls"]}),
    ],
)
def test_items_are_selected_by_number_or_name(wanted: str, items: object, tmp_path: Path, call: Caller) -> None:
    manifest = new_eval(begun(tmp_path, call), call, "--items", wanted)
    assert manifest["defaults"]["items"] == items
    assert call(tmp_path, "lint", "--strict").code == 0


def test_options_reach_the_manifest(tmp_path: Path, call: Caller) -> None:
    options = ("--model", "null", "--repetitions", "3", "--budget-usd", "0.005")
    manifest = new_eval(begun(tmp_path, call), call, *options)
    assert manifest["runs"][0]["model"] == "null"
    assert manifest["defaults"]["repetitions"] == 3
    assert manifest["defaults"]["budget_usd"] == 0.005
    assert call(tmp_path, "lint", "--strict").code == 0


def test_another_provider_gets_no_recordings_and_is_told_what_is_missing(tmp_path: Path, call: Caller) -> None:
    begun(tmp_path, call)
    done = call(tmp_path, "new", "eval", "steps-first/live", "--provider", "openai-api/own", "--model", "some/model:1")
    assert (done.code, done.err) == (0, "")
    folder = EXPERIMENT / "evals/live"
    assert set(contents(tmp_path / folder)) == {"eval.yml"}
    manifest = yaml.safe_load((tmp_path / folder / "eval.yml").read_text())
    assert manifest["runs"][0]["provider"] == "openai-api/own"
    assert manifest["runs"][0]["model"] == "some/model:1"
    assert "recordings" not in manifest["defaults"]["parameters"]
    assert re.search(rf"^{folder}/eval\.yml:\d+:5: error price/unknown openai-api/own/some/model:1 ", done.out, re.M)
    assert done.out.splitlines()[-1].startswith("next: correct what is named above, then ")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--provider", "antropic", "--model", "x"), "no provider named 'antropic'; did you mean anthropic?"),
        (("--provider", "anthropic"), "provider 'anthropic' needs a model; add --model MODEL"),
        (("--items", "fense"), "no item named 'fense'; did you mean fence?"),
        (("--items", "4"), "--items 4: dataset word-problems-v1 holds 3 items; use 1 to that many"),
        (("--items", "0"), "--items 0: dataset word-problems-v1 holds 3 items; use 1 to that many"),
        (("--budget-usd", "nan"), "--budget-usd nan: is no amount in US dollars; give a number from 0 up"),
        (("--budget-usd", "-1"), "--budget-usd -1.0: is no amount in US dollars; give a number from 0 up"),
        (("--dataset", "word-problem-v1"), "no dataset named 'word-problem-v1'; did you mean word-problems-v1?"),
    ],
)
def test_a_wish_that_cannot_be_met_writes_nothing(
    options: tuple[str, ...], says: str, tmp_path: Path, call: Caller
) -> None:
    before = contents(begun(tmp_path, call))
    assert one_line(call(tmp_path, "new", "eval", "steps-first/other", *options), 2) == says
    assert contents(tmp_path) == before
    assert not (tmp_path / EXPERIMENT / "evals/other").exists()


def test_a_new_eval_follows_the_experiment_as_it_was_edited(tmp_path: Path, call: Caller) -> None:
    begun(tmp_path, call)
    prompts = tmp_path / EXPERIMENT / "prompts"
    (prompts / "steps.md.j2").rename(prompts / "checklist.md.j2")
    (prompts / "bare.md").write_text("Compute.\n")
    task = tmp_path / EXPERIMENT / "inspect/task.py"
    task.write_text(task.read_text().replace("word_problem(", "riddle(").replace("right_number(", "exact("))
    manifest = new_eval(tmp_path, call)
    assert [arm["id"] for arm in manifest["arms"]] == ["bare", "checklist", "direct"]
    assert manifest["execution"]["task"] == "riddle"
    assert manifest["evaluation"]["mechanical"] == [{"exact": {"pass_at": 1.0}}]
    assert manifest["metrics"]["primary"] == "mean_score:exact"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("def broken(:\n", "task.py:1: is not Python: "),
        ("x = 1\n", "task.py: declares no @task function; "),
        ("from inspect_ai import task\n@task\ndef one(dataset): ...\n", "task.py: declares no @scorer function; "),
    ],
)
def test_a_task_that_cannot_be_read_is_named(text: str, says: str, tmp_path: Path, call: Caller) -> None:
    begun(tmp_path, call)
    (tmp_path / EXPERIMENT / "inspect/task.py").write_text(text)
    assert says in one_line(call(tmp_path, "new", "eval", "steps-first/other"), 2)


# --- names -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Word Problems", "did you mean word-problems?"),
        ("word_problems", "did you mean word-problems?"),
        ("Übung", "did you mean ubung?"),
        ("-a-", "did you mean a?"),
        ("a--b", "did you mean a-b?"),
        ("..", "for example word-problems"),
        ("con", "is a device's name on some systems"),
        ("lpt1", "is a device's name on some systems"),
        ("a" * 101, "use at most 100"),
        ("a\n", "did you mean a?"),
        ("日本", "for example word-problems"),
    ],
)
@pytest.mark.parametrize("kind", ["case", "experiment", "eval"])
def test_a_name_that_is_no_id_is_refused_with_one_that_is(
    kind: str, name: str, says: str, tmp_path: Path, call: Caller
) -> None:
    if kind != "case":
        begun(tmp_path, call)
    before = contents(tmp_path)
    within = {"case": "", "experiment": "word-problems/", "eval": "steps-first/"}[kind]
    line = one_line(call(tmp_path, "new", kind, "--", f"{within}{name}"), 2)
    assert says in line
    assert contents(tmp_path) == before
    assert kind != "case" or not (tmp_path / "cases").exists()


@pytest.mark.parametrize("name", ["123", "1e5", "0x1f", "null", "true", "007", "2024-01-01", "no", "on", "y"])
def test_names_that_yaml_would_read_otherwise_stay_names(name: str, tmp_path: Path, call: Caller) -> None:
    for kind, full in (("case", name), ("experiment", f"{name}/{name}"), ("eval", f"{name}/{name}/{name}")):
        done = call(tmp_path, "new", kind, full)
        assert (done.code, done.err) == (0, "")
    assert call(tmp_path, "lint", "--strict").code == 0, call(tmp_path, "lint").out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("experiment", "word-problem/x"), "no case named 'word-problem'; did you mean word-problems?"),
        (("eval", "word-problem/steps-first/x"), "no case named 'word-problem'; did you mean word-problems?"),
        (("eval", "step-first/x"), "no experiment named 'step-first'; did you mean steps-first"),
        (("eval", "word-problems/step-first/x"), "did you mean word-problems/steps-first"),
        (("eval", "a/b/c/d"), "'a/b/c/d' cannot name an eval: write CASE/EXPERIMENT/NAME"),
        (("experiment", "a/b/c"), "'a/b/c' cannot name an experiment: write CASE/NAME"),
        (("eval", ""), "'' cannot name an eval: write CASE/EXPERIMENT/NAME"),
    ],
)
def test_an_unknown_place_names_the_nearest(
    arguments: tuple[str, ...], says: str, tmp_path: Path, call: Caller
) -> None:
    before = contents(begun(tmp_path, call))
    assert says in one_line(call(tmp_path, "new", *arguments), 2)
    assert contents(tmp_path) == before


def test_places_may_be_left_out_while_there_is_one(tmp_path: Path, call: Caller) -> None:
    begun(tmp_path, call)
    assert call(tmp_path, "new", "experiment", "shorter").code == 0
    assert (tmp_path / CASE / "experiments/shorter/README.md").is_file()
    line = one_line(call(tmp_path, "new", "eval", "third"), 2)
    assert line == (
        "several experiments are here: word-problems/shorter, word-problems/steps-first; write EXPERIMENT/NAME"
    )
    call(tmp_path, "new", "case", "other")
    line = one_line(call(tmp_path, "new", "experiment", "third"), 2)
    assert line == "several cases are here: other, word-problems; write CASE/NAME"


def test_an_experiment_of_two_cases_must_be_said(tmp_path: Path, call: Caller) -> None:
    begun(tmp_path, call)
    call(tmp_path, "new", "case", "other")
    call(tmp_path, "new", "experiment", "other/steps-first")
    line = one_line(call(tmp_path, "new", "eval", "steps-first/x"), 2)
    assert line.startswith("several experiments are named 'steps-first': other/steps-first, word-problems/steps-first;")


@pytest.mark.parametrize("arguments", [("experiment", "a"), ("eval", "a/b")])
def test_outside_a_project_the_first_step_is_named(arguments: tuple[str, ...], tmp_path: Path, call: Caller) -> None:
    assert "`tamesu new case NAME`" in one_line(call(tmp_path, "new", *arguments), 2)
    assert contents(tmp_path) == {}


def test_a_case_without_experiment_names_the_next_step(tmp_path: Path, call: Caller) -> None:
    call(tmp_path, "new", "case", "word-problems")
    line = one_line(call(tmp_path, "new", "eval", "first"), 2)
    assert line == "there is no experiment here; begin with `tamesu new experiment CASE/NAME`"


# --- nothing is overwritten ------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [0, 1, 2])
def test_what_exists_is_refused_and_untouched(number: int, tmp_path: Path, call: Caller) -> None:
    before = contents(begun(tmp_path, call))
    line = one_line(call(tmp_path, "new", *STEPS[number]), 2)
    place = (CASE, EXPERIMENT, EVAL)[number].as_posix()
    assert line == f"{place}: exists already; nothing was written, choose another name"
    assert contents(tmp_path) == before


@pytest.mark.parametrize("what", ["empty folder", "file", "link to nowhere"])
def test_anything_of_that_name_is_refused(what: str, tmp_path: Path, call: Caller) -> None:
    begun(tmp_path, call)
    target = tmp_path / EXPERIMENT / "evals/other"
    match what:
        case "empty folder":
            target.mkdir()
        case "file":
            target.write_text("mine")
        case _:
            target.symlink_to(tmp_path / "nowhere")
    assert "exists already" in one_line(call(tmp_path, "new", "eval", "steps-first/other"), 2)
    assert not (tmp_path / "nowhere").exists()


def test_a_folder_that_leads_out_of_the_project_is_refused(tmp_path: Path, call: Caller) -> None:
    root = begun(tmp_path / "project", call)
    outside = tmp_path / "outside"
    shutil.move(root / EXPERIMENT / "evals", outside)
    (root / EXPERIMENT / "evals").symlink_to(outside)
    before = contents(outside)
    assert "leads out of the project" in one_line(call(root, "new", "eval", "steps-first/other"), 2)
    assert contents(outside) == before


def test_a_foreign_snakefile_is_refused_before_anything_is_written(tmp_path: Path, call: Caller) -> None:
    (tmp_path / "Snakefile").write_text("rule all:\n    input: []\n")
    line = one_line(call(tmp_path, "new", "case", "word-problems"), 2)
    assert line.startswith("Snakefile: is here already and not Tamesu's; ")
    assert set(contents(tmp_path)) == {"Snakefile"}


def test_a_gitignore_and_files_of_an_earlier_try_stay(tmp_path: Path, call: Caller) -> None:
    (tmp_path / ".gitignore").write_text("mine\n")
    (tmp_path / "Snakefile").write_bytes((EXAMPLE / "Snakefile").read_bytes())
    done = call(tmp_path, "new", "case", "word-problems")
    assert (done.code, done.err) == (0, "")
    assert "kept  .gitignore, as it was" in done.out
    assert "kept  Snakefile, as it was" in done.out
    assert (tmp_path / ".gitignore").read_text() == "mine\n"


def test_below_a_project_the_case_joins_it(tmp_path: Path, call: Caller) -> None:
    begun(tmp_path, call)
    done = call(tmp_path / CASE, "new", "case", "other")
    assert "made one" not in done.out
    assert (tmp_path / "cases/other/case.yml").is_file()
    assert not (tmp_path / CASE / "cases").exists()


def test_a_failure_midway_leaves_no_half_eval(tmp_path: Path, call: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    before = contents(begun(tmp_path, call))

    def full(path: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device", str(path))

    with monkeypatch.context() as patch:
        patch.setattr("tamesu.stages.scaffold.write_exclusive", full)
        assert "the disk is full" in one_line(call(tmp_path, "new", "eval", "steps-first/other"), 2)
    assert contents(tmp_path) == before
    assert call(tmp_path, "new", "eval", "steps-first/other").code == 0


# --- help ------------------------------------------------------------------------------------------------


def test_help_of_new_shows_the_three_steps_in_order(tmp_path: Path, call: Caller) -> None:
    done = call(tmp_path, "new", "--help", columns=80)
    steps = [line.split() for line in done.out.splitlines() if line.strip().startswith("tamesu new ")]
    assert [step[2] for step in steps] == ["case", "experiment", "eval"]
    commands = done.out.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in commands if re.match(r"  \S", line)] == ["case", "experiment", "eval"]
    for step in steps:  # what help shows works as it stands
        assert call(tmp_path, *step[1:]).code == 0


@pytest.mark.parametrize("columns", [80])
def test_no_line_of_a_first_session_but_paths_and_next_steps_is_wide(
    columns: int, tmp_path: Path, call: Caller
) -> None:
    for kind, name in STEPS:
        for line in call(tmp_path, "new", kind, name, columns=columns).out.splitlines():
            assert len(line) <= columns + 20 or line.startswith(("wrote ", "no project"))


def test_the_wheel_holds_the_templates(tmp_path: Path) -> None:
    """What hatch selects for the wheel, without building one."""
    code = (
        "from hatchling.builders.wheel import WheelBuilder\n"
        f"for f in WheelBuilder({str(ROOT)!r}).recurse_included_files(): print(f.distribution_path)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    held = set(done.stdout.splitlines())
    templates = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tamesu/scaffold").rglob("*") if path.is_file()}
    assert len(templates) >= 14
    assert templates <= held
