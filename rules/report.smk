"""Report: leaderboard, evaluation report and the self-contained result page of an eval.

Input   the tables, and a marker per view (see metrics)
Output  leaderboard.md, evaluation-report.md, build/<case>/<experiment>/<eval>.html;
        `complete` is a receipt that fails, after all views exist, while a run is not banked
"""


rule report:
    input:
        want=[
            f".tamesu/want/{EVAL}/leaderboard.md",
            f".tamesu/want/{EVAL}/evaluation-report.md",
            f".tamesu/want/{PAGE}",
        ],
        tables=[f"{EVAL}/tables/items.csv", f"{EVAL}/tables/runs.csv"],
    output:
        leaderboard=f"{EVAL}/leaderboard.md",
        evaluation=f"{EVAL}/evaluation-report.md",
        page=report(
            PAGE,
            category="{case}",
            subcategory="{experiment} / {eval}",
            labels={"view": "result page"},
            caption="captions/page.rst",
        ),
    shell:
        "{TAMESU} report {wildcards.case:q}/{wildcards.experiment:q}/{wildcards.eval:q} > /dev/null"


rule complete:
    input:
        [target for target in PLAN.targets() if not target.startswith(RECEIPTS)],
    output:
        touch(f"{RECEIPTS}/complete-{PLAN.plan.invocation}"),
    shell:
        "{TAMESU} complete --plan {PLAN_FILE:q}"
