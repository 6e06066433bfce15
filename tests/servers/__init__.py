"""Loopback servers that speak the languages of model providers, with faults on demand."""

from tests.servers.model_server import ModelServer
from tests.servers.replies import Asked, Reply, Usage

__all__ = ["Asked", "ModelServer", "Reply", "Usage"]
