"""Ingest: from the logs of a launch to items/<item>/result.yml and run.yml.

Input   the receipt of execute
Output  a receipt per launch; item results and run.yml are written beside it, atomically. The two pattern
        rules only check that ingest wrote what was asked for.
"""


rule ingest:
    input:
        lambda wildcards: PLAN.before_ingest(wildcards.launch),
    output:
        f"{RECEIPTS}/ingest-{{launch}}",
    wildcard_constraints:
        launch=PLAN.one_of(PLAN.launches),
    shell:
        "{TAMESU} ingest {wildcards.launch:q} --plan {PLAN_FILE:q} --receipt {output:q}"


rule run_record:
    input:
        lambda wildcards: PLAN.receipt("ingest", wildcards.run),
    output:
        update(f"{RUN}/run.yml"),
    wildcard_constraints:
        run=PLAN.one_of(PLAN.owed),
    shell:
        "test -s {output:q}"


rule item_result:
    input:
        lambda wildcards: PLAN.receipt("ingest", wildcards.run),
    output:
        update(f"{RUN}/items/{{item}}/result.yml"),
    wildcard_constraints:
        run=PLAN.one_of(PLAN.owed),
    shell:
        "test -s {output:q}"
