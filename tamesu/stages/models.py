"""Models: what a project and the price library know about them. Reads only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tamesu.base.errors import InvalidDocument, UnknownName
from tamesu.base.model.facts import ModelFacts
from tamesu.base.model.manifest import EvalRef
from tamesu.core.matrix import ModelKey, Setting, model_key
from tamesu.core.routes import canonical_provider
from tamesu.edge.documents.eval_reader import read_eval, with_prices
from tamesu.edge.documents.reading import Reading
from tamesu.edge.documents.settings_reader import read_setting
from tamesu.edge.prices import library
from tamesu.edge.prices.book import library_source, today
from tamesu.edge.prices.routes import SERVICES, library_id, priced_routes
from tamesu.edge.store.paths import Project


@dataclass(frozen=True, slots=True)
class ListedModel:
    """One model with what is known about it; `context_window` in tokens, None and `deprecated` None: nobody says."""

    provider: str
    model: str
    facts: ModelFacts
    context_window: int | None
    deprecated: bool | None


@dataclass(frozen=True, slots=True)
class ProjectModels:
    """The models of a project, sorted by name, and the evals that could not be read for theirs."""

    models: tuple[ListedModel, ...]
    unreadable: tuple[EvalRef, ...]


def project_models(project: Project) -> ProjectModels:
    """Return the models that config/models.yml and the evals name, with the price that counts.

    Raises InvalidDocument when the project's settings have errors.
    """
    reading = Reading(project.root)
    setting = read_setting(reading, project.config, project.models)
    if reading.failed:
        raise InvalidDocument(str(next(found for found in sorted(reading.findings) if found.severity == "error")))
    named: set[ModelKey] = set(setting.models)
    unreadable: list[EvalRef] = []
    for ref in project.refs():
        evaluation = read_eval(project, ref).evaluation
        if evaluation is None:
            unreadable.append(ref)
        else:
            named |= {model_key(entry.provider, entry.model) for entry in evaluation.models}
    setting = with_prices(project, setting, named)
    return ProjectModels(tuple(_listed(setting, key) for key in sorted(named)), tuple(unreadable))


def _listed(setting: Setting, key: ModelKey) -> ListedModel:
    provider, model = key
    name = library_id(provider)
    found = None if name is None else library.find_model(name, model, today(), library_source())
    return ListedModel(
        provider=provider,
        model=model,
        facts=setting.facts(provider, model),
        context_window=None if found is None else found.context_window,
        deprecated=None if found is None else found.deprecated,
    )


def provider_models(provider: str, own: Iterable[ListedModel]) -> tuple[ListedModel, ...]:
    """Return the models of a provider: those of the project first, then all others that the price library has.

    Raises UnknownName for a provider that neither knows.
    """
    provider = canonical_provider(provider)
    first = [model for model in own if model.provider == provider]
    name = library_id(provider)
    listed = () if name is None else library.provider_models(name, today(), library_source())
    if not first and not listed and provider not in priced_routes():
        names = _provider_names()
        raise UnknownName("provider", provider, names, most=len(names))
    seen = {model.model for model in first}
    others = (
        ListedModel(provider, model.model, ModelFacts(model.price), model.context_window, model.deprecated)
        for model in listed
        if model.model not in seen
    )
    return (*first, *others)


def _provider_names() -> tuple[str, ...]:
    return (*priced_routes(), *(SERVICES + name for name in library.provider_ids()))
