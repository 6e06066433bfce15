"""The replay provider: a real Inspect model provider that answers from a file.

It cannot see which sample is running, so it knows a call by its opening messages: the frozen dataset is
read, and the digest of each item's rendered messages names the item. The turn is the number of assistant
messages so far.
"""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    Content,
    ContentImage,
    ContentText,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo

from tamesu.base.errors import InvalidDocument
from tamesu.core.pictures import picture_kind
from tamesu.edge.providers.observing import running_item
from tamesu.edge.providers.recordings import (
    Cell,
    RecordedTurn,
    RecordedUsage,
    no_answer,
    parse_recordings,
    prompt_key,
)


class RecordedError(RuntimeError):
    """An error that the recording asks for."""


class ReplayAPI(ModelAPI):
    """Answers recorded earlier, served as if the model gave them now.

    Model arguments: `recordings` and `dataset` (files), `arm`, `repetition`, `calls`, a file that gets
    one line per call served, and `pictures`, the folder of recorded pictures, each named by its SHA-256. With
    `for_role` it answers for the model of that role, whose first call for an item gets the first turn recorded,
    and so on.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008
        *,
        recordings: str,
        dataset: str,
        arm: str,
        repetition: int,
        calls: str | None = None,
        for_role: str | None = None,
        pictures: str | None = None,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        self._cell = Cell(model_name, arm, repetition)
        self._recordings = parse_recordings(Path(recordings).read_bytes(), recordings)
        # What a role is asked is no item's prompt, so items may share one.
        self._items = _items_by_prompt(Path(dataset).read_bytes()) if for_role is None else {}
        self._calls = calls
        self._role = for_role
        self._pictures = None if pictures is None else Path(pictures)
        self._asked: Counter[str] = Counter()

    def connection_key(self) -> str:
        """All recorded models share one pool, so a cap on calls in flight holds over all of them."""
        return "replay"

    def should_retry(self, ex: BaseException) -> bool:  # noqa: ARG002
        """A recorded error is the answer; asking again would only repeat it."""
        return False

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],  # noqa: ARG002
        tool_choice: ToolChoice,  # noqa: ARG002
        config: GenerateConfig,  # noqa: ARG002
    ) -> ModelOutput:
        """Return the recorded reply of this turn. Raises RecordedError where the recording says so."""
        item, turn_number = self._place(input)
        turn = self._turn(item, turn_number)
        self._count(item, turn_number)
        if turn.latency_seconds > 0:
            await anyio.sleep(turn.latency_seconds)
        if turn.error is not None:
            raise RecordedError(turn.error)
        return _output(self.model_name, turn, turn_number, self._content(turn))

    def _content(self, turn: RecordedTurn) -> str | list[Content]:
        """Return text and pictures of a turn; a text alone is one."""
        if self._pictures is None or not turn.pictures:
            return turn.text
        shown = [_shown((self._pictures / picture.sha256).read_bytes()) for picture in turn.pictures]
        return [*([ContentText(text=turn.text)] if turn.text else []), *shown]

    def _place(self, messages: list[ChatMessage]) -> tuple[str, int]:
        """Return item and turn of a call; what a role is asked is of the task's making, so its calls are counted."""
        if self._role is None:
            opening = [message for message in messages if message.role in {"system", "user"}]
            return self._item(opening), sum(message.role == "assistant" for message in messages)
        item = running_item()
        if item is None:
            raise InvalidDocument(f"the replayed model of role '{self._role}' was called outside of any item")
        self._asked[item] += 1
        return item, self._asked[item] - 1

    def _item(self, opening: Sequence[ChatMessage]) -> str:
        """The longest run of opening messages that the frozen dataset knows names the item.

        Agents put system messages of their own before it.
        """
        pairs = [(message.role, message.text) for message in opening]
        first_other = next((place for place, (role, _) in enumerate(pairs) if role != "system"), 0)
        for start in range(first_other + 1):
            for end in range(len(pairs), start, -1):
                item = self._items.get(prompt_key(pairs[start:end]))
                if item is not None:
                    return item
        raise InvalidDocument("replay was called with messages that the frozen dataset does not hold")

    def _turn(self, item: str, number: int) -> RecordedTurn:
        answer = self._recordings.answer(item, self._cell)
        if answer is None or number >= len(answer.turns):
            raise InvalidDocument(no_answer(item, number, self._cell))
        return answer.turns[number]

    def _count(self, item: str, turn: int) -> None:
        if self._calls is None:
            return
        cell = self._cell
        line = {"model": cell.model, "arm": cell.arm, "rep": cell.repetition, "item": item, "turn": turn + 1}
        line |= {} if self._role is None else {"role": self._role}
        handle = os.open(self._calls, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            os.write(handle, json.dumps(line).encode() + b"\n")
        finally:
            os.close(handle)


def _items_by_prompt(content: bytes) -> Mapping[str, str]:
    items: dict[str, str] = {}
    for line in content.split(b"\n"):
        if not line.strip():
            continue
        record = json.loads(line)
        key = prompt_key((message["role"], message["content"]) for message in record["input"])
        other = items.setdefault(key, record["id"])
        if other != record["id"]:
            raise InvalidDocument(
                f"items '{other}' and '{record['id']}' render to the same prompt; replay cannot tell them apart"
            )
    return items


def _shown(content: bytes) -> ContentImage:
    kind = picture_kind(content)
    media_type = "application/octet-stream" if kind is None else kind.media_type
    return ContentImage(image=f"data:{media_type};base64,{b64encode(content).decode()}")


def _output(model: str, turn: RecordedTurn, number: int, content: str | list[Content]) -> ModelOutput:
    calls = [
        ToolCall(id=f"call-{number + 1}-{position}", function=call.function, arguments=dict(call.arguments))
        for position, call in enumerate(turn.tool_calls, 1)
    ]
    message = ChatMessageAssistant(content=content, tool_calls=calls or None, model=model, source="generate")
    choice = ChatCompletionChoice(message=message, stop_reason=turn.stop_reason)  # type: ignore[arg-type]
    return ModelOutput(model=model, choices=[choice], usage=_usage(turn.usage))


def _usage(usage: RecordedUsage | None) -> ModelUsage | None:
    if usage is None:
        return None
    return ModelUsage(
        input_tokens=usage.input,
        output_tokens=usage.output,
        total_tokens=usage.input + usage.output + usage.cache_read + usage.cache_write,
        input_tokens_cache_read=usage.cache_read or None,
        input_tokens_cache_write=usage.cache_write or None,
        reasoning_tokens=usage.reasoning or None,
    )
