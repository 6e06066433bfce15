"""Metrics: the tables of an eval, made from item results that verify.

Input   a marker that is newer than the table when it was made from other evidence, whatever the file times say,
        and the marker that everything is ingested: a plain file when nothing is owed, else made from the
        receipts of ingest. So the set of inputs is the same before and after a run.
Output  tables/items and tables/runs, each as .csv and .parquet (and tables/evidence.yml, report.yml of each run beside them)
"""


rule ingested:
    input:
        PLAN.ingests,
    output:
        touch("{marker}"),
    wildcard_constraints:
        marker=PLAN.one_of(PLAN.ingested_markers),


rule metrics:
    input:
        want=[
            f".tamesu/want/{EVAL}/tables/items.csv",
            f".tamesu/want/{EVAL}/tables/runs.csv",
            f".tamesu/want/{EVAL}/tables/items.parquet",
            f".tamesu/want/{EVAL}/tables/runs.parquet",
        ],
        ingested=f".tamesu/want/{EVAL}/ingested",
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
        typed_items=f"{EVAL}/tables/items.parquet",
        typed_runs=f"{EVAL}/tables/runs.parquet",
    shell:
        "{TAMESU} metrics {wildcards.case:q}/{wildcards.experiment:q}/{wildcards.eval:q}"


rule run_report:
    input:
        f"{EVAL}/tables/runs.csv",
    output:
        update(f"{RUN}/report.yml"),
    shell:
        "test -s {output:q}"
