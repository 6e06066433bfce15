"""Rules of `lint --portable`: what would not work elsewhere. ID: (what is wrong, why it matters, how to fix it)."""

from __future__ import annotations

PACKAGE_RULES: dict[str, tuple[str, str, str]] = {
    "portable/absolute-path": (
        "A file names the project's own folder on this machine. In prose and evidence it is a warning.",
        "Nobody else has that folder.",
        "Write paths relative to the file.",
    ),
    "portable/collision": (
        "Two files whose names differ only by case or by the form of Unicode, or a file named as a folder.",
        "On many machines one would overwrite the other.",
        "Rename one of them.",
    ),
    "portable/data-review": (
        "The `data_review` of a forked case is the one that `tamesu fork` left to be written.",
        "Whoever looked at the data of the original did not look at the fork, and a package speaks in their name.",
        "Look at the data, and write reviewer, date and statement into `publication.yml`; see whether `authors` holds.",
    ),
    "portable/endpoint": (
        "An eval asks a provider whose base URL `config/config.yaml` states; a warning.",
        "The URL's origin is part of the identity of runs, which a package does not hold: elsewhere they are stale.",
        "Tell readers to set the endpoint as well.",
    ),
    "portable/home-path": (
        "A file names a home folder. In prose and evidence it is a warning; logs are packed without.",
        "Nobody else has that folder, and the name says whose machine it was.",
        "Write a path relative to the file, or one that every machine has.",
    ),
    "portable/left-out": (
        "An eval names a file that no package holds: outside the case, hidden, private to a run, a cache.",
        "What is unpacked would be another eval, whose evidence does not count.",
        "Give it another place or name inside the case.",
    ),
    "portable/link": (
        "A symbolic link in a case.",
        "Packages hold no links, which lead elsewhere on every machine.",
        "Put the file itself in its place.",
    ),
    "portable/long-path": (
        "A path that some systems cannot hold, by its length; a warning.",
        "Windows takes 260 characters for a whole path unless it is told otherwise.",
        "Shorten names of folders and files.",
    ),
    "portable/mutable-image": (
        "A container image that is not pinned, or is locked to content that exists on one machine only.",
        "Another machine would run other code, or none.",
        "Write `name@sha256:<digest>`, or run `tamesu lock` where its registry answers.",
    ),
    "portable/name": (
        "A file name that some systems cannot hold: a device's name, a trailing dot, a control character, `<`.",
        "It could not be unpacked there.",
        "Rename it with letters, digits, dots, hyphens and underscores.",
    ),
    "portable/publication": (
        "The case has no `publication.yml`.",
        "A package needs a publisher, a name, a version and terms.",
        "Write the file; docs/packages.md shows one.",
    ),
    "portable/size": (
        "A file above 100 MiB, more than 10,000 files, or more than 1 GiB in all.",
        "Whoever reads packages refuses more.",
        "Split files, keep raw data outside the case, or publish the profile `report-only`.",
    ),
    "portable/special-file": (
        "A pipe, a socket or a device in a case, or a folder that cannot be listed.",
        "Packages hold regular files, all of which were looked through.",
        "Remove it, or correct its permissions.",
    ),
}
