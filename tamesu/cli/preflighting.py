"""The command `preflight`: every check before money is spent, one line each, and the record kept."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace

import click

from tamesu.base.model.endpoint import Check, PreflightRecord
from tamesu.base.model.manifest import EvalRef
from tamesu.cli.config_dir import config_dir_option
from tamesu.cli.session import chosen, emit_json, project_here, say, say_coloured, warn
from tamesu.cli.trusting import trust_option, words
from tamesu.stages.preflight import Hands, Wish, preflight_eval, survey
from tamesu.stages.preflight_hands import hands_of

PREFLIGHT_VERSION = 1
_SECONDS = click.FloatRange(0, 86_400)
_WIDTH = 80
_INDENT = " " * 9
_COLOURS = {"pass": "green", "fail": "red", "unknown": "yellow"}


@click.command(short_help="Check everything before money is spent.")
@click.argument("name", required=False)
@config_dir_option
@click.option("--json", "as_json", is_flag=True, help="Print as JSON; schemas/output/preflight.schema.json.")
@trust_option
@click.option("--wait-idle", type=_SECONDS, default=0.0, metavar="SECONDS", help="Wait for a busy engine.")
@click.option("--warm-up", type=_SECONDS, default=120.0, metavar="SECONDS", help="Wait for a cold endpoint.")
@click.option("--probes", type=click.IntRange(0, 100), default=0, help="Draws that show an effect of temperature.")
def preflight(name: str | None, as_json: bool, trust_code: bool, wait_idle: float, warm_up: float, probes: int) -> None:
    """Check every owed run, cheapest first; nothing of the dataset is asked.

    Exit 0: nothing failed; 1: something did; 2: code from elsewhere was not trusted. What is unknown stops nothing.
    """
    raise SystemExit(check_before_paying(name, Wish(wait_idle, warm_up, probes), as_json, trust_code))


def check_before_paying(
    name: str | None, wish: Wish | None = None, as_json: bool = False, trust_code: bool = False
) -> int:
    """Check the owed runs of an eval, or of all, print what was found, and return the exit code."""
    project, wish, found = project_here(), wish or Wish(), {}
    # before the first probe, which gives up the environment
    trusted = words(project, name, trust_code)
    surveys = {ref: survey(project, ref, trusted) for ref in chosen(project, name)}
    for ref, around in surveys.items():
        hands = _told(hands_of(project, around, wish))
        found[ref] = preflight_eval(project, around, wish, hands)
    if as_json:
        emit_json([_view(ref, records) for ref, records in found.items()])
    else:
        for ref, records in found.items():
            _show(ref, records)
    untrusted = [line for around in surveys.values() for line in around.untrusted]
    for line in untrusted[:1]:
        warn(line)
    passed = all(record.passed for records in found.values() for record in records)
    return 2 if untrusted else int(not passed)


def _told(hands: Hands) -> Hands:
    """Say once that something is waited for; it may take minutes."""
    waited: list[float] = []

    def wait(seconds: float, pause: Callable[[float], None] = hands.wait) -> None:
        if not waited:
            warn("waiting for the endpoint")
        waited.append(seconds)
        pause(seconds)

    return replace(hands, wait=wait)


def _view(ref: EvalRef, records: Sequence[PreflightRecord]) -> dict[str, object]:
    runs = [{**asdict(record), "passed": record.passed} for record in records]
    for run in runs:
        del run["schema_version"]
    return {
        "schema_version": PREFLIGHT_VERSION,
        "eval": str(ref),
        "passed": all(record.passed for record in records),
        "runs": runs,
    }


def _show(ref: EvalRef, records: Sequence[PreflightRecord]) -> None:
    """Print one block for runs whose lines are the same, apart from their data."""
    if not records:
        say(f"{ref}: nothing is owed")
    alike: dict[tuple[object, ...], list[PreflightRecord]] = {}
    for record in records:
        lines = ((check.name, check.state, check.figure) for check in record.checks if check.name != "data")
        alike.setdefault((record.model_uri, record.origin, *lines), []).append(record)
    for same in alike.values():
        count = "1 run" if len(same) == 1 else f"{len(same)} runs"
        say(f"{ref}: {same[0].model_uri} at {same[0].origin or 'its own endpoint'}, {count}")
        for check in same[0].checks:
            first, *more = _lines(check, same)
            say_coloured(check.state, _COLOURS[check.state], first.removeprefix(check.state))
            for line in more:
                say(line)
        say(_conclusion(same[0]))


def _lines(check: Check, same: Sequence[PreflightRecord]) -> list[str]:
    more = f"; and {len(same) - 1} more" if check.name == "data" and len(same) > 1 else ""
    text = f"{check.state:<9}{check.title}: {check.figure}{more}"
    lines = textwrap.wrap(text, _WIDTH, subsequent_indent=_INDENT, break_on_hyphens=False)
    if check.fix is not None:
        fix = f"{_INDENT}-> {check.fix}"
        lines += textwrap.wrap(fix, _WIDTH, subsequent_indent=f"{_INDENT}   ", break_on_hyphens=False)
    return lines


def _conclusion(record: PreflightRecord) -> str:
    states = [check.state for check in record.checks]
    counts = ", ".join(f"{states.count(state)} {state}" for state in ("pass", "fail", "unknown"))
    return f"{'ready' if record.passed else 'not ready'}: {counts}"
