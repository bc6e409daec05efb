"""Calls that several runs need at the same moment: one run makes them, the others take the reply."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from karenina_core.models.ports import ChatReply


class SharedCall:
    """A call as all runs need it together.

    Attributes:
        users: How many runs are about to make it, or have its reply and have not stored it yet.
        reply: What came, once it is there.
    """

    __slots__ = ("_followers", "_under_way", "reply", "users")

    def __init__(self) -> None:
        self.users = 0
        self.reply: ChatReply | None = None
        self._under_way = False
        self._followers: list[asyncio.Future[ChatReply | None]] = []

    @property
    def taken(self) -> bool:
        """Whether somebody makes the call at this moment, or has made it."""
        return self._under_way or self.reply is not None

    async def make(self, calling: Awaitable[ChatReply]) -> ChatReply:
        """Return what the call returns, and let the others have it."""
        self._under_way = True
        try:
            self.reply = await calling
            return self.reply
        finally:
            self._under_way = False
            followers, self._followers = self._followers, []
            for follower in followers:
                if not follower.done():
                    follower.set_result(self.reply)

    async def follow(self) -> ChatReply | None:
        """Return the reply when it is there; None when the call is to be made, again or for the first time."""
        if not self._under_way:
            return self.reply
        follower: asyncio.Future[ChatReply | None] = asyncio.get_running_loop().create_future()
        self._followers.append(follower)
        return await follower


class SharedCalls:
    """The calls that the runs of one event loop are about to make, so that none is paid for twice.

    A run joins a call before it looks it up in the ledger, and leaves it when the reply is stored; so whoever comes
    finds the reply here or there.
    """

    def __init__(self) -> None:
        self._calls: dict[str, SharedCall] = {}

    def join(self, key: str) -> SharedCall:
        """Return the call, from now on needed by one run more."""
        call = self._calls.get(key)
        if call is None:
            call = self._calls[key] = SharedCall()
        call.users += 1
        return call

    def leave(self, key: str) -> None:
        """Note that one run less needs the call."""
        call = self._calls[key]
        call.users -= 1
        if not call.users:
            del self._calls[key]
