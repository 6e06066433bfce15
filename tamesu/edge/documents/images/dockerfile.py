"""The external images of a Dockerfile: what FROM, COPY --from and RUN --mount name, less its own stages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tamesu.edge.documents.images.instructions import Directives, Dockerfile, Instruction, split_words
from tamesu.edge.documents.images.interpolation import (
    BACKSLASH,
    BACKTICK,
    Lookup,
    Resolved,
    Unresolved,
    interpolate,
)

_FLAG = re.compile(r"--([a-z-]+)(?:=(.*))?", re.DOTALL)
# BuildKit sets these itself, from the machine that builds and the platform that is asked for.
_PLATFORM = re.compile(r"(?:BUILD|TARGET)(?:PLATFORM|OS|OSVERSION|ARCH|VARIANT)|TARGETSTAGE")
_QUOTED = re.compile(r"""'[^']*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)
_NOTHING = "scratch"


@dataclass(frozen=True, slots=True)
class NamedImage:
    """An image that a file names: its place, the words as written, and the reference or why there is none."""

    line: int
    written: str
    reference: Resolved
    column: int = 1


@dataclass(frozen=True, slots=True)
class BuildInputs:
    """What a build hands to its Dockerfile: arguments, and names (case folded) that stand for something else."""

    arguments: Mapping[str, Resolved] = field(default_factory=dict)
    contexts: frozenset[str] = frozenset()


NO_INPUTS = BuildInputs()


def dockerfile_images(dockerfile: Dockerfile, inputs: BuildInputs = NO_INPUTS) -> tuple[NamedImage, ...]:
    """Return every external image in the order of the file; stages, folders and `scratch` are none.

    All stages count, whatever the target. Scopes and substitution: Dockerfile reference, "ARG" and "FROM".
    """
    stages = _Stages(dockerfile.directives, inputs, _stage_names(dockerfile))
    return tuple(image for instruction in dockerfile.instructions for image in stages.take(instruction))


def _stage_names(dockerfile: Dockerfile) -> frozenset[str]:
    escape = dockerfile.directives.escape
    froms = (_From.read(one, escape) for one in dockerfile.instructions if one.keyword == "FROM")
    return frozenset(found.stage for found in froms if found is not None and found.stage is not None)


@dataclass(frozen=True, slots=True)
class _From:
    image: str
    stage: str | None

    @classmethod
    def read(cls, instruction: Instruction, escape: str) -> _From | None:
        """Return the parts of `FROM [--platform=…] image [AS stage]`; None for any other form."""
        words = list(split_words(instruction.rest, escape))
        while words and words[0].startswith("--"):
            words.pop(0)
        if len(words) == 1:
            return cls(words[0], None)
        if len(words) == 3 and words[1].upper() == "AS":
            return cls(words[0], words[2].casefold())
        return None


@dataclass(slots=True)
class _Stages:
    """Reads instructions in order; `arguments` are those before the first FROM, the only ones a FROM sees."""

    directives: Directives
    inputs: BuildInputs
    names: frozenset[str]
    arguments: dict[str, Resolved | None] = field(default_factory=dict)
    earlier: set[str] = field(default_factory=set)
    count: int = 0

    def take(self, instruction: Instruction) -> Iterator[NamedImage]:
        if instruction.keyword == "ONBUILD":
            keyword, _, rest = instruction.rest.partition(" ")
            instruction = Instruction(instruction.line, keyword.upper(), rest.strip())
        if instruction.keyword == "ARG" and self.count == 0:
            self._declare(instruction)
        elif instruction.keyword == "FROM":
            yield from self._base(instruction)
        elif instruction.keyword in {"COPY", "ADD", "RUN"}:
            for written in _sources(instruction, self.directives.escape):
                yield from self._copied(instruction.line, written)

    def _declare(self, instruction: Instruction) -> None:
        for word in split_words(instruction.rest, self.directives.escape):
            name, assigned, default = word.partition("=")
            value = self._word(default) if assigned else None
            self.arguments[name] = self.inputs.arguments.get(name, value)

    def _lookup(self, name: str) -> Resolved | None:
        value = self.arguments.get(name)
        if value is None and _PLATFORM.fullmatch(name):
            return Unresolved(f"'{name}' depends on the machine that builds")
        return value

    def _word(self, word: str) -> Resolved:
        return expand_word(word, self._lookup, self.directives.escape)

    def _base(self, instruction: Instruction) -> Iterator[NamedImage]:
        self.count += 1
        found = _From.read(instruction, self.directives.escape)
        if found is None:
            written = f"FROM {instruction.rest}".strip()
            yield NamedImage(instruction.line, written, Unresolved("it is not `FROM image [AS stage]`"))
            return
        reference = self._word(found.image)
        yield from self._external(instruction.line, found.image, reference, self.earlier)
        if found.stage is not None:
            self.earlier.add(found.stage)

    def _copied(self, line: int, written: str) -> Iterator[NamedImage]:
        """Variables are not expanded here, as in BuildKit; a number is the position of a stage."""
        if written.isascii() and written.isdigit() and len(written) < 6:
            if int(written) >= self.count:
                yield NamedImage(line, written, Unresolved(f"there is no stage {written} before it"))
            return
        variable = Unresolved("variables are not expanded in `from`; name a stage that is FROM the image")
        reference: Resolved = variable if "$" in written else written
        yield from self._external(line, written, reference, self.names)

    def _external(self, line: int, written: str, reference: Resolved, stages: Iterable[str]) -> Iterator[NamedImage]:
        if isinstance(reference, str):
            folded = reference.casefold()
            contexts = {folded, folded.removesuffix(":latest")} & self.inputs.contexts
            if contexts or folded in stages or reference == _NOTHING:
                return
            if not reference:
                reference = Unresolved("it resolves to nothing")
        yield NamedImage(line, written, reference)


def _sources(instruction: Instruction, escape: str) -> Iterator[str]:
    """Yield what the leading flags of COPY, ADD or RUN name as `from`."""
    for word in split_words(instruction.rest, escape):
        flag = _FLAG.fullmatch(word)
        if flag is None:
            return
        value = (flag[2] or "").strip("'\"")
        if flag[1] == "from" and instruction.keyword != "RUN":
            yield value
        elif flag[1] == "mount" and instruction.keyword == "RUN":
            fields = (part.strip("'\"").partition("=") for part in value.split(","))
            yield from (source for name, _, source in fields if name.lower() == "from")


def expand_word(word: str, lookup: Lookup, escape: str) -> Resolved:
    """Return a word with its quotes taken away and its variables replaced, none in single quotes."""
    dialect = BACKSLASH if escape == "\\" else BACKTICK
    if _QUOTED.fullmatch(word):
        inside = word[1:-1]
        return inside if word.startswith("'") else interpolate(inside, lookup, dialect)
    if "'" in word or '"' in word:
        return Unresolved("quotes inside a word are not understood")
    return interpolate(word, lookup, dialect)
