"""What people may not expect of a package: the state of its evidence, and who or what its files tell of."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator

from tamesu.base.model.package import Profile
from tamesu.base.model.plan import EvalPlan, SlotState
from tamesu.core.report.figures import count
from tamesu.core.standing import Standing

_EVAL = r"experiments/[^/]+/evals/[^/]+"
_ITEM = rf"{_EVAL}/runs/[^/]+/items/[^/]+"
_KEY = re.compile(rf"{_EVAL}/review/keys/[^/]+")
_REVIEW = re.compile(rf"{_ITEM}/reviews/[^/]+")
_RESULT = re.compile(rf"{_ITEM}/result\.yml")


def evidence_line(plan: EvalPlan, standing: Standing) -> str:
    """Return the state of an eval's evidence in the words of `status`."""
    banked = sum(slot.state is SlotState.BANKED for slot in plan.slots)
    kinds = Counter(run.kind for run in plan.found)
    told = [f"{banked}/{len(plan.slots)} runs banked"]
    if not kinds and all(slot.state is SlotState.OWED for slot in plan.slots):
        told = ["nothing has run"]
    told += [f"{count(number, f'{kind} run')}, not counted" for kind, number in sorted(kinds.items())]
    return f"{plan.ref}: {standing.value}; {', '.join(told)}"


def notices(files: Collection[str], profile: Profile) -> Iterator[str]:
    """Yield what files of a package tell that people may not expect; paths are relative to the case."""
    keys = sum(_KEY.fullmatch(path) is not None for path in files)
    if keys:
        told = f"holds the keys of {count(keys, 'review pack')} (review/keys/)"
        yield f"{told}: whoever has them and reviews is not blind"
    reviews = sum(_REVIEW.fullmatch(path) is not None for path in files)
    if reviews:
        yield f"holds {count(reviews, 'review')} with the names that reviewers gave and their notes"
    results = sum(_RESULT.fullmatch(path) is not None for path in files)
    if results and profile is Profile.REPORT_ONLY:
        told = "what models answered and, where checks record them, expected values"
        yield f"holds {results} result.yml, which tell {told}, although no dataset comes with it"
