"""What identity leaves out owes nothing: the old runs stay banked, whatever else is added beside them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.projects import DATASET, EVAL, EXPERIMENT, ITEMS, ShapesProject
from tests.workflow.situations import (
    BANKED_USD,
    CALLS,
    PAY,
    PAYING,
    RUNS,
    VIEWS,
    Bill,
    add_price,
    answer,
    bill,
    derived,
    digests,
    evidence,
    forget,
    found,
    kept,
    owed,
    record_answers,
)

MANIFEST = EVAL / "eval.yml"
PROMPT = EXPERIMENT / "prompts/terse.md.j2"
PAYING_RULES = {"freeze", "execute", "ingest", "run_record", "complete"}
Edit = Callable[[ShapesProject], None]


def _replaced(old: str, new: str) -> Edit:
    return lambda project: project.edit_eval(old, new)


def _dataset(old: str, new: str) -> Edit:
    return lambda project: project.edit(DATASET, old, new)


def _appended(relative: Path, text: str) -> Edit:
    def edit(project: ShapesProject) -> None:
        path = project.path(relative)
        path.write_text(path.read_text() + text)

    return edit


def _crlf(*relatives: Path) -> Edit:
    def edit(project: ShapesProject) -> None:
        for relative in relatives:
            path = project.path(relative)
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    return edit


def _bom(*relatives: Path) -> Edit:
    def edit(project: ShapesProject) -> None:
        for relative in relatives:
            path = project.path(relative)
            path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())

    return edit


def _keys_reversed(project: ShapesProject) -> None:
    def turned(value: object) -> object:
        if isinstance(value, dict):
            return {key: turned(value[key]) for key in reversed(value)}
        return [turned(one) for one in value] if isinstance(value, list) else value

    for relative in (MANIFEST, DATASET):
        path = project.path(relative)
        path.write_text(yaml.safe_dump(turned(yaml.safe_load(path.read_text())), sort_keys=False, allow_unicode=True))


FORMATTING: dict[str, Edit] = {
    "comment": _appended(MANIFEST, "\n# read me\n"),
    "key-order": _keys_reversed,
    "crlf-manifest": _crlf(MANIFEST),
    "crlf-prompt": _crlf(PROMPT),
    "crlf-dataset": _crlf(DATASET),
    "bom": _bom(MANIFEST, PROMPT, DATASET),
    "prompt-path-spelled-otherwise": _replaced(
        "prompts: {system: ../../prompts/system.md", "prompts: {system: ../../prompts/./system.md"
    ),
}
SETTINGS: dict[str, Edit] = {
    "concurrency": _replaced("concurrency: 4", "concurrency: 2"),
    "budget": _replaced("budget_usd: 20.00", "budget_usd: 30.00"),
    "status": _replaced("status: active", "status: complete"),
    "question": _replaced("question: Does", "question: When does"),
    "description": _replaced("description: Two prompts", "description: Both prompts"),
    "arm-description": _replaced("description: The scene and one", "description: A scene and one"),
    "secondary-metrics": _replaced("[render_rate, mechanical_pass_rate, accepted_rate]", "[render_rate]"),
    "primary-metric": _replaced('primary: "mean_score:scene_coverage"', 'primary: "mean_score:valid_program"'),
    "pass-at": _replaced("pass_at: 0.8", "pass_at: 0.5"),
    "adjudication": _replaced("on_disagreement: adjudicate", "on_disagreement: reject"),
    "tolerate-failed": _replaced("tolerate_failed: 0", "tolerate_failed: 0.5"),
    "max-attempts": _replaced("max_attempts: 3", "max_attempts: 5"),
    "unselected-item-edited": _dataset("A tall black box", "A very tall black box"),
    "unselected-item-added": _appended(
        DATASET, "  - {id: new-scene, input: {scene: A dot.}, expected: {shapes: []}, metadata: {difficulty: easy}}\n"
    ),
    "selection-in-another-order": _replaced(f"ids: [{', '.join(ITEMS)}]", f"ids: [{', '.join(reversed(ITEMS))}]"),
}


@pytest.mark.parametrize("name", FORMATTING)
def test_formatting_never_makes_a_job(banked_paid_shapes: ShapesProject, name: str) -> None:
    FORMATTING[name](banked_paid_shapes)
    assert banked_paid_shapes.jobs(config=PAY) == {}
    assert bill(banked_paid_shapes) == Bill(CALLS, BANKED_USD)


@pytest.mark.parametrize("name", SETTINGS)
def test_what_is_no_identity_owes_nothing(banked_paid_shapes: ShapesProject, name: str) -> None:
    SETTINGS[name](banked_paid_shapes)
    jobs = banked_paid_shapes.jobs(config=PAY)
    assert not PAYING_RULES & set(jobs), jobs
    assert banked_paid_shapes.states() == {"banked": RUNS}
    assert found(banked_paid_shapes, "stale") == {}


def test_all_of_it_at_once_asks_and_pays_nothing(banked_paid_shapes: ShapesProject) -> None:
    project, before = banked_paid_shapes, evidence(banked_paid_shapes)
    for name, edit in {**SETTINGS, **FORMATTING}.items():
        if name != "key-order":
            edit(project)
    assert project.tamesu("lint").code == 0
    assert project.states() == {"banked": RUNS}
    assert project.snakemake(*PAYING).code == 0
    assert project.tamesu("run").code == 0
    assert bill(project) == Bill(CALLS, BANKED_USD)
    assert evidence(project) == before
    assert project.jobs(config=PAY) == {}


@pytest.mark.parametrize("lost", [(), (".snakemake",), (".snakemake", ".tamesu")], ids=["warm", "no-snakemake", "cold"])
def test_a_changed_policy_is_free_and_shown(banked_paid_shapes: ShapesProject, lost: tuple[str, ...]) -> None:
    project = banked_paid_shapes
    before, views, paid = evidence(project), derived(project), project.spent()
    results = digests(project.eval / "runs")
    project.edit_eval("pass_at: 0.8", "pass_at: 0.3")
    forget(project, *lost)
    assert project.jobs(config=PAY) == VIEWS
    assert project.snakemake(*PAYING).code == 0
    assert project.spent() == paid
    assert evidence(project) == before
    now = digests(project.eval / "runs")
    assert {name for name in now if now[name] != results[name]} <= {n for n in now if n.endswith("/report.yml")}
    assert all(
        content != views[name] for name, content in derived(project).items() if not name.endswith((".csv", ".parquet"))
    )

    status = project.tamesu("status").out
    report = project.path(EVAL / "evaluation-report.md").read_text()
    for text in (status, report):
        [line] = [line for line in text.splitlines() if "policy changed" in line.lower()]
        assert "0.8" in line
        assert "0.3" in line
    assert project.jobs(config=PAY) == {}

    project.edit_eval("pass_at: 0.3", "pass_at: 0.8")
    assert project.jobs(config=PAY) == VIEWS
    assert project.snakemake(*PAYING).code == 0
    assert derived(project) == views


def test_an_added_arm_owes_its_own_runs_alone(banked_paid_shapes: ShapesProject) -> None:
    project, before = banked_paid_shapes, evidence(banked_paid_shapes)
    record_answers(project, [answer(item) for item in ITEMS], EXPERIMENT / "recordings/extra.jsonl")
    project.path(EXPERIMENT / "prompts/brief.md.j2").write_text("Draw: {{ item.input.scene }}\n")
    project.edit_eval(
        "\nruns:\n",
        "  - id: brief\n"
        "    prompts: {system: ../../prompts/system.md, user: ../../prompts/brief.md.j2}\n"
        "    parameters: {recordings: ../../recordings/extra.jsonl}\n"
        "\nruns:\n",
    )
    project.edit_eval("arms: [terse, worked-example]", "arms: [terse, worked-example, brief]")
    assert project.jobs(config=PAY)["execute"] == 4
    assert project.states() == {"banked": RUNS, "owed": 4}
    assert all("--brief--" in run for run in owed(project))
    assert project.tamesu("run").code == 0
    # 100 tokens in and 50 out an answer, six answers of each model
    extra = 6 * (100 * 1.0 + 50 * 4.0) / 1e6 + 6 * (100 * 3.0 + 50 * 15.0) / 1e6
    assert bill(project) == Bill(CALLS, BANKED_USD).plus(12, extra)
    assert kept(before, evidence(project), appended=["ledger.jsonl"])
    assert project.states() == {"banked": RUNS + 4}


def test_an_added_model_owes_its_own_runs_alone(banked_paid_shapes: ShapesProject) -> None:
    add_price(banked_paid_shapes, "sketcher-third")
    banked_paid_shapes.edit_eval(
        "\nevaluation:\n", "  - provider: replay\n    model: sketcher-third\n    arms: [terse]\n\nevaluation:\n"
    )
    assert banked_paid_shapes.jobs(config=PAY)["execute"] == 2
    assert banked_paid_shapes.states() == {"banked": RUNS, "owed": 2}
    assert all(run.startswith("sketcher-third--") for run in owed(banked_paid_shapes))


def test_an_added_repetition_owes_its_own_runs_alone(banked_paid_shapes: ShapesProject) -> None:
    banked_paid_shapes.edit_eval("repetitions: 2", "repetitions: 3")
    assert banked_paid_shapes.jobs(config=PAY)["execute"] == 4
    assert banked_paid_shapes.states() == {"banked": RUNS, "owed": 4}
    assert all("--rep3--" in run for run in owed(banked_paid_shapes))


def test_the_runs_of_a_removed_arm_are_extra_and_kept(banked_paid_shapes: ShapesProject) -> None:
    project, before, views = banked_paid_shapes, evidence(banked_paid_shapes), derived(banked_paid_shapes)
    manifest = project.manifest.read_text()
    project.edit_eval("arms: [terse, worked-example]", "arms: [worked-example]")
    assert project.jobs(config=PAY) == VIEWS
    assert project.snakemake(*PAYING).code == 0
    assert project.states() == {"banked": 4}
    assert set(found(project, "extra")) == {run for run in project.run_ids() if "--terse--" in run}
    assert len(found(project, "extra")) == 4
    assert evidence(project) == before
    assert bill(project) == Bill(CALLS, BANKED_USD)
    assert "--terse--" not in project.path(EVAL / "tables/items.csv").read_text()

    project.manifest.write_text(manifest)
    assert project.states() == {"banked": RUNS}
    assert project.snakemake(*PAYING).code == 0
    assert derived(project) == views
    assert bill(project) == Bill(CALLS, BANKED_USD)
