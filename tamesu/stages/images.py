"""The images of a run on this machine: the locked ones verified before a generation, all of them recorded."""

from __future__ import annotations

from contextlib import suppress

from tamesu.base.errors import ContainerFault, Refused
from tamesu.base.model.manifest import ImageReference
from tamesu.base.model.plan import RunSpec
from tamesu.core.image_lock import is_locked_content
from tamesu.edge.docker import LocalImage, client_present, local_image, pull_image, tag_image


def verified_images(spec: RunSpec) -> dict[str, str]:
    """Return the image ID behind each locked reference of a run, all of them verified.

    Raises Refused when the image of that name here is another one, or cannot be looked at. A run without locked
    images needs no Docker.
    """
    return {image.reference: _verified(image, image.locked).id for image in spec.images if image.locked is not None}


def pinned_images(spec: RunSpec) -> dict[str, str]:
    """Return the image ID behind each pinned reference that is on this machine; empty without Docker.

    Such a reference names its content, so it may be looked up after the run that fetched it.
    """
    found: dict[str, str] = {}
    pinned = [image.reference for image in spec.images if image.pinned]
    if not pinned or not client_present():
        return found
    with suppress(ContainerFault):
        for reference in pinned:
            local = local_image(reference)
            if local is not None:
                found[reference] = local.id
    return found


def _verified(image: ImageReference, locked: str) -> LocalImage:
    try:
        local = local_image(image.reference)
        if local is None and "@" in locked:
            # a machine that holds nothing under this name gets the locked content under it
            pull_image(locked)
            tag_image(locked, image.reference)
            local = local_image(image.reference)
    except ContainerFault as error:
        raise Refused(f"{image.file}: image '{image.reference}' is locked to {locked}; {error}") from None
    if local is None:
        raise Refused(
            f"{image.file}: image '{image.reference}' is locked to {locked} and is not here; build or pull it"
        )
    if not is_locked_content(locked, local.id, local.repo_digests):
        raise Refused(
            f"{image.file}: image '{image.reference}' is {local.id} here but is locked to {locked}; "
            "pull the locked one, or run `tamesu lock`"
        )
    return local
