"""What an attempt leaves unread and unbuilt of Inspect's is there in full for whoever asks."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from inspect_ai.model import ModelInfo, _model_info, get_model_info
from inspect_ai.model._model_data.model_data import read_model_info

from tamesu.edge.providers import known_models
from tamesu.edge.providers.known_models import read_no_list_unasked
from tamesu.edge.providers.models import register_price
from tests.factories import make_spec


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How often the list was read; Inspect's own state is put back afterwards."""
    found: list[str] = []

    def counted() -> dict[str, ModelInfo]:
        found.append("read")
        return read_model_info()

    monkeypatch.setattr(known_models, "read_model_info", counted)
    monkeypatch.setattr(_model_info, "_model_info_cache", None)
    monkeypatch.setattr(_model_info, "_result_cache", {})
    monkeypatch.setattr(_model_info, "_custom_models", {})
    return found


class TestListOfModels:
    def test_a_registered_model_is_found_without_it(self, reads: list[str]) -> None:
        spec = make_spec(["x"], model="of-no-list")
        register_price(spec)
        info = get_model_info(spec.model_uri)
        assert info is not None and info.cost is not None
        assert (info.organization, info.cost.input, info.cost.output) == (spec.provider, 2.0, 8.0)
        assert reads == []

    def test_any_other_is_looked_up_in_all_of_it(self, reads: list[str]) -> None:
        read_no_list_unasked()
        known = read_model_info()
        name = next(name for name, info in known.items() if info.context_length and name != name.upper())
        assert get_model_info(name) == get_model_info(name.upper()) == known[name]
        assert reads == ["read"]
        cached = _model_info._model_info_cache
        assert cached is not None
        assert dict(cached) == known
        assert len(cached) == len(known)

    def test_one_that_was_read_already_stays(self, reads: list[str]) -> None:
        known = _model_info._get_model_info_db()
        read_no_list_unasked()
        assert _model_info._model_info_cache is known
        assert reads == []


class TestProtocolRecords:
    PROGRAM = """
import json, sys
if sys.argv[1] == "unbuilt":
    from tamesu.edge.backends.inspect.protocol_models import import_protocol_unbuilt
    import_protocol_unbuilt()
from inspect_ai.agent._acp.server import acp_server
from pydantic import ValidationError
from acp import schema
records = {name: one for name, one in vars(schema).items() if isinstance(one, type)}
classes = {name: one for name, one in records.items() if issubclass(one, schema.BaseModel)}
built = sum(one.__pydantic_complete__ for one in classes.values())

def without_texts(value):
    if isinstance(value, dict):
        return {name: without_texts(one) for name, one in value.items() if name != "description"}
    return [without_texts(one) for one in value] if isinstance(value, list) else value

note = schema.SessionNotification.model_validate({
    "sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hi"}},
})
try:
    schema.ReadTextFileRequest.model_validate({"sessionId": 1, "line": -1})
    errors = []
except ValidationError as error:
    errors = [[list(one["loc"]), one["type"]] for one in error.errors()]
print(json.dumps([built, len(classes), {
    "note": note.model_dump(mode="json", by_alias=True), "update": type(note.update).__name__, "errors": errors,
    "schemas": {name: without_texts(one.model_json_schema()) for name, one in classes.items()},
}]))
"""

    def _import(self, how: str) -> tuple[int, int, dict[str, object]]:
        done = subprocess.run([sys.executable, "-c", self.PROGRAM, how], capture_output=True, text=True, check=True)
        built, number, behaviour = json.loads(done.stdout)
        return built, number, behaviour

    def test_none_is_built_before_its_use_and_each_behaves_as_ever(self) -> None:
        built, number, behaviour = self._import("as ever")
        assert built == number > 200
        unbuilt, same, deferred = self._import("unbuilt")
        assert same == number
        assert unbuilt < number / 10
        assert deferred == behaviour

    def test_what_was_imported_before_stays(self) -> None:
        program = (
            "import acp, pydantic\nfrom acp.schema import ReadTextFileRequest as one\n"
            "from tamesu.edge.backends.inspect.protocol_models import import_protocol_unbuilt\n"
            "given = pydantic.ConfigDict\nimport_protocol_unbuilt()\n"
            "from acp.schema import ReadTextFileRequest as two\nprint(one is two, given is pydantic.ConfigDict)"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["True", "True"]
