"""Who may take which seat of a game, and which seats belong to a caller."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from himeji.rules.errors import InvalidRequest, NotYourDecision, Refused
from himeji.v1.game_pb2 import SeatPlan, SeatPolicy

from himeji_server import names
from himeji_server.accounts.caller import Caller
from himeji_server.games.live_game import GameView
from himeji_server.names import HOUSE
from himeji_server.store.game_records import PLAYING, WAITING


def check_plan(plan: SeatPlan, field: str) -> None:
    """Raise InvalidRequest unless the plan says for whom the seat is."""
    if plan.policy not in SeatPolicy.values():
        raise InvalidRequest("that is no policy for a seat", {"field": f"{field}.policy"})
    if plan.policy == SeatPolicy.SEAT_POLICY_OWNER:
        names.owner_name(plan.name, f"{field}.name")
    elif plan.policy == SeatPolicy.SEAT_POLICY_BOT:
        names.bot_name(plan.name, f"{field}.name")
    elif plan.name:
        raise InvalidRequest("a seat for anyone has no name", {"field": f"{field}.name"})


def may_take(plan: SeatPlan, bot: str) -> bool:
    """Whether a bot may take a seat with this plan; nobody may, by a policy of a newer server."""
    if plan.policy == SeatPolicy.SEAT_POLICY_OWNER:
        return names.owner_of(bot) == plan.name
    if plan.policy == SeatPolicy.SEAT_POLICY_BOT:
        return bot == plan.name
    return plan.policy == SeatPolicy.SEAT_POLICY_ANYONE


def check_version(view: GameView, bot: str, version: int) -> None:
    """Raise Refused if the seat of a bot in a tournament is meant for another version of it.

    A ladder rates the version that answers, whichever it is.
    """
    meant = {seat.bot_version for seat in view.header.seats if seat.bot == bot}
    if view.header.tournament and version not in meant:
        raise Refused(
            f"{view.header.tournament} is played by {bot} version {max(meant)}, and you play "
            f"version {version}",
            {"game_id": view.game_id},
        )


def is_joinable(view: GameView, caller: Caller) -> bool:
    """Whether a seat is open that some bot of the caller's may take."""
    return view.stored.state == WAITING and any(
        may_take(plan, caller.bot or f"{caller.owner}/")
        or (not caller.bot and plan.name.startswith(f"{caller.owner}/"))
        for plan in (view.header.seats[seat].plan for seat in view.open_seats())
    )


def invited_bots(plans: Iterable[SeatPlan]) -> set[str]:
    """The bots that are named for a seat."""
    return {plan.name for plan in plans if plan.policy == SeatPolicy.SEAT_POLICY_BOT}


def invited_owners(creator: str, plans: Iterable[SeatPlan]) -> set[str]:
    """The other owners whose bots are named for a seat; the house is not counted among them."""
    return {names.owner_of(bot) for bot in invited_bots(plans)} - {creator, HOUSE}


def accepts_by_itself(view: GameView, bot: str, inviters: Collection[str]) -> bool:
    """Whether a bot that accepts invitations takes this one without a call of its owner.

    Not from owners who are not among the inviters, if there are any, and no untimed game of another
    owner: it might never end, and would count against the limits of the bot's owner for ever.
    """
    creator, owner = view.stored.creator.owner, names.owner_of(bot)
    if creator == owner:
        return True
    is_timed = view.header.HasField("clock") or owner == HOUSE  # the house has no limits
    return is_timed and (not inviters or creator in inviters)


def invitations(view: GameView, bot: str) -> list[int]:
    """The open seats that are meant for one bot and that it did not give up before.

    A ladder's seats are answered by Ready instead.
    """
    if view.stored.state != WAITING or any(seat.bot for seat in view.header.seats):
        return []
    plans = {seat: view.header.seats[seat].plan for seat in view.open_seats()}
    return [
        seat
        for seat, plan in plans.items()
        if bot in invited_bots([plan]) and view.stored.seats[seat].given_up_by != bot
    ]


def seats_of(view: GameView, caller: Caller, seat: int | None = None) -> list[int]:
    """The seats that the caller's bots have, none for a spectator."""
    return [
        number
        for number, held in enumerate(view.stored.seats)
        if _acts_for(caller, held.bot) and seat in (None, number)
    ]


def _acts_for(caller: Caller, bot: str) -> bool:
    """Whether the caller has the rights of a bot; of none, for an empty name."""
    return bool(bot) and names.owner_of(bot) == caller.owner and caller.bot in ("", bot)


def check_seats_of(view: GameView, caller: Caller, seat: int | None = None) -> list[int]:
    """The seats that the caller's bots have; raises NotYourDecision if there are none."""
    mine = seats_of(view, caller, seat)
    if not mine:
        raise NotYourDecision("you have no such seat in this game", {"game_id": view.game_id})
    return mine


def has_given_up(view: GameView, caller: Caller, seat: int | None = None) -> bool:
    """Whether a bot of the caller's gave up such a seat before the game began.

    Of each seat the store knows the last bot that did, which is enough for a retry.
    """
    return any(
        _acts_for(caller, held.given_up_by) and seat in (None, number)
        for number, held in enumerate(view.stored.seats)
    )


def may_cancel(view: GameView, caller: Caller) -> bool:
    """Whether the game is the caller's to cancel.

    A token that is bound to a bot cancels what a token of the same bot created; a token for all
    bots of the owner cancels whatever the owner created.
    """
    creator = view.stored.creator
    return creator.owner == caller.owner and caller.bot in ("", creator.bot)


def is_asked(view: GameView, caller: Caller, seat: int | None = None) -> bool:
    """Whether a seat of the caller's has to answer."""
    stored = view.stored
    return (
        stored.state == PLAYING
        and stored.seat in check_seats_of(view, caller, seat)
        and not stored.seats[stored.seat].lost
    )


def answering_seat(view: GameView, caller: Caller, decision: int) -> int:
    """The seat of the caller's that answers a decision, or answered it; raises NotYourDecision."""
    mine = check_seats_of(view, caller)
    standing = view.answer_to(decision)
    if standing is not None and standing.seat in mine:
        return standing.seat
    return view.stored.seat if view.stored.seat in mine else mine[0]
