"""The only room that talks to models."""

from karenina_core.models.caller import Caller
from karenina_core.models.clients import ClientPool, make_client
from karenina_core.models.embeddings import Embedder, load_embedder
from karenina_core.models.keys import KeySource, check_access, using_keys
from karenina_core.models.ledger import MemoryLedger, NullLedger
from karenina_core.models.manual import parse_answers, read_answers
from karenina_core.models.ports import (
    CallLedger,
    ChatReply,
    ChatRequest,
    Message,
    ModelClient,
    Subject,
    call_key,
)
from karenina_core.models.recorded import Recording, bundled_recordings
from karenina_core.models.structured import InvalidOutputError

__all__ = [
    "CallLedger",
    "Caller",
    "ChatReply",
    "ChatRequest",
    "ClientPool",
    "Embedder",
    "InvalidOutputError",
    "KeySource",
    "MemoryLedger",
    "Message",
    "ModelClient",
    "NullLedger",
    "Recording",
    "Subject",
    "bundled_recordings",
    "call_key",
    "check_access",
    "load_embedder",
    "make_client",
    "parse_answers",
    "read_answers",
    "using_keys",
]
