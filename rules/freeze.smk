"""Freeze: the frozen dataset and the sealed sources of the runs that are owed.

Input   every file that the runs were read from (content decides through the run ID, times do not)
Output  a receipt per launch; runs/<run>/inspect/input.jsonl is written beside it
"""


rule freeze:
    input:
        lambda wildcards: [ancient(path) for path in PLAN.sources(wildcards.launch)],
    output:
        f"{RECEIPTS}/freeze-{{launch}}",
    wildcard_constraints:
        launch=PLAN.one_of(PLAN.launches),
    shell:
        "{TAMESU} freeze {wildcards.launch:q} --plan {PLAN_FILE:q} --receipt {output:q}"


rule frozen_dataset:
    input:
        lambda wildcards: PLAN.receipt("freeze", wildcards.run),
    output:
        update(f"{RUN}/inspect/input.jsonl"),
    wildcard_constraints:
        run=PLAN.one_of(PLAN.unfrozen),
    shell:
        "test -s {output:q}"


rule private_file_not_here:
    output:
        update(f"{RUN}/inspect/{{file}}"),
    wildcard_constraints:
        run=PLAN.one_of(PLAN.not_here),
        file=".+",
    shell:
        "echo tamesu: {output:q}: is not here '(a clone or package); nothing was done' >&2; exit 2"
