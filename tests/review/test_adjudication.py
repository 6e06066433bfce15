"""Reviewers who disagree: both answers without names, and a decision that settles exactly them."""

from __future__ import annotations

import json
import re

from tests.cli.calling import Caller
from tests.projects import ShapesProject
from tests.review.packs import (
    NAME,
    PackFolder,
    export,
    findings,
    item_of,
    one_run_only,
    records,
    responses,
    review_all,
    take_in,
    write,
)


def dispute(project: ShapesProject, call: Caller) -> str:
    """Let two reviewers differ on one output; return its place."""
    one_run_only(project)
    ada = review_all(call, project, "ada")
    place = item_of(ada, ada.ids[0])
    bo = export(call, project, "bo")
    given = responses(bo, lambda entry: item_of(bo, entry) != place)
    given["reviews"][bo.ids.index(next(one for one in bo.ids if item_of(bo, one) == place))]["note"] = "no, said bo"
    assert take_in(call, project, write(project.root / "bo.yml", given)).code == 0
    return "/".join(place)


def test_a_disagreement_is_adjudicated(two_reviewers: ShapesProject, call: Caller) -> None:
    place = dispute(two_reviewers, call)
    assert "1 disagreement\n" in call(two_reviewers, "review", "status").out
    done = call(two_reviewers, "review", "export", NAME, "--reviewer", "cy", "--adjudicate")
    assert "pack cy-001-" in done.out
    assert "'bo', the name of a reviewer" in done.err, "a note that names its author is told"
    key = next((two_reviewers.eval / "review" / "keys").glob("cy-*.yml"))
    pack = PackFolder(two_reviewers.root / "build" / "review" / NAME / key.stem, key)
    (entry,) = pack.entries
    assert pack.key["kind"] == pack.data["kind"] == "adjudication"
    assert "/".join(item_of(pack, entry["id"])) == place
    verdicts = [{answer["passed"] for answer in voice["answers"].values()} for voice in entry["earlier"]]
    assert sorted(verdicts, key=str) == [{False}, {True}]
    island = json.dumps(pack.data)
    assert not re.search(r"\bada\b|\d{4}-\d\d-\d\d", island), "neither names nor times"
    assert take_in(call, two_reviewers, write(two_reviewers.root / "cy.yml", responses(pack))).code == 0
    ((_, record),) = ((path, one) for path, one in records(two_reviewers).items() if one["reviewer"] == "cy")
    assert sorted(one.partition("@")[0] for one in record["settles"]) == ["ada", "bo"]
    told = call(two_reviewers, "review", "status").out
    assert "0 disagreements" in told
    assert "cy: 0 reviewed, 1 adjudicated" in told
    nothing = call(two_reviewers, "review", "export", NAME, "--reviewer", "cy", "--adjudicate")
    assert (nothing.code, nothing.out) == (0, f"{NAME}: reviewers disagree about nothing\n")


def test_an_adjudication_of_what_has_changed_is_refused(two_reviewers: ShapesProject, call: Caller) -> None:
    dispute(two_reviewers, call)
    pack = export(call, two_reviewers, "cy", "--adjudicate")
    changed = export(call, two_reviewers, "ada", "--all")
    assert not any(entry["earlier"] for entry in changed.entries), "a review sees no other review"
    assert not any(entry["settles"] for entry in changed.key["entries"].values())
    answered = responses(changed)
    for one in answered["reviews"]:
        one["note"] = "once more"
    assert take_in(call, two_reviewers, write(two_reviewers.root / "ada2.yml", answered)).code == 0
    done = take_in(call, two_reviewers, write(two_reviewers.root / "cy.yml", responses(pack)))
    assert [rule for rule, _ in findings(done.out)] == ["other-reviews"], done.out + done.err


def test_whoever_took_part_is_told_so(two_reviewers: ShapesProject, call: Caller) -> None:
    dispute(two_reviewers, call)
    done = call(two_reviewers, "review", "export", NAME, "--reviewer", "ada", "--adjudicate")
    assert done.code == 0
    assert "ada gave some of the answers that this pack decides between" in done.err
