"""Present: the page of a case, from its question to single outputs.

Input   a marker that is newer than the page when it was made from other evidence (see metrics), and the markers that
        everything of the case that is worked off is ingested
Output  build/<case>/index.html
"""


rule present:
    input:
        PLAN.of_case,
    output:
        page=report(
            CASE_PAGE,
            category="{case}",
            subcategory="the case",
            labels={"view": "case study"},
            caption="captions/case.rst",
        ),
    shell:
        "{TAMESU} present {wildcards.case:q} > /dev/null"
