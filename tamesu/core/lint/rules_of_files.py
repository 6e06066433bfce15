"""Rules about files as such: bytes, YAML, JSONL, CSV, paths. ID: (what is wrong, why it matters, how to fix it)."""

from __future__ import annotations

FILE_RULES: dict[str, tuple[str, str, str]] = {
    "csv/cells": (
        "A row has more or fewer cells than the header.",
        "Cells would move to other columns, and an item would be asked something else.",
        "Put cells that hold commas, quotes or line breaks in double quotes.",
    ),
    "csv/encoding": (
        "The file is not UTF-8, or holds a NUL.",
        "Guessing an encoding changes texts without anyone noticing.",
        "Save the file as UTF-8.",
    ),
    "csv/header": (
        "The header line is missing, repeats a column, or lacks `id` or `input`.",
        "Columns are known by name only.",
        "Start the file with `id,input,expected`; further columns become metadata.",
    ),
    "csv/syntax": (
        "The file is not CSV.",
        "An open quote swallows the rows after it.",
        "Correct the quotes, or use JSONL.",
    ),
    "file/encoding": (
        "A text file is not UTF-8.",
        "Guessing an encoding changes what a model is asked.",
        "Save the file as UTF-8.",
    ),
    "file/misnamed": (
        "A file or folder whose name is nearly one that is read, such as `eval.yaml`, `experiment/` or `config.yml`.",
        "It is passed over, so what it says does not count: an eval, a price, a pin.",
        "Rename it as the message says.",
    ),
    "file/unreadable": (
        "A file is missing or cannot be read, or a folder cannot be listed.",
        "Nothing can be said about a plan of which a part is unknown.",
        "Write the file, correct the path that names it, or its permissions.",
    ),
    "jsonl/depth": (
        "A record is nested too deep.",
        "Programs that read it recurse.",
        "Flatten the record.",
    ),
    "jsonl/duplicate-key": (
        "An object holds a key twice.",
        "Readers keep the first or the last; nobody knows which.",
        "Keep one of the two.",
    ),
    "jsonl/encoding": (
        "A line is not UTF-8, or holds a NUL or a lone surrogate.",
        "Guessing an encoding changes what a model is asked.",
        "Save the file as UTF-8; remove the character.",
    ),
    "jsonl/number": (
        "A number that JSON cannot carry exactly: NaN, infinite, or an integer beyond 2^53.",
        "Another program would read another number.",
        "Write it as a string.",
    ),
    "jsonl/syntax": (
        "A line is not one JSON value, or a JSON file is none.",
        "Half a record is not a record.",
        "Write one JSON value per line; lines end at LF.",
    ),
    "path/escapes": (
        "A path leads out of the project, directly or through a symbolic link.",
        "A clone or a package would not hold the file, and evidence could not be repeated.",
        "Keep every file below the project's folder.",
    ),
    "path/foreign": (
        "A case that holds `.untrusted-origin` names, or links to, a file outside its own folder.",
        "A case that came from elsewhere could show a private file on a page, or send it to a model.",
        "Put a copy into the case; or review the case, then delete the marker.",
    ),
    "path/form": (
        "A path is absolute, has a drive letter or backslashes, or is no text.",
        "It would mean something else on another machine.",
        "Write it relative to the manifest, with forward slashes.",
    ),
    "path/missing": (
        "A path names nothing.",
        "What is named belongs to the measurement.",
        "Write the file or correct the path.",
    ),
    "path/private": (
        "A path names `.env`, or a file below `.git`, `.tamesu` or `.snakemake`.",
        "A manifest that came from elsewhere could send credentials to a model, or show them on a page.",
        "Name a file of the case.",
    ),
    "path/not-a-file": (
        "A path names a folder where a file is wanted.",
        "What is named is read.",
        "Name a file.",
    ),
    "path/url": (
        "A path is a URL.",
        "What lies behind it may change after the measurement.",
        "Keep a copy in the project and name that.",
    ),
    "secret/in-manifest": (
        "A field's name, or the shape of a key that a provider issues, in a manifest, prompt or source.",
        "These files are committed, packed and shared.",
        "Remove it, revoke it, and keep it in an environment variable; credentials are read by name.",
    ),
    "yaml/alias": (
        "An alias refers to an anchor that is not defined.",
        "There is nothing to put in its place.",
        "Define the anchor before its first use.",
    ),
    "yaml/alias-bomb": (
        "Aliases expand to more than a manifest may hold.",
        "A few hundred bytes can expand to gigabytes.",
        "Use fewer aliases, or write the values out.",
    ),
    "yaml/ambiguous": (
        "Unquoted text that another YAML parser reads as something else: `no`, `0144`, `12:30`, `7_000`, a date.",
        "The same file would mean different things to different programs. Where any value may stand it is a warning.",
        "Quote it, which makes it text everywhere.",
    ),
    "yaml/depth": (
        "Values are nested too deep.",
        "Programs that read it recurse.",
        "Flatten the structure.",
    ),
    "yaml/duplicate-key": (
        "A mapping holds a key twice.",
        "Readers keep the first or the last; nobody knows which.",
        "Keep one of the two.",
    ),
    "yaml/encoding": (
        "The file is not UTF-8, or holds a character that cannot be carried.",
        "Guessing an encoding changes texts without anyone noticing.",
        "Save the file as UTF-8; remove the character or escape it in double quotes.",
    ),
    "yaml/merge": (
        "A merge key `<<` where it is not understood.",
        "What a manifest says must stand where it is read; compose files may merge.",
        "Write the fields out; in compose files, refer to mappings.",
    ),
    "yaml/multiple-documents": (
        "The file holds more than one document.",
        "Only the first would count.",
        "Split the file.",
    ),
    "yaml/non-string-key": (
        "A key is not text.",
        "`1`, `true` and `null` are different keys to different readers.",
        "Quote the key.",
    ),
    "yaml/number": (
        "A number that JSON cannot carry exactly: NaN, infinite, or an integer beyond 2^53.",
        "Another program would read another number.",
        "Quote it, which makes it text.",
    ),
    "yaml/self-reference": (
        "A value contains itself.",
        "It has no end.",
        "Write the value out.",
    ),
    "yaml/size": (
        "The file is larger than a manifest may be.",
        "Manifests are read on every command.",
        "Keep large data in JSONL files.",
    ),
    "yaml/space": (
        "A character that only looks like a space, such as a no-break space, is used as indentation.",
        "YAML takes it for the first letter of a key.",
        "Indent with ordinary spaces.",
    ),
    "yaml/syntax": (
        "The file is not YAML.",
        "What cannot be read cannot be checked.",
        "Correct the line; quote texts that hold `: ` or ` #`.",
    ),
    "yaml/tab": (
        "A tab is used as indentation.",
        "YAML forbids it, and editors show it at any width.",
        "Indent with spaces.",
    ),
    "yaml/tag": (
        "A tag such as `!!python/object`.",
        "Tags make some readers run code.",
        "Remove the tag; quote a value to make it text.",
    ),
}
