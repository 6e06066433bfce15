"""Review: a blinded pack of what one reviewer owes, as a target; no default one, since people decide whom to ask.

Input   the evaluation report, which names the evidence, reviews and rubric that it was made from: once any of them is
        another, the pack is out of date
Output  build/review/<case>/<experiment>/<eval>/<reviewer>/review.html, with responses.csv, README.txt and the key in
        review/keys beside the eval; a page that says so when nothing is owed. Answers come back with
        `tamesu review import`: they are source files, so no rule makes them.
"""


rule review:
    input:
        f"{EVAL}/evaluation-report.md",
    output:
        page=f"{REVIEW}/review.html",
    wildcard_constraints:
        reviewer="[a-z0-9]+(-[a-z0-9]+)*",
    params:
        folder=subpath(output.page, parent=True),
    shell:
        "{TAMESU} review export {wildcards.case:q}/{wildcards.experiment:q}/{wildcards.eval:q} "
        "--reviewer {wildcards.reviewer:q} --output {params.folder:q} --page-if-nothing"
