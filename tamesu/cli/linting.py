"""The command `lint`: every finding at once, for people or for CI."""

from __future__ import annotations

from pathlib import Path

import click

from tamesu import __version__
from tamesu.base.model.finding import Finding
from tamesu.cli.case_names import cases_named
from tamesu.cli.groups import OneOf
from tamesu.cli.session import emit_json, project_here, say
from tamesu.core.lint.formats import Format, github_line, json_findings, sarif
from tamesu.edge.store.paths import Project
from tamesu.stages.lint import Linted, lint_eval, lint_path, lint_project
from tamesu.stages.portable import check_portable

_NOT_LOOKED_AT = "; secrets and the state of the evidence are looked at by `tamesu pack --dry-run CASE`"


@click.command(short_help="Check every manifest; nothing is executed.")
@click.argument("path", required=False)
@click.option(
    "--format", "form", type=OneOf([form.value for form in Format]), default="text", help="For people or for CI."
)
@click.option("--strict", is_flag=True, help="Warnings end in exit 1 as well.")
@click.option("--portable", is_flag=True, help="Also name what would not work elsewhere; PATH is a case.")
def lint(path: str | None, form: str, strict: bool, portable: bool) -> None:
    """Check manifests, prompts, datasets, images and sources; nothing is executed.

    PATH is an eval's name, a file or a folder; left out, the whole project is checked. Rules are explained in
    docs/lint.md.
    """
    project = project_here()
    linted = _portable(project, path) if portable else _lint(project, path)
    also = _NOT_LOOKED_AT if portable else ""
    _show(linted, Format(form), also, has_evals=bool(linted.evals or project.refs() or project.reported_cases()))
    if linted.errors or (strict and linted.findings):
        raise SystemExit(1)


def _lint(project: Project, path: str | None) -> Linted:
    if path is None:
        return lint_project(project)
    place = Path(path).resolve()
    if place.exists() and (place == project.root or project.root in place.parents):
        return lint_project(project) if place == project.root else lint_path(project, place)
    return lint_eval(project, project.find_ref(path))


def _portable(project: Project, path: str | None) -> Linted:
    """Check cases for what would not work elsewhere."""
    each = [check_portable(project, case).linted for case in cases_named(project, path)]
    found = {finding for linted in each for finding in linted.findings}
    return Linted(tuple(sorted(found)), sum(linted.evals for linted in each))


def _show(linted: Linted, form: Format, also: str, *, has_evals: bool) -> None:
    match form:
        case Format.JSON:
            emit_json(json_findings(linted.findings))
        case Format.SARIF:
            emit_json(sarif(linted.findings, __version__))
        case Format.GITHUB:
            _lines(linted.findings)
        case Format.TEXT:
            for finding in linted.findings:
                say(str(finding))
            if not has_evals:
                say("0 evals found; begin with `tamesu new eval EXPERIMENT/NAME` (`tamesu new --help`)")
            elif not linted.errors:
                say(f"{linted.evals} eval(s): no errors{_warnings(linted)}{also}")


def _lines(findings: tuple[Finding, ...]) -> None:
    for finding in findings:
        say(github_line(finding))


def _warnings(linted: Linted) -> str:
    count = len(linted.findings)
    return f", {count} warning{'s' * (count > 1)}" if count else ""
