"""Inspect's own list of models: read when a model is looked up there, which no registered one is.

Inspect reads all of it before the first answer, though a model that was registered with its price is found without.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from inspect_ai.model import ModelInfo, _model_info
from inspect_ai.model._model_data.model_data import read_model_info


class _ReadWhenAsked(Mapping[str, ModelInfo]):
    """The list as Inspect reads it, from the first look into it on."""

    def __init__(self) -> None:
        self._models: Mapping[str, ModelInfo] | None = None

    def _read(self) -> Mapping[str, ModelInfo]:
        if self._models is None:
            self._models = read_model_info()
        return self._models

    def __getitem__(self, name: str) -> ModelInfo:
        return self._read()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())


def read_no_list_unasked() -> None:
    """Let Inspect read its list of models when it looks a name up there; one that was read already stays."""
    if _model_info._model_info_cache is None:
        _model_info._model_info_cache = _ReadWhenAsked()  # type: ignore[assignment]
