"""What an endpoint says when it is asked without generating anything."""

from __future__ import annotations

import difflib

from tamesu.base.canonical import Json
from tamesu.base.model.endpoint import Check, ModelListing
from tamesu.base.model.plan import RunSpec
from tamesu.core.parameter_values import PROVIDER_DEFAULT
from tamesu.core.preflight.lines import counted, failed, passed, unknown
from tamesu.core.routes import SERVICE
from tamesu.core.wire import is_served_as

SAMPLING = ("temperature", "top_p", "top_k")


def models_check(spec: RunSpec, listing: ModelListing) -> Check:
    """Return whether the endpoint answers and lists the model."""
    waited = f" after {listing.waited_seconds:.0f} s" if listing.waited_seconds >= 1 else ""
    match listing.state:
        case "unasked":
            return unknown("models", listing.detail)
        case "absent":
            return unknown("models", f"answers{waited}, and lists no models ({listing.detail}); the probe will tell")
        case "refused":
            return failed("models", f"refuses the key ({listing.detail})", "set the key that belongs to it")
        case "warming":
            fix = (
                "start it, or wait for it: serverless endpoints may need minutes (`tamesu preflight --warm-up SECONDS`)"
            )
            return failed("models", f"is not ready{waited}: {listing.detail}", fix)
        case "broken":
            return failed("models", f"{listing.detail}", "correct the base URL")
    return _listed(spec, listing, waited)


def _listed(spec: RunSpec, listing: ModelListing, waited: str) -> Check:
    count = f"lists {counted(len(listing.models), 'model')}"
    data: dict[str, Json] = {"models": len(listing.models), "waited_seconds": listing.waited_seconds}
    if spec.model in listing.models:
        return passed("models", f"{count}, this one among them{waited}", data)
    alias = next((name for name in listing.models if _is_alias(spec, name)), None)
    if alias is not None:
        return passed("models", f"{count}, this one as {alias}{waited}", data)
    near = difflib.get_close_matches(spec.model, listing.models, n=3, cutoff=0.4) or list(listing.models[:3])
    told = f"; near: {', '.join(near)}" if near else ""
    return failed("models", f"{count}, not '{spec.model}'{told}", "name one that it lists in eval.yml", data)


def _is_alias(spec: RunSpec, listed: str) -> bool:
    """A vendor lists dated snapshots and no variants; an engine of one's own takes the exact name only."""
    if spec.provider == "vllm" or SERVICE.fullmatch(spec.provider):
        return False
    if spec.provider == "openrouter":
        return listed == spec.model.rpartition(":")[0]
    return is_served_as(spec.model, listed)


def server_check(spec: RunSpec, own: bool, version: str | None, entry: dict[str, Json]) -> Check:
    """Return what the server tells of itself, and which sampling fields are left to its own defaults."""
    left = [name for name in SAMPLING if name not in spec.parameters]
    meant = [name for name in SAMPLING if spec.parameters.get(name) == PROVIDER_DEFAULT]
    data: dict[str, Json] = {"version": version, "entry": entry, "left_to_server": list[Json](left)}
    told = f"version {version}" if version else "version not told"
    length = entry.get("max_model_len")
    if length is not None:
        told += f", max_model_len {length}"
    if left:
        fields = f"{', '.join(left)} left to defaults that it does not tell"
        fix = f"declare the fields, or write {PROVIDER_DEFAULT}"
        return unknown("server", f"{told}; {fields}", fix, data)
    told += f"; {', '.join(meant)} left to it on purpose" if meant else "; every sampling field is declared"
    return passed("server", told, data) if version or not own else unknown("server", told, None, data)
