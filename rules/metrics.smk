"""Metrics: the tables of an eval, made from item results that verify.

Input   the receipts of what is ingested first, run.yml of the other slots, and a marker that is newer than the table when it was made from other
        evidence, whatever the file times say
Output  tables/items.csv, tables/runs.csv (and tables/evidence.yml, report.yml of each run beside them)
"""


rule metrics:
    input:
        want=[
            f".tamesu/want/{EVAL}/tables/items.csv",
            f".tamesu/want/{EVAL}/tables/runs.csv",
        ],
        ingested=PLAN.ingests,
        present=lambda wildcards: [
            ancient(path) for path in PLAN.records_present(wildcards)
        ],
    output:
        item_table=report(
            f"{EVAL}/tables/items.csv",
            category="{case}",
            subcategory="{experiment} / {eval}",
            labels={"view": "table of items"},
            caption="captions/items.rst",
        ),
        run_table=report(
            f"{EVAL}/tables/runs.csv",
            category="{case}",
            subcategory="{experiment} / {eval}",
            labels={"view": "table of runs"},
            caption="captions/runs.rst",
        ),
    shell:
        "{TAMESU} metrics {wildcards.case:q}/{wildcards.experiment:q}/{wildcards.eval:q}"


rule run_report:
    input:
        f"{EVAL}/tables/runs.csv",
    output:
        update(f"{RUN}/report.yml"),
    shell:
        "test -s {output:q}"
