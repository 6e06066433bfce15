"""Which names a publisher may have."""

from __future__ import annotations

from tamesu.core.naming import IdFault, id_fault

PUBLISHERS = "publishers"  # the folder in which a registry keeps who owns which name


def publisher_fault(name: str) -> IdFault | None:
    """Return why nobody can publish under a name; None when somebody can."""
    if name == PUBLISHERS:
        message = f"'{name}' cannot name a publisher: it is where a registry keeps owners"
        return IdFault("id/reserved", message, "choose another name")
    return id_fault("publisher", name)
