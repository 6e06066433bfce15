"""A server that speaks xAI's gRPC on the loopback address: answers, counts, and says it is unavailable on demand."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import grpc
from google.protobuf.timestamp_pb2 import Timestamp
from xai_sdk.proto import chat_pb2, chat_pb2_grpc, usage_pb2

INPUT_TOKENS = 10
OUTPUT_TOKENS = 5


@dataclass(frozen=True)
class Failing:
    """A request that is refused with a status of gRPC."""

    code: grpc.StatusCode


Answer = Callable[[int], str | Failing]


@dataclass
class GrokServer:
    """Serves as a context manager; `answer` gets the number of the request, from 1, and gives a text or a refusal."""

    answer: Answer = lambda number: "4"
    served: str | None = None
    asked: list[chat_pb2.GetCompletionsRequest] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    port: int = 0

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._server = grpc.server(ThreadPoolExecutor(max_workers=8))
        chat_pb2_grpc.add_ChatServicer_to_server(_Chat(self), self._server)
        self.port = self._server.add_insecure_port("127.0.0.1:0")

    def __enter__(self) -> GrokServer:
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop(None).wait(10)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def take(self, request: chat_pb2.GetCompletionsRequest, context: grpc.ServicerContext) -> str | Failing:
        with self._lock:
            self.asked.append(request)
            number = len(self.asked)
            self.keys |= {str(value) for name, value in context.invocation_metadata() if name == "authorization"}
        return self.answer(number)


class _Chat(chat_pb2_grpc.ChatServicer):
    def __init__(self, owner: GrokServer) -> None:
        self._owner = owner

    def GetCompletion(
        self, request: chat_pb2.GetCompletionsRequest, context: grpc.ServicerContext
    ) -> chat_pb2.GetChatCompletionResponse:
        answer = self._owner.take(request, context)
        if isinstance(answer, Failing):
            context.abort(answer.code, "on demand")
        message = chat_pb2.CompletionMessage(content=answer, role=chat_pb2.MessageRole.ROLE_ASSISTANT)
        output = chat_pb2.CompletionOutput(index=0, message=message, finish_reason="REASON_STOP")
        usage = usage_pb2.SamplingUsage(
            prompt_tokens=INPUT_TOKENS,
            prompt_text_tokens=INPUT_TOKENS,
            completion_tokens=OUTPUT_TOKENS,
            total_tokens=INPUT_TOKENS + OUTPUT_TOKENS,
        )
        return chat_pb2.GetChatCompletionResponse(
            id="r",
            model=self._owner.served or request.model,
            outputs=[output],
            usage=usage,
            created=Timestamp(seconds=1),
        )
