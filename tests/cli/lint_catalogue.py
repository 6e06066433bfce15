"""Every mistake that lint must name, one project each."""

from __future__ import annotations

from tests.cli.lint_eval_cases import EVAL_CASES
from tests.cli.lint_file_cases import FILE_CASES
from tests.cli.lint_parameter_cases import PARAMETER_CASES

CASES = [*FILE_CASES, *EVAL_CASES, *PARAMETER_CASES]
