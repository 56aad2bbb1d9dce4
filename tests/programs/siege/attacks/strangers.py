"""Attacks by strangers: without a token, or with one that they made up."""

import secrets
import uuid

from himeji.v1 import account_service_pb2 as accounts
from himeji_server.accounts import token_format
from himeji_server.names import ADMINISTRATOR

from tests.programs.siege.attacks.attack import (
    NO_FAILURE_LIMIT,
    NO_PACING,
    TRACES,
    UNLIMITED,
    Attack,
    limit_values,
)

AT_ONCE = 32
WHO_AM_I = "/himeji.v1.AccountService/WhoAmI"


class Guessing(Attack):
    """Guesses the administrator's token: each guess is well formed, so that it is looked up."""

    name = "guessing tokens"
    control = limit_values(
        guesses_per_second=UNLIMITED, guesses_at_once=UNLIMITED, **NO_FAILURE_LIMIT
    )
    log_is_bounded = True
    symptom = "guesses were looked up"
    MOST_GUESSES = 100
    """More than a person mistypes, and nothing to somebody who has 256 bits to guess."""

    async def run(self, target):
        async with self.channels(target) as (channel,):

            async def guess():
                secret = token_format.new_secret(token_format.new_id(ADMINISTRATOR))
                await self.call(channel, WHO_AM_I, b"", secret)

            await self.repeat(target, AT_ONCE, guess)

    def harm(self, told):
        looked_up = sum(n for answer, n in told.items() if answer.startswith("UNAUTHENTICATED"))
        return f"{looked_up} guesses were looked up" if looked_up > self.MOST_GUESSES else ""


class UnknownMethods(Attack):
    """Calls methods that do not exist, each of which would be a line in the log."""

    name = "log flood"
    control = limit_values(failures_logged=UNLIMITED, **NO_FAILURE_LIMIT, **NO_PACING)
    log_is_bounded = True
    traces = "siege.Nothing"
    symptom = "lines of the log"
    MOST_LINES = 100
    """Some times `failures_logged`, which is for ten seconds."""

    async def run(self, target):
        async with self.channels(target) as (channel,):

            async def call():
                await self.call(channel, f"/{self.traces}/{secrets.token_hex(40)}", b"")

            await self.repeat(target, AT_ONCE, call)

    def harm(self, told):
        lines = told[TRACES]
        return f"{lines} lines of the log are about it" if lines > self.MOST_LINES else ""


class RegistrationFlood(Attack):
    """Registers owners until no place is left, where everybody may register."""

    name = "registration flood"
    open_registration = True
    limits = limit_values(owners=100)
    control = limit_values(
        registrations_per_minute=UNLIMITED,
        registrations_per_day=UNLIMITED,
        registrations_in_all_per_day=UNLIMITED,
    )
    symptom = "register: RESOURCE_EXHAUSTED LIMIT_EXCEEDED"

    async def run(self, target):
        path = "/himeji.v1.AccountService/CreateOwner"
        async with self.channels(target) as (channel,):

            async def register():
                name = f"flood-{uuid.uuid4().hex[:12]}"
                request = accounts.CreateOwnerRequest(owner=name)
                await self.call(channel, path, request.SerializeToString())

            await self.repeat(target, AT_ONCE, register)


ATTACKS = (Guessing, UnknownMethods, RegistrationFlood)
