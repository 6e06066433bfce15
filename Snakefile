"""The workflow of a Tamesu project: what is owed is decided from files; each stage is one `tamesu` command.

A project's own Snakefile includes this one; see `tamesu where snakefile`.
"""


include: "rules/common.smk"
include: "rules/lint.smk"
include: "rules/freeze.smk"
include: "rules/execute.smk"
include: "rules/ingest.smk"
include: "rules/judge.smk"
include: "rules/metrics.smk"
include: "rules/report.smk"
include: "rules/review.smk"
include: "rules/present.smk"
include: "rules/pack.smk"


rule tamesu:
    default_target: True
    input:
        PLAN.targets(),
