"""`snakemake --lint` over the packaged workflow; one of its demands does not fit and is allowed by name."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from tests import projects

# Rules are one command of this package, which brings its own environment and keeps its own logs as evidence;
# the interpreter's path and the plan's name are no provenance: they would make derived files stale for nothing.
ALLOWED = (
    "No log directive defined",
    "Specify a conda environment or container for each rule.",
    "Shell command directly uses variable TAMESU from outside of the rule",
    "Shell command directly uses variable PLAN_FILE from outside of the rule",
)


def main() -> int:
    """Print what `snakemake --lint` finds beyond what is allowed; return 1 when there is something."""
    with tempfile.TemporaryDirectory() as folder:
        project = projects.fresh(Path(folder) / "shapes")
        done = project.snakemake("--lint")
    said = done.out + done.err
    if "Lints for rule" not in said:
        print(said)
        return 1
    titles = re.findall(r"^    \* (.+):$", said, flags=re.MULTILINE)
    remarks = sorted(set(titles) - set(ALLOWED))
    for remark in remarks:
        print(remark)
    return int(bool(remarks))


if __name__ == "__main__":
    raise SystemExit(main())
