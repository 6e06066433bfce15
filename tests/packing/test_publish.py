"""`publish` and `site`: versions are added and never written over, and the pages load and run nothing."""

from __future__ import annotations

import gzip
import json
import secrets
import shutil
from pathlib import Path

import pytest
import yaml

from tamesu.core.packages.inventory import content_digest
from tamesu.core.report.site_check import page_problems
from tamesu.core.report.study.case import pager_script
from tamesu.edge.packages.extraction import written_files
from tamesu.edge.packages.registry import version_order
from tests.cli.calling import Caller, one_line
from tests.cli.lint_cases import write
from tests.packing.cases import ARCHIVE, CASE, PUBLICATION, published
from tests.projects import ShapesProject, fresh
from tests.shared import banked

ENTRY = Path("acme/shapes/1.0.0/entry.yml")


def published_to(
    project: ShapesProject, call: Caller, registry: Path, version: str = "1.0.0", profile: str = "full"
) -> Path:
    """Pack a version of the case and publish it, and return the archive."""
    text = project.path(PUBLICATION).read_text()
    project.path(PUBLICATION).write_text(
        "".join(
            f"version: {version}\n" if line.startswith("version:") else line for line in text.splitlines(keepends=True)
        )
    )
    archive = project.path(ARCHIVE).with_name(f"acme-shapes-{version}.tamesu.tar.gz")
    assert call(project, "pack", "shape-drawing", "--profile", profile).code == 0
    registry.mkdir(exist_ok=True)
    done = call(project, "publish", str(archive), "--registry", str(registry))
    assert (done.code, done.err) == (0, ""), done.out + done.err
    return archive


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    return tmp_path / "registry"


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_package_becomes_an_entry_with_its_payload_and_an_owner(
    case: ShapesProject, call: Caller, registry: Path
) -> None:
    archive = published_to(case, call, registry)
    entry = yaml.safe_load((registry / ENTRY).read_text())
    assert (entry["package"]["publisher"], entry["package"]["version"]) == ("acme", "1.0.0")
    payload = content(registry / ENTRY.parent / "payload")
    assert payload["case.yml"] == case.path(CASE / "case.yml").read_bytes()
    assert entry["package"]["files"] == len(payload)
    owners = yaml.safe_load((registry / "publishers/acme.yml").read_text())
    assert owners == {"schema_version": 1, "publisher": "acme", "owners": ["Ada Example"]}
    before = content(registry)
    done = call(case, "publish", str(archive), "--registry", str(registry))
    assert done.out.startswith("already there, the same content: ")
    assert content(registry) == before
    assert {path.name for path in registry.iterdir()} == {"acme", "publishers"}
    assert [path.name for path in (registry / "acme/shapes").iterdir()] == ["1.0.0"]


def test_a_version_is_never_written_over(case: ShapesProject, call: Caller, registry: Path) -> None:
    archive = published_to(case, call, registry)
    before = content(registry)
    archive.unlink()
    write(CASE / "README.md", "# Other\n")(case)
    assert call(case, "pack", "shape-drawing").code == 0
    line = one_line(call(case, "publish", str(archive), "--registry", str(registry)), 2)
    assert "holds other content under the same version; raise `version`" in line
    assert content(registry) == before


def test_owners_of_a_publisher_are_kept_and_must_be_there(case: ShapesProject, call: Caller, registry: Path) -> None:
    published_to(case, call, registry)
    owners = registry / "publishers/acme.yml"
    owners.write_text("publisher: acme\nowners: [The Drawing Group]\n")
    archive = published_to(case, call, registry, "1.0.1")
    assert "owned by The Drawing Group" in call(case, "publish", str(archive), "--registry", str(registry)).out
    owners.write_text("publisher: other\nowners: [a]\n")
    assert "is that of other" in one_line(call(case, "publish", str(archive), "--registry", str(registry)), 1)
    owners.unlink()
    write(PUBLICATION, case.path(PUBLICATION).read_text().replace("1.0.1", "1.0.2"))(case)
    assert call(case, "pack", "shape-drawing", "--output", "new.tamesu.tar.gz").code == 0
    line = one_line(call(case, "publish", "new.tamesu.tar.gz", "--registry", str(registry)), 2)
    assert "is missing although packages are there" in line


