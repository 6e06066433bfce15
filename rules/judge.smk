"""Judge: what model judges owe on the outputs that are there; free ones always, paid ones up to pay_usd.

Input   the receipts of ingest of the eval's runs
Output  a receipt per eval; judgments and failures are written beside the results, exclusively. A judgment is no
        output of any rule, so nothing can delete it or pay for it again.
"""


rule judge:
    input:
        PLAN.before_judging,
    output:
        f"{RECEIPTS}/judge-{{judging}}",
    wildcard_constraints:
        judging=PLAN.one_of(PLAN.judging),
    params:
        eval=lambda wildcards: PLAN.judged_eval(wildcards.judging),
    shell:
        "{TAMESU} judging {params.eval:q} --plan {PLAN_FILE:q} --receipt {output:q}"
