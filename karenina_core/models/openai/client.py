"""Models that speak the OpenAI protocol, called directly. One call is one HTTP request: retries are ours."""

from __future__ import annotations

import asyncio
import os
import time
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

from karenina_core.errors import ConfigError, ModelError
from karenina_core.models.failures import BrokenReplyError, failure
from karenina_core.models.json_modes import NEXT_MODE, Mode, instructed, settings_for
from karenina_core.models.keys import check_access, find_key, key_variable, no_key
from karenina_core.models.openai.errors import RejectedError, answered, on_the_way
from karenina_core.models.openai.reply import Asker, decode, read_reply
from karenina_core.models.openai.route import route_of
from karenina_core.models.openai.settings import Settings, settings_of
from karenina_core.models.openai.stream import Collected, StreamError, collect
from karenina_core.models.ports import ChatReply, ChatRequest
from karenina_core.models.prices import Listed, listed
from karenina_core.models.replies import clean, clean_data, without_key
from karenina_core.schemas import ModelConfig

if TYPE_CHECKING:
    from karenina_core.models.openai.http import Body, Connections
    from karenina_core.models.openai.post import Answer, Post

THROUGH = "OpenAI protocol"  # as the provenance of a reply says it
_KEPT_SCHEMAS = 256
_UNLISTED = Listed("", "", None, None)
# What OpenAI itself charges a call to, beside the key.
_ACCOUNT = {
    "OpenAI-Organization": ("OPENAI_ORGANIZATION", "OPENAI_ORG_ID"),
    "OpenAI-Project": ("OPENAI_PROJECT_ID",),
}


