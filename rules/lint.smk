"""Lint: every manifest of the project is checked; nothing of it is executed.

Input   none that Snakemake knows: all manifests are read
Output  none: the rule always runs when it is asked for
"""


rule lint:
    shell:
        "{TAMESU} lint"
