"""A real project, a real browser: from evidence to a pack, to answers, to records and a verdict."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.browser import browser
from tests.cli.calling import Caller
from tests.projects import ShapesProject
from tests.review.packs import NAME, export, item_of, records, responses, take_in, write


def test_from_evidence_to_a_verdict(banked_shapes: ShapesProject, tmp_path: Path, call: Caller) -> None:
    run = sorted(run for run in banked_shapes.run_ids() if run.startswith("sketcher-large--worked-example"))[0]
    pack = export(call, banked_shapes, "ada", "--run", run)
    assert len(pack.ids) == 3
    with browser() as tab:
        tab.downloads_to(tmp_path / "down")
        tab.open(pack.folder / "review.html")
        tab.wait_for("document.images.length === 1 && document.images[0].naturalWidth > 0")
        for keys in ("yyyj", "ynbyj", "yyy"):
            for key in keys:
                tab.press(key)
        tab.click("#download")
        tab.wait_for_download()
        assert tab.messages == []
        assert not [url for url in tab.requests if not url.startswith(("file:", "data:", "blob:"))]

    done = take_in(call, banked_shapes, tmp_path / "down" / "responses.yml")
    assert (done.code, done.err) == (0, "")
    found = {(one["run_id"], one["item"]): one for one in records(banked_shapes).values()}
    assert set(found) == {item_of(pack, entry) for entry in pack.ids}
    verdicts = [
        [(answer["passed"], answer["reason"]) for answer in found[item_of(pack, entry)]["answers"].values()]
        for entry in pack.ids
    ]
    yes = (True, "none")
    assert verdicts == [[yes, yes, yes], [yes, (False, "wrong-size"), yes], [yes, yes, yes]]
    status = json.loads(call(banked_shapes, "review", "status", "--json").out)[0]
    assert (status["done"], status["owed"]) == (3, 19)


def test_two_imports_at_once_write_each_review_once(banked_shapes: ShapesProject, call: Caller) -> None:
    pack = export(call, banked_shapes)
    file = write(banked_shapes.root / "r.yml", responses(pack))
    command = [sys.executable, "-m", "tamesu", "review", "import", NAME, str(file)]
    both = [
        subprocess.Popen(command, cwd=banked_shapes.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    told = [one.communicate(timeout=120) for one in both]
    assert [one.returncode for one in both] == [0, 0], told
    assert sorted("already imported" in out for out, _ in told) == [False, True]
    assert len(records(banked_shapes)) == len(pack.ids)