class OpenAIClient:
    """A model behind an endpoint that speaks the OpenAI protocol.

    How the model takes requests is found out with the first ones and kept for the client's further calls. Structured
    replies are asked for by JSON schema, else by a forced tool call, else by an instruction in the prompt. A
    temperature or a name for the length of replies that the model does not know is left out or replaced; the
    provenance of replies says so.

    Args:
        config: The model.

    Raises:
        ConfigError: It is not reached this way, its address cannot be used, or its key may not be sent there.
    """

    def __init__(self, config: ModelConfig) -> None:
        check_access(config)
        route = route_of(config)
        if route is None:
            raise ConfigError(
                f"{config.id!r} is not known to speak the OpenAI protocol.",
                next="Give its address, or have it called through litellm.",
            )
        self.config = config
        self._route = route
        self._url = f"{route.url}/chat/completions"
        self._at_openai = route.at_openai
        self._settings = settings_of(config, route)
        self._mode: Mode = "schema"
        self._listed: Listed | None = None
        self._connections: Connections | None = None
        self._post: Post | None = None
        self._head: tuple[str, bytes] | None = None
        self._schemas: dict[tuple[int, Mode], tuple[dict[str, Any], bytes]] = {}

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Make one attempt; more than one request only while finding out how the model takes them.

        Raises:
            ModelError: With its category; a `BrokenReplyError` when a streamed reply broke off.
        """
        known, usual = settings, mode = self._settings, self._mode
        while True:
            try:
                reply = await self._once(request, settings, mode)
            except ModelError as error:
                other = settings.without(error) if isinstance(error, RejectedError) else None
                if other is not None:
                    settings = other
                elif request.schema is not None and error.category == "bad_request" and mode in NEXT_MODE:
                    mode = NEXT_MODE[mode]
                else:
                    raise
            else:
                # Only what this call found out; another one may have found out the rest meanwhile.
                self._settings = self._settings if settings is known else settings
                self._mode = self._mode if mode == usual else mode
                return reply

    async def aclose(self) -> None:
        """Give back the connections; they are closed when no other client uses them."""
        if self._connections is not None:
            from karenina_core.models.openai.http import release

            connections, self._connections, self._post, self._head = self._connections, None, None, None
            await release(connections)

    async def _once(self, request: ChatRequest, settings: Settings, mode: Mode) -> ChatReply:
        begun = Collected()
        key = None
        try:
            key = self._key()
            post = await self._posting()
            body = self._body(request, settings, mode)
            async with asyncio.timeout(request.timeout):
                return await self._exchange(post, key, body, settings, begun)
        except ModelError as error:
            problem = error
        except Exception as error:
            problem = on_the_way(error, self.config.id)
        if begun.broken:
            problem = BrokenReplyError(problem, without_key(key, clean(begun.text)))
        # Outside of the handler, so that what was raised, which may hold the key, is not chained to ours.
        raise problem

    async def _exchange(self, post: Post, key: str, body: bytes, settings: Settings, begun: Collected) -> ChatReply:
        from karenina_core.models.openai.http import MAX_BODY, MAX_ERROR, read_body

        start = time.perf_counter()
        async with await post.send(self._head_for(post, key), body) as response:
            if response.status >= 300:
                said = await read_body(response, MAX_ERROR)
                raise answered(response.status, response.headers, _said(said), self.config.id)
            if response.content_type == "text/event-stream":
                completion, cut = await self._streamed(response, begun), begun.cut
            else:
                read = await read_body(response, MAX_BODY)
                completion, cut = self._decoded(read), not read.whole
        seconds = time.perf_counter() - start
        return read_reply(completion, self._asker(key), seconds, _facts(settings), cut=cut)

    async def _streamed(self, response: Answer, begun: Collected) -> dict[str, Any]:
        from karenina_core.models.openai.http import finish

        try:
            await collect(response.content.iter_any(), begun)
        except StreamError as error:
            raise failure("server_error", self.config.id, str(error)) from None
        await finish(response)
        return begun.completion()

    def _decoded(self, read: Body) -> Any:
        try:
            return decode(read.data, whole=read.whole)
        except ValueError:
            begins = clean(read.data[:200].decode("utf-8", "replace"))
            raise failure(
                "server_error", self.config.id, f"Its reply is not JSON; it begins with {begins!r}."
            ) from None

    async def _posting(self) -> Post:
        loop = asyncio.get_running_loop()
        if self._post is None or self._connections is None or self._connections.loop is not loop:
            await asyncio.to_thread(load_library)
            from karenina_core.models.openai.http import connect
            from karenina_core.models.openai.post import Post

            # Another call may have been faster. Connections of a loop that has ended are gone with it.
            if self._connections is None or self._connections.loop is not loop:
                self._connections = connect(self._route.url)
                self._post = None
            if self._post is None:
                self._post, self._head = Post(self._connections.session, self._url), None
        return self._post

    def _key(self) -> str:
        key = find_key(self.config, self._route.provider)
        if not key:
            raise no_key(key_variable(self.config, self._route.provider), self.config.id)
        if not key.isascii() or not key.isprintable():
            raise failure("authentication", self.config.id, "The key holds a line break or a sign that no key has.")
        return key

    def _head_for(self, post: Post, key: str) -> bytes:
        if self._at_openai:
            return post.head(self._headers(key))
        if self._head is None or self._head[0] != key:
            self._head = key, post.head(self._headers(key))
        return self._head[1]

    def _headers(self, key: str) -> dict[str, str]:
        headers = {"Authorization": f"Bearer {key}"}
        # A key that a person typed belongs to another account than the environment's.
        if self._at_openai and key == os.environ.get(self.config.api_key_env or "OPENAI_API_KEY"):
            for header, names in _ACCOUNT.items():
                value = next((value for name in names if (value := os.environ.get(name, "").strip())), "")
                if value.isascii() and value.isprintable() and value:
                    headers[header] = value
        return headers

    def _body(self, request: ChatRequest, settings: Settings, mode: Mode) -> bytes:
        messages = [{"role": message.role, "content": clean(message.content)} for message in request.messages]
        asked = b""
        if request.schema is not None:
            if mode == "instruction":
                messages = instructed(messages, request.schema)
            else:
                asked = self._asked(request.schema, mode)
        return b"".join((settings.head, b',"messages":', to_json(messages), asked, b"}"))

    def _asked(self, schema: dict[str, Any], mode: Mode) -> bytes:
        """Return what is said about a schema, as the middle of a JSON object; made once for each schema."""
        kept = self._schemas.get((id(schema), mode))
        if kept is None:
            if len(self._schemas) >= _KEPT_SCHEMAS:
                self._schemas.clear()
            # The schema is kept alive with its bytes, so that its identity stays its own.
            kept = (schema, b"," + _json_of(settings_for(schema, mode))[1:-1])
            self._schemas[id(schema), mode] = kept
        return kept[1]

    def _asker(self, key: str) -> Asker:
        if self._listed is None:
            self._listed = listed(self.config.provider_model) or _UNLISTED
        return Asker(self.config.id, self._listed, key, charges=self._route.provider == "openrouter")


def _json_of(settings: dict[str, Any]) -> bytes:
    """Return what a request says, without NUL characters and half surrogate pairs, which are rare."""
    try:
        data = to_json(settings)
    except ValueError:
        return to_json(clean_data(settings))
    return to_json(clean_data(settings)) if b"\\u0000" in data else data


def _said(read: Body) -> Any:
    try:
        return decode(read.data)
    except ValueError:
        return read.data.decode("utf-8", "replace")


def _facts(settings: Settings) -> dict[str, str]:
    refused = ", ".join(f"{name} {value}" for name, value in settings.not_accepted.items())
    return {"through": THROUGH, **({"not_accepted": refused} if refused else {})}


def load_library() -> None:
    """Load what calls need, the price list among it: two tenths of a second, once, during which others go on."""
    import karenina_core.models.openai.post  # noqa: F401

    listed("")
