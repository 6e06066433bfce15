"""The images of a run on this machine: the locked ones verified before a generation, all of them recorded."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from tamesu.base.errors import ContainerFault, Refused
from tamesu.base.model.manifest import ImageReference
from tamesu.base.model.plan import RunSpec
from tamesu.core.image_lock import is_locked_content
from tamesu.core.image_platform import platform_problem, states_a_platform, tag_beside_digest, tag_note
from tamesu.edge.docker import (
    LocalImage,
    children_of,
    client_present,
    engine_platform,
    local_image,
    published_platform,
    pull_image,
    tag_image,
)


def verified_images(spec: RunSpec, sources: Path) -> dict[str, str]:
    """Return the image ID behind each locked reference of a run, all of them verified; `sources` is its copy.

    Raises Refused when the image of that name here is another one, of another platform than the one that was locked
    or that runs here, or cannot be looked at. A run without locked images needs no Docker.
    """
    found = {image.reference: _verified(image, image.locked).id for image in spec.images if image.locked is not None}
    pinned = [image for image in spec.images if image.pinned and not _states_a_platform(sources / image.file)]
    if pinned and client_present():
        _check_platforms(pinned)
    return found


def _states_a_platform(source: Path) -> bool:
    return source.is_file() and states_a_platform(source.read_bytes())


def _check_platforms(images: Iterable[ImageReference]) -> None:
    engine = engine_platform()
    if engine is None:
        return
    for image in images:
        with suppress(ContainerFault):
            local = local_image(image.reference)
            platform = published_platform(image.reference) if local is None else local.platform
            problem = platform_problem(image, platform, engine)
            if problem is not None:
                raise Refused(f"{image.file}: {problem}")


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


def tag_notes(references: Iterable[str]) -> tuple[str, ...]:
    """Return a note for each `name:tag@digest` whose tag stands for other content, here or in its registry."""
    notes = (tag_note(reference, _content_of_tag(reference)) for reference in dict.fromkeys(references))
    return tuple(note for note in notes if note is not None)


def _content_of_tag(reference: str) -> set[str]:
    """Return every digest that the tag of a reference goes by; nothing without tag, digest or an answer."""
    both = tag_beside_digest(reference)
    if both is None or not client_present():
        return set()
    tag, digest = both
    with suppress(ContainerFault):
        local = local_image(tag)
        if local is not None:
            held = {name.rpartition("@")[2] for name in local.repo_digests}
            # a digest inside of the index that the tag stands for is no other content
            inside = (
                held if digest in held else {one for name in local.repo_digests for one in children_of(name).values()}
            )
            return held | (inside & {digest})
    children = set(children_of(tag).values())
    pinned = set(children_of(f"{tag.rpartition(':')[0]}@{digest}").values())
    return {digest} if children and children == pinned else children


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
    problem = platform_problem(image, local.platform, None)
    if problem is not None:
        raise Refused(f"{image.file}: {problem}")
    return local
