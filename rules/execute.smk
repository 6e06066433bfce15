"""Execute: one attempt at each run of a launch; the only stage that may spend money.

Input   the receipt of freeze
Output  a receipt per launch; logs and attempts/<nn>.yml are written beside it, exclusively.
        A run that is finished is no output of any rule, so nothing can delete it or pay for it again.
"""


rule execute:
    input:
        f"{RECEIPTS}/freeze-{{launch}}",
    output:
        f"{RECEIPTS}/execute-{{launch}}",
    wildcard_constraints:
        launch=PLAN.one_of(PLAN.executing),
    shell:
        "{TAMESU} execute {wildcards.launch:q} --plan {PLAN_FILE:q} --receipt {output:q}"


rule attempt_record:
    input:
        lambda wildcards: PLAN.receipt("execute", wildcards.run),
    output:
        update(f"{RUN}/attempts/{{attempt}}.yml"),
    wildcard_constraints:
        run=PLAN.one_of(PLAN.owed),
    shell:
        "test -s {output:q}"
