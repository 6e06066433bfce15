"""The external images of a compose file: images that are pulled, and what the Dockerfiles of builds name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tamesu.edge.documents.document import Position
from tamesu.edge.documents.images.compose_file import ComposeFile, Field, Loader, below, remote
from tamesu.edge.documents.images.dockerfile import BuildInputs, NamedImage, dockerfile_images
from tamesu.edge.documents.images.instructions import Dockerfile, split_dockerfile
from tamesu.edge.documents.images.interpolation import Missing, Resolved, Unresolved
from tamesu.edge.documents.images.services import Service, Services, entries
from tamesu.edge.documents.images.survey import NOT_PINNED, BuildContext, Survey

_IMAGE_CONTEXT = "docker-image://"
_SERVICE_CONTEXT = "service:"


def survey_compose(survey: Survey, path: Path) -> None:
    """Add everything that a compose file leads to; the file itself must be a declared source."""
    loader = Loader(survey)
    file = loader.root(path)
    if file is None:
        return
    built: set[str] = set()
    pulled: list[tuple[Path, NamedImage]] = []
    for service in Services(loader).of(file):
        pulled += [(field.file.path, _named(field)) for field in _image_volumes(service)]
        image = service.last("image")
        name = None if image is None else image.text()
        if service.last("build") is not None:
            survey_build(survey, service)
            # beside a build, the image is the name that the result gets
            built.update([_tagged(name)] if isinstance(name, str) else [])
        elif image is None or name is None:
            survey.shape(
                service.own.file.path, service.own.position, f"service '{service.name}' has no image and no build"
            )
        else:
            pulled.append((image.file.path, _named(image)))
    pulled += [(field.file.path, _named(field)) for field in _models(file)]
    for place, found in pulled:
        if not isinstance(found.reference, str) or _tagged(found.reference) not in built:
            survey.name(place, found)


_EMPTY = Unresolved("it resolves to nothing")


def _named(field: Field) -> NamedImage:
    return NamedImage(field.line, str(field.value), field.text() or _EMPTY, field.position.column)


def _image_volumes(service: Service) -> Iterator[Field]:
    """Yield the images that a service mounts as volumes."""
    for volumes in service.each("volumes"):
        for number, volume in enumerate(volumes.value if isinstance(volumes.value, list) else ()):
            if isinstance(volume, dict) and volume.get("type") == "image":
                yield volumes.inner(number, volume).inner("source", volume.get("source"))


def _models(file: ComposeFile) -> Iterator[Field]:
    """Yield the models of a compose file, which are pulled like images."""
    models = file.root.inner("models", entries(file.root).get("models"))
    for name, model in entries(models).items():
        if isinstance(model, dict):
            yield models.inner(name, model).inner("model", model.get("model"))


def _tagged(name: str) -> str:
    """Return an image name with the tag that Docker adds."""
    return name if ":" in name.rpartition("/")[2] or "@" in name else f"{name}:latest"


@dataclass(frozen=True, slots=True)
class _Build:
    """The `build` of a service, each field by its last word, arguments and contexts by name."""

    survey: Survey
    fields: Mapping[str, Field]
    arguments: Mapping[str, Field]
    contexts: Mapping[str, Field]
    at: Field


def survey_build(survey: Survey, service: Service) -> None:
    """Add what the build of a service reads: its context, its Dockerfile, images that stand for names."""
    fields: dict[str, Field] = {}
    arguments: dict[str, Field] = {}
    contexts: dict[str, Field] = {}
    at = service.own
    for at in service.each("build"):
        if isinstance(at.value, str):
            fields["context"] = at
        elif isinstance(at.value, dict):
            fields |= {name: at.inner(name, value) for name, value in at.value.items() if value is not None}
            arguments |= dict(_pairs(survey, at.inner("args", at.value.get("args"))))
            contexts |= dict(_pairs(survey, at.inner("additional_contexts", at.value.get("additional_contexts"))))
        else:
            survey.shape(at.file.path, at.position, "`build` is neither a folder nor a mapping")
    _survey(_Build(survey, fields, arguments, contexts, at))


def _pairs(survey: Survey, field: Field) -> Iterator[tuple[str, Field]]:
    """Yield names and values of a mapping or of a list of `name=value`; a name alone has the value None."""
    if isinstance(field.value, dict):
        for name in entries(field):
            yield name, field.inner(name, field.value[name])
    elif isinstance(field.value, list):
        for number, value in enumerate(field.value):
            name, assigned, rest = str(value).partition("=")
            yield name, field.inner(number, rest if assigned else None)
    elif field.value is not None:
        survey.shape(field.file.path, field.position, "is neither a mapping nor a list of `name=value`")


def _survey(build: _Build) -> None:
    inputs = BuildInputs(dict(_arguments(build)), frozenset(name.casefold() for name in build.contexts))
    for field in build.contexts.values():
        _named_context(build.survey, field)
    context = _context(build.survey, build.fields.get("context"), build.at)
    inline = build.fields.get("dockerfile_inline")
    if inline is not None:
        _inline(build.survey, inline, inputs)
        dockerfile: Path | None = None
    else:
        dockerfile = None if context is None else _dockerfile(build, context, inputs)
    if context is not None:
        build.survey.contexts.append(BuildContext(context, dockerfile, *_place(build.fields.get("context", build.at))))


def _place(field: Field) -> tuple[Path, Position]:
    return field.file.path, field.position


def _arguments(build: _Build) -> Iterator[tuple[str, Resolved]]:
    for name, field in build.arguments.items():
        # an argument without value is taken from the environment
        value = field.file.lookup(name) if field.value is None else field.text()
        if value is not None:
            yield name, value


def _context(survey: Survey, field: Field | None, at: Field) -> Path | None:
    """Return the folder that a build reads, whether it is declared or not; None when it is no folder."""
    if field is None:
        return at.file.folder
    written = field.text()
    if isinstance(written, Unresolved):
        survey.unpinned(*_place(field), f"build context {field.value}", written.why)
        return None
    if remote(written):
        survey.unpinned(*_place(field), f"build context {written}", "it is fetched from elsewhere; use a folder")
        return None
    return below(field.file.folder, written)


def _named_context(survey: Survey, field: Field) -> None:
    written = field.text()
    if isinstance(written, str) and written.startswith(_IMAGE_CONTEXT):
        reference = written.removeprefix(_IMAGE_CONTEXT)
        survey.name(field.file.path, NamedImage(field.line, written, reference, field.position.column))
    elif isinstance(written, str) and written.startswith(_SERVICE_CONTEXT):
        return  # that service is built by this project
    else:
        folder = _context(survey, field, field)
        if folder is not None:
            survey.contexts.append(BuildContext(folder, None, *_place(field)))


def _dockerfile(build: _Build, context: Path, inputs: BuildInputs) -> Path | None:
    """Read the Dockerfile of a build; return its path, or None when it is not declared."""
    survey, field = build.survey, build.fields.get("dockerfile")
    written = "Dockerfile" if field is None else field.text()
    field = field or build.fields.get("context", build.at)
    if isinstance(written, Unresolved):
        survey.unpinned(*_place(field), f"dockerfile {field.value}", written.why)
        return None
    path = below(context, written)
    if remote(written) or not survey.usable(path):
        survey.undeclared(*_place(field), written)
        return None
    survey.reached.add(path)
    survey_dockerfile(survey, path, inputs)
    return path


def _inline(survey: Survey, field: Field, inputs: BuildInputs) -> None:
    text = field.text(Missing.BLANK)
    if isinstance(text, Unresolved):
        survey.unpinned(*_place(field), "dockerfile_inline", text.why)
        return
    # the text of a block scalar starts below its key
    above = field.line if "\n" in text else field.line - 1
    _name_all(survey, field.file.path, split_dockerfile(text.replace("\r", "")), inputs, above)


def survey_dockerfile(survey: Survey, path: Path, inputs: BuildInputs) -> None:
    """Add the images of a declared Dockerfile."""
    text = survey.reading.text(path)
    if text is not None:
        _name_all(survey, path, split_dockerfile(text), inputs, 0)


def _name_all(survey: Survey, path: Path, dockerfile: Dockerfile, inputs: BuildInputs, above: int) -> None:
    """Add the images of a Dockerfile whose first line stands below `above` lines."""
    directives = dockerfile.directives
    if dockerfile.unclosed is not None:
        survey.unpinned(
            path, Position(above + dockerfile.unclosed, 1), "Dockerfile", "a heredoc that starts here never ends"
        )
    if directives.syntax is not None and "@sha256:" not in directives.syntax:
        survey.note(
            path, Position(above + directives.syntax_line, 1), NOT_PINNED,
            f"the syntax image '{directives.syntax}' reads this file and is not pinned",
            "delete the line, or write name@sha256:<digest>", "warning",
        )  # fmt: skip
    for image in dockerfile_images(dockerfile, inputs):
        survey.name(path, NamedImage(above + image.line, image.written, image.reference))
