"""What of the owed work one invocation takes on."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tamesu.base.model.plan import RunSpec, Slot, SlotState


@dataclass(frozen=True, slots=True)
class Scope:
    """Runs of these models (as a manifest or Inspect names them; empty: of all), at most so many items of each run."""

    models: frozenset[str] = frozenset()
    items: int | None = None

    def takes(self, spec: RunSpec) -> bool:
        """Return whether a run is one of those."""
        return not self.models or bool(self.models & model_names(spec))

    def narrowed(self, found: Slot) -> Slot:
        """Return a slot with the items alone that are asked now; the others stay owed."""
        return replace(found, pending=found.pending[: self.items])

    def leaves_undone(self, found: Slot) -> bool:
        """Return whether a slot that is not banked lacks something that was to be asked."""
        if not self.takes(found.spec) or self.items is None:
            return self.takes(found.spec)
        enough = found.complete >= min(self.items, len(found.spec.items))
        return found.state is not SlotState.PARTIAL or found.failed > 0 or not enough


ALL = Scope()


def model_names(spec: RunSpec) -> frozenset[str]:
    """Return what the model of a run is called: by its manifest, with its provider, and by Inspect."""
    return frozenset({spec.model, f"{spec.provider}/{spec.model}", spec.model_uri})
