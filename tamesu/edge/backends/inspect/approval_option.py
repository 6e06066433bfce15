"""The approval policy that the manifest chooses, its file taken from the executed copy."""

from __future__ import annotations

from pathlib import Path

from inspect_ai.approval import ApprovalPolicy
from inspect_ai.approval._policy import ApprovalPolicyConfig, approval_policies_from_config
from pydantic import ValidationError

from tamesu.base.errors import Refused
from tamesu.base.model.plan import RunSpec
from tamesu.edge.backends.inspect.sandbox_option import copied_source


def chosen_approval(spec: RunSpec, sources: Path) -> list[ApprovalPolicy] | None:
    """Return the policies that decide on tool calls, None when nobody is asked.

    `sources` is the executed copy; the task must be loaded already, since it may define approvers. Raises Refused for a
    policy that lint would not let pass, and for an approver that does not exist.
    """
    written = spec.options.get("approval")
    if written is None:
        return None
    try:
        if isinstance(written, str):
            return approval_policies_from_config(str(copied_source(spec, sources, "approval", written)))
        return approval_policies_from_config(ApprovalPolicyConfig.model_validate(written))
    except (ValidationError, ValueError, TypeError, LookupError) as error:
        line = " ".join(str(error).split())[:200]
        raise Refused(f"{spec.ref}: execution.inspect.approval cannot be used ({line}); correct it") from None
