"""What the fork server imports once, so that each process it forks starts with Inspect in place."""

import contextlib
import importlib

from inspect_ai.model import get_model_info

# The last ones are what Inspect imports at its first evaluation; without one of them a run only takes longer.
for _name in (
    "tamesu.cli.plumbing",
    "tamesu.cli.freezing",
    "tamesu.stages.workflow",
    "tamesu.edge.backends.inspect.attempt",
    "tamesu.edge.backends.inspect.closing",
    "tamesu.edge.backends.inspect.log_identity",
    "tamesu.edge.backends.inspect.logs",
    "tamesu.edge.providers.replay",
    "inspect_ai.agent._acp.server",
    "inspect_ai.model._assistant_internal",
    "inspect_ai.model._openai_responses",
    "inspect_ai.model._providers.anthropic",
):
    with contextlib.suppress(ImportError):
        importlib.import_module(_name)
get_model_info("replay/echo")
