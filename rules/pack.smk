"""Pack: the archive of a case that says in publication.yml under which name it is published.

Input   a marker that is newer than the archive when it is not what would be packed now, the markers that everything of
        the case is ingested, and the views that the profile holds; their times do not count, the marker knows their
        content
Output  build/packages/<publisher>-<name>-<version>.tamesu.tar.gz, kept before the job: other content under the same
        version is refused, never written over
"""


rule pack:
    input:
        PLAN.of_package,
        views=ancient(PLAN.packed_views),
    output:
        update("{archive}"),
    wildcard_constraints:
        archive=PLAN.one_of(PLAN.packages),
    params:
        case=PLAN.packed_case,
    shell:
        "{TAMESU} pack {params.case:q}"
