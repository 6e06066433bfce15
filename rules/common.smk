"""The plan of this invocation, frozen once; every rule looks things up in it.

PLAN       the frozen plan (tamesu.stages.rules.RulesView)
EVAL, RUN  path patterns with the wildcards case, experiment, eval (and run)
TAMESU     the command line of this environment
"""

import shlex
import sys

from tamesu.workflow_files import without_modules_of_the_project

with without_modules_of_the_project():
    from tamesu.base.errors import TamesuError
    from tamesu.short_lived import collect_seldom
    from tamesu.stages.rules import RECEIPTS, rules_view

collect_seldom()

EVAL = "cases/{case}/experiments/{experiment}/evals/{eval}"
RUN = f"{EVAL}/runs/{{run}}"
PAGE = "build/{case}/{experiment}/{eval}.html"
REVIEW = "build/review/{case}/{experiment}/{eval}/{reviewer}"
CASE_PAGE = "build/{case}/index.html"
# safe path: a json.py in the project is no module of ours
TAMESU = f"PYTHONSAFEPATH=1 {shlex.quote(sys.executable)} -m tamesu"

with without_modules_of_the_project():
    try:
        PLAN = rules_view(config)
    except TamesuError as error:
        sys.exit(f"tamesu: {error}")

PLAN_FILE = PLAN.plan_file


wildcard_constraints:
    case="[^/]+",
    experiment="[^/]+",
    eval="[^/]+",
    run="[^/]+",
    item="[^/]+",
    attempt="[0-9]+",
    launch="[0-9a-f]+",
