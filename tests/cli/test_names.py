"""Every unknown name on the command line and in a manifest is answered with the one that was probably meant."""

from __future__ import annotations

import pytest

from tamesu.base.errors import UnknownName
from tests.cli.calling import Caller, one_line
from tests.projects import ShapesProject


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("statsu",), "No such command 'statsu'. Did you mean status?"),
        (("activte", "replayed"), "No such command 'activte'. Did you mean activate?"),
        (("new", "exeriment", "a/b"), "No such command 'exeriment'. Did you mean experiment?"),
        (("status", "--jsno"), "No such option '--jsno'. Did you mean '--json'?"),
        (("list", "--jsno"), "No such option '--jsno'. Did you mean '--json'?"),
        (("new", "eval", "x", "--modle", "y"), "No such option '--modle'. Did you mean '--model'?"),
        (("new", "experiment", "x", "--with", "reveiw"), "'reveiw' is not 'review'. Did you mean review?"),
        (("lint", "--format", "jsn"), "Did you mean json?"),
        (("where", "snakefle"), "Did you mean snakefile?"),
    ],
)
def test_commands_options_and_choices(
    arguments: tuple[str, ...], meant: str, shapes: ShapesProject, call: Caller
) -> None:
    done = call(shapes, *arguments)
    assert (done.code, done.out) == (2, "")
    reason = done.err.splitlines()[-1]
    assert reason.startswith("Error: ")
    assert reason.endswith(meant)


@pytest.mark.parametrize("name", ["excute", "ingst"])
def test_plumbing_is_not_suggested(name: str, shapes: ShapesProject, call: Caller) -> None:
    hint = call(shapes, name).err.splitlines()[-1].partition("Did you mean ")[2]
    assert "execute" not in hint
    assert "ingest" not in hint


@pytest.mark.parametrize("command", ["lint", "plan", "status", "run", "resume", "rescore", "report", "activate"])
def test_evals(command: str, shapes: ShapesProject, call: Caller) -> None:
    assert one_line(call(shapes, command, "replayd"), 2) == "no eval named 'replayd'; did you mean replayed?"


@pytest.mark.parametrize(
    ("old", "new", "meant"),
    [
        ("arms: [terse, worked-example]", "arms: [terse, worked-exmple]", "did you mean worked-example?"),
        ("[render_rate,", "[render_rat,", "did you mean render_rate"),
        ("mean_score:scene_coverage", "mean_score:scene_coverge", "did you mean mean_score:scene_coverage"),
        ("requires: [mechanical,", "requires: [mechancal,", "did you mean mechanical?"),
        ("provider: replay", "provider: replya", "did you mean replay?"),
        ("ids: [red-sun", "ids: [red-sn", "did you mean red-sun"),
        ("task: draw_scene", "task: draw_scen", "did you mean draw_scene?"),
        ("status: active", "status: actve", "did you mean 'active'?"),
        ("tolerate_failed", "tolerat_failed", "did you mean 'tolerate_failed'?"),
        ("prompts/terse.md.j2", "prompts/tersed.md.j2", "did you mean terse.md.j2?"),
    ],
)
def test_names_in_a_manifest(old: str, new: str, meant: str, shapes: ShapesProject, call: Caller) -> None:
    shapes.edit_eval(old, new)
    lines = call(shapes, "lint").out.splitlines()
    assert any("/eval.yml:" in line and meant in line for line in lines), lines


def test_only_likely_names_are_said_and_in_one_line() -> None:
    assert str(UnknownName("provider", "antropic", ["anthropic", "openai", "bedrock"])) == (
        "no provider named 'antropic'; did you mean anthropic?"
    )
    assert str(UnknownName("eval", "a\nb", [])) == "no eval named 'a\\u000ab'; there is no eval here"
    assert str(UnknownName("eval", "zzz", ["one", "two"])) == "no eval named 'zzz'; known: one, two"