def test_a_new_publisher_gets_the_owners_that_are_named(case: ShapesProject, call: Caller, registry: Path) -> None:
    assert call(case, "pack", "shape-drawing").code == 0
    registry.mkdir()
    publish = ("publish", ARCHIVE.as_posix(), "--registry", str(registry), "--owner")
    assert "is no line of at most 200" in one_line(call(case, *publish, "a\nb"), 2)
    assert not (registry / "publishers/acme.yml").exists()
    assert "owned by The Drawing Group\n" in call(case, *publish, "The Drawing Group").out


def test_a_candidate_is_no_headline_and_a_case_page_leads_back(
    case: ShapesProject, call: Caller, registry: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    build = ("site", "build", "--registry", str(registry), "--output", str(out))
    published_to(case, call, registry, "1.0.0-rc.1")
    assert call(case, *build).code == 0
    assert "acme/shapes 1.0.0-rc.1 · full" in (out / "index.html").read_text()
    published_to(case, call, registry)
    case.edit(CASE / "case.yml", "Can a model turn", "Could a model turn")
    published_to(case, call, registry, "1.1.0-rc.1")
    assert call(case, *build).out == f"9 pages of 3 package versions: {out}\n"
    assert "acme/shapes 1.0.0, 3 versions" in (out / "index.html").read_text()
    package = (out / "acme/shapes/index.html").read_text()
    assert "Can a model turn a written scene" in package and "Could a model" not in package
    places = [package.index(f'"{version}/index.html"') for version in ("1.1.0-rc.1", "1.0.0", "1.0.0-rc.1")]
    assert places == sorted(places)
    link = '<a href="index.html">acme/shapes 1.0.0</a>'
    assert link in (out / "acme/shapes/1.0.0/case.html").read_text()
    assert call(case, "present", "shape-drawing").code == 0
    alone = case.path(Path("build/shape-drawing/index.html")).read_text()
    assert '<p class="eyebrow">Case study<span class="soft"> · shape-drawing</span></p>' in alone


def test_one_is_told_as_one(case: ShapesProject, call: Caller, registry: Path, tmp_path: Path) -> None:
    published_to(case, call, registry)
    out = tmp_path / "out"
    assert call(case, "site", "build", "--registry", str(registry), "--output", str(out)).out == (
        f"5 pages of 1 package version: {out}\n"
    )
    (out / "acme/index.html").unlink()
    assert call(case, "site", "check", str(out)).err.endswith("problems; build the site again\n")
    registry.joinpath("publishers/acme.yml").unlink()
    shutil.rmtree(registry / "acme")
    assert call(case, "site", "build", "--registry", str(registry), "--output", str(out)).code == 0
    assert call(case, "site", "check", str(out)).out == "1 page: whole, links resolve, nothing runs or loads\n"
    (out / "more.html").symlink_to("index.html")
    assert call(case, "site", "check", str(out)).err == f"tamesu: {out}: 1 problem; build the site again\n"


def review_fork(project: ShapesProject, call: Caller) -> None:
    """See that nobody packs a fork before its data was looked at, and look at it."""
    publication = Path("cases/own-shapes/publication.yml")
    for reviewer in ("nobody yet", "Me"):
        project.edit(publication, "reviewer: nobody yet", f"reviewer: {reviewer}")
        done = call(project, "pack", "own-shapes")
        assert (done.code, done.out) == (
            1,
            f"{publication}:1:1: error portable/data-review has a data_review that nobody made yet; write reviewer, "
            "date and statement of who looked, and see whether authors names all who made the case\n",
        )
    said = yaml.safe_load(project.path(publication).read_text())
    assert said["data_review"]["statement"].startswith("To be written: ")
    said["data_review"] |= {"reviewer": "Me", "statement": "The scenes are made up."}
    project.path(publication).write_text(yaml.safe_dump(said))


def test_a_fork_leads_to_what_it_was_forked_from(
    case: ShapesProject, call: Caller, registry: Path, tmp_path: Path
) -> None:
    archive = published_to(case, call, registry)
    (tmp_path / "elsewhere/cases").mkdir(parents=True)
    elsewhere = ShapesProject(tmp_path / "elsewhere")
    assert call(elsewhere, "fork", str(archive), "--publisher", "me", "--name", "own-shapes").code == 0
    review_fork(elsewhere, call)
    assert call(elsewhere, "pack", "own-shapes").code == 0
    forked = "build/packages/me-own-shapes-0.1.0.tamesu.tar.gz"
    assert call(elsewhere, "verify", forked).code == 0
    assert call(elsewhere, "publish", forked, "--registry", str(registry), "--owner", "Me").code == 0
    out = tmp_path / "out"
    assert call(elsewhere, "site", "build", "--registry", str(registry), "--output", str(out)).code == 0
    page = (out / "me/own-shapes/0.1.0/index.html").read_text()
    assert '<a href="../../../acme/shapes/1.0.0/index.html">acme/shapes 1.0.0</a>' in page


def test_c51_publishing_looks_for_secrets_once_more(
    case: ShapesProject, call: Caller, registry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = secrets.token_urlsafe(24)
    write(CASE / "README.md", f"# A\n\n{canary}\n")(case)
    assert call(case, "pack", "shape-drawing").code == 0
    registry.mkdir()
    monkeypatch.setenv("HF_TOKEN", canary)
    done = call(case, "publish", ARCHIVE.as_posix(), "--registry", str(registry))
    assert (done.code, done.out.startswith("payload/README.md:3: holds the value of HF_TOKEN [")) == (1, True)
    assert list(registry.iterdir()) == []


def test_what_is_no_package_or_no_registry_is_refused(case: ShapesProject, call: Caller, tmp_path: Path) -> None:
    write(Path("a.tar.gz"), "no archive")(case)
    one_line(call(case, "publish", "a.tar.gz", "--registry", str(tmp_path)), 1)
    assert "is no folder" in one_line(call(case, "publish", "a.tar.gz", "--registry", "nowhere"), 2)


def test_versions_are_in_semantic_order() -> None:
    wanted = ["0.9.0", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-rc.2", "1.0.0-rc.10", "1.0.0", "1.2.0", "1.10.0"]
    assert sorted(reversed(wanted), key=version_order) == wanted


def test_a_site_shows_every_version_and_passes_its_own_check(call: Caller, registry: Path, tmp_path: Path) -> None:
    source = published(banked(tmp_path / "source"))
    first = published_to(source, call, registry)
    second = published_to(source, call, registry, "1.1.0", "report-only")
    out = tmp_path / "out"
    for _ in range(2):  # a site may be built over a site
        done = call(source, "site", "build", "--registry", str(registry), "--output", str(out))
        assert (done.code, done.out, done.err) == (0, f"7 pages of 2 package versions: {out}\n", "")
    site = content(out)
    assert set(site) == {
        "index.html", "acme/index.html", "acme/shapes/index.html", "site.json",
        "acme/shapes/1.0.0/index.html", "acme/shapes/1.0.0/case.html",
        "acme/shapes/1.1.0/index.html", "acme/shapes/1.1.0/case.html",
        f"acme/shapes/1.0.0/{first.name}", f"acme/shapes/1.1.0/{second.name}",
    }  # fmt: skip
    for archive in (first, second):  # what is downloaded is what was published
        assert site[f"acme/shapes/{archive.name[12:17]}/{archive.name}"] == archive.read_bytes()
    assert f'href="{first.name}"'.encode() in site["acme/shapes/1.0.0/index.html"]
    assert b"Archive as it was published" not in site["acme/shapes/1.0.0/index.html"]
    assert b"Shape drawing" in site["index.html"] and b"acme/shapes 1.1.0, 2 versions" in site["index.html"]
    listed = json.loads(site["site.json"])
    digest = listed["packages"][0]["content_digest"]
    assert digest.encode() in site["acme/shapes/1.0.0/index.html"]
    assert b"No leader is named" in site["acme/shapes/1.0.0/case.html"]
    assert b"Not banked" not in site["acme/shapes/1.0.0/case.html"]
    assert b"Its reports are here, the evidence behind them is not" in site["acme/shapes/1.1.0/case.html"]
    assert not any(str(tmp_path).encode() in page for page in site.values())
    check = call(source, "site", "check", str(out))
    assert (check.code, check.out) == (0, "7 pages: whole, links resolve, nothing runs or loads\n")
    _damaged(call, source, out)


def _damaged(call: Caller, project: ShapesProject, out: Path) -> None:
    """Alter a site in every way that its check must see."""
    page = out / "acme/index.html"
    whole = page.read_bytes()
    page.write_bytes(whole.replace(b"</main>", b'<img src="https://example.org/a.png" alt=""></main>'))
    (out / "more.html").symlink_to(page)
    (out / "acme/shapes/1.0.0/case.html").unlink()
    with (out / "acme/shapes/1.0.0/acme-shapes-1.0.0.tamesu.tar.gz").open("ab") as archive:
        archive.write(b"more")
    done = call(project, "site", "check", str(out))
    assert done.code == 1
    for line in (
        "acme/index.html: was altered",
        "acme/index.html: loads https://example.org/a.png by <img src>",
        "more.html: is no regular file",
        "acme/shapes/1.0.0/case.html: is missing",
        "acme/shapes/1.0.0/acme-shapes-1.0.0.tamesu.tar.gz: was altered",
        "acme/shapes/1.0.0/index.html: links to case.html, which is not there",
    ):
        assert line in done.out.splitlines()


def test_a_site_is_escaped_whatever_a_package_says(call: Caller, registry: Path, tmp_path: Path) -> None:
    case = published(fresh(tmp_path / "evil"))
    evil = '<script>alert(1)</script><a href="javascript:alert(1)">'
    case.edit(PUBLICATION, "licence: CC-BY-4.0", f"licence: '{evil}'")
    case.edit(PUBLICATION, "[Ada Example]", f"['{evil}']")
    write(CASE / "README.md", f"# {evil}\n\n{evil} [x](javascript:alert(1)) ![y](https://example.org/y.png)\n")(case)
    published_to(case, call, registry)
    done = call(case, "site", "build", "--registry", str(registry), "--output", str(tmp_path / "out"))
    assert done.code == 0, done.err
    assert call(case, "site", "check", str(tmp_path / "out")).code == 0
    pages = [page for path, page in content(tmp_path / "out").items() if path.endswith(".html")]
    assert len(pages) == 5 and b"<script>alert" not in b"".join(pages)


def test_a_site_is_built_from_payloads_that_verify_into_a_folder_of_its_own(
    case: ShapesProject, call: Caller, registry: Path, tmp_path: Path
) -> None:
    published_to(case, call, registry)
    build = ("site", "build", "--registry", str(registry), "--output")
    other = tmp_path / "other"
    write(other / "mine.txt", "x")(case)
    assert "holds something that is no site" in one_line(call(case, *build, str(other)), 2)
    assert content(other) == {"mine.txt": b"x"}
    assert "holds no readable site.json" in one_line(call(case, "site", "check", str(other)), 2)
    (registry / ENTRY.parent / "payload/README.md").write_text("altered")
    assert "is not what entry.yml says (acme/shapes 1.0.0)" in one_line(call(case, *build, str(tmp_path / "out")), 1)
    assert not (tmp_path / "out").exists()
    (registry / ENTRY.parent / "payload/README.md").unlink()
    (registry / ENTRY.parent / "payload/README.md").symlink_to("case.yml")
    line = one_line(call(case, *build, str(tmp_path / "out")), 1)
    assert line.endswith("/acme/shapes/1.0.0/payload/README.md: is a link; restore the registry")


def test_a_package_that_was_published_compressed_is_offered_with_the_same_content(
    case: ShapesProject, call: Caller, registry: Path, tmp_path: Path
) -> None:
    assert call(case, "pack", "shape-drawing").code == 0
    archive = case.path(ARCHIVE)
    archive.write_bytes(gzip.compress(gzip.decompress(archive.read_bytes())))
    registry.mkdir()
    assert call(case, "publish", ARCHIVE.as_posix(), "--registry", str(registry)).code == 0
    out = tmp_path / "out"
    assert call(case, "site", "build", "--registry", str(registry), "--output", str(out)).code == 0
    assert "Archive as it was published" in (out / "acme/shapes/1.0.0/index.html").read_text()
    offered = call(case, "verify", str(out / "acme/shapes/1.0.0" / archive.name))
    assert offered.code == 0
    assert offered.out == call(case, "verify", ARCHIVE.as_posix()).out


def test_a_registry_that_holds_what_nobody_could_unpack_gives_no_site(
    case: ShapesProject, call: Caller, registry: Path, tmp_path: Path
) -> None:
    published_to(case, call, registry)
    entry, payload = registry / ENTRY, registry / ENTRY.parent / "payload"
    (payload / ".untrusted-origin").write_text("")
    found = written_files(payload)
    said = yaml.safe_load(entry.read_text())
    said["package"] |= {
        "content_digest": content_digest(found), "files": len(found), "bytes": sum(file.size for file in found),
    }  # fmt: skip
    entry.write_text(yaml.safe_dump(said))
    out = tmp_path / "out"
    line = one_line(call(case, "site", "build", "--registry", str(registry), "--output", str(out)), 1)
    assert line.startswith("acme-shapes-1.0.0.tamesu.tar.gz: ") and ".untrusted-origin" in line
    assert sorted(path.name for path in tmp_path.iterdir() if "site" in path.name or path == out) == []


GOOD = (
    '<!doctype html><html lang="en"><meta charset="utf-8">'
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    '<title>A</title><h1 id="a">A</h1>{}'
)


@pytest.mark.parametrize(
    ("html", "says"),
    [
        ("<script>alert(1)</script>", "holds a script that is none of Tamesu's"),
        ("<script src='x.js'></script>", "loads x.js by <script src>"),
        ("<p onclick='x()'>", "runs something by the attribute onclick"),
        ("<svg onload=x()></svg>", "runs something by the attribute onload"),
        ("<iframe></iframe>", "holds <iframe>"),
        ("<form></form>", "holds <form>"),
        ("<link rel=stylesheet href=a.css>", "holds <link>"),
        ("<base href='//x'>", "holds <base>"),
        ("<meta http-equiv=refresh content='0;url=//x'>", "holds <meta http-equiv=refresh>"),
        ("<style>@import 'a.css'</style>", "loads something by a style"),
        ("<style>p{background:URL( 'http://x' )}</style>", "loads something by a style"),
        ("<p style='background:url(//x)'>", "loads something by a style"),
        ("<img src='https://x/a.png' alt=''>", "loads https://x/a.png by <img src>"),
        ("<img srcset='a.png 1x' alt=''>", "loads a.png 1x by <img srcset>"),
        ("<img src='data:image/png;base64,AA'>", "holds a picture without alternative text"),
        ("<video poster='https://x/a'></video>", "loads https://x/a by <video poster>"),
        ("<svg><image href='https://x/a.png'/></svg>", "loads https://x/a.png by <image href>"),
        ("<a href='javascript:x()'>b</a>", "links to javascript:x(), which is no page of the site"),
        ("<a href='//x/y'>b</a>", "links to //x/y, which is no page of the site"),
        ("<a href='b.html'>b</a>", "links to b.html, which is not there"),
        ("<a href='../../etc/passwd'>b</a>", "links to ../../etc/passwd, which is not there"),
        ("<a href='#b'>b</a>", "links to #b, where nothing has that ID"),
        ("<p id=a>", "has the ID a 2 times"),
        ("<h1>B</h1>", "has 2 main headings, not one"),
    ],
)
def test_what_a_page_may_not_hold_is_named(html: str, says: str) -> None:
    assert f"a.html: {says}" in list(page_problems({"a.html": GOOD.format(html).encode()}, [pager_script()]))


def test_a_page_may_link_elsewhere_hold_data_and_the_script_of_case_pages() -> None:
    held = (
        f"<a href='https://example.org'>b</a><a href='#a'>c</a><script>{pager_script()}</script>"
        "<script type='application/json'>{}</script><img src='data:image/png;base64,AA' alt=''>"
    )
    assert (
        list(page_problems({"a.html": GOOD.format("").replace("{}", "").encode() + held.encode()}, [pager_script()]))
        == []
    )
    assert list(page_problems({"a.html": b"<p>"}, [])) == [
        "a.html: has no policy that forbids to load",
        "a.html: does not say its language",
        "a.html: has no title",
        "a.html: has 0 main headings, not one",
    ]
