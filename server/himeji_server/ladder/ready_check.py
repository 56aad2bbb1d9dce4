"""A seating: a game whose seats are meant for certain bots, which have to answer before it begins.

A seat that has answered is taken, so the game itself tells who did. Nothing else is kept.
"""

from himeji.v1.game_pb2 import EndReason, GameResult
from himeji.v1.play_service_pb2 import Notice, NoticeKind, Seated

from himeji_server.games.live_game import LiveGame
from himeji_server.store.game_records import OVER, WAITING, StoredGame


def seats_meant_for(view: LiveGame, bot: str) -> list[int]:
    """The seats of a seating that a bot was put on, whether it has answered or not."""
    return [number for number, seat in enumerate(view.header.seats) if seat.bot == bot]


def unanswered(stored: StoredGame) -> list[str]:
    """The bots that a game was made for and that have not answered."""
    meant = [seat.bot for seat in stored.header.seats]
    return [bot for bot, held in zip(meant, stored.seats, strict=True) if bot and not held.bot]


def never_began(view: LiveGame) -> bool:
    """Whether it is a seating that failed."""
    stored = view.stored
    meant = any(seat.bot for seat in view.header.seats)
    return meant and stored.state == OVER and not stored.started


def ran_out(stored: StoredGame, answer_ms: int) -> bool:
    """Whether a seating failed because the time to answer was over."""
    unseated = GameResult.FromString(stored.result).end_reason == EndReason.END_REASON_UNSEATED
    return unseated and stored.ended >= stored.created + answer_ms


def write_deadline(message: Seated, view: LiveGame, answer_ms: int, now: int) -> None:
    """Say by when the bot must have answered, if it still must."""
    stored = view.stored
    if stored.state != WAITING or stored.seats[message.seat].bot:
        return
    deadline = stored.created + answer_ms
    message.ready_deadline.FromMilliseconds(deadline)
    message.ready_wait.FromMilliseconds(max(0, deadline - now))


def failed_notice(view: LiveGame, bot: str, answer_ms: int) -> Notice:
    """What a bot hears of a seating that failed."""
    late = bot in unanswered(view.stored) and ran_out(view.stored, answer_ms)
    ladder = view.header.ladder
    where = f"the queue of {ladder}" if ladder else "the tournament"
    if late:
        return Notice(
            kind=NoticeKind.NOTICE_KIND_UNSEATED,
            message=f"the seating in {view.game_id} was not answered in time: you are out of "
            f"{where}, enter again",
            game_id=view.game_id,
            ladder=ladder,
        )
    return Notice(
        kind=NoticeKind.NOTICE_KIND_SEATING_FAILED,
        message=f"{view.game_id} does not begin, because another seat did not answer: you are "
        f"back at your place in {where}",
        game_id=view.game_id,
        ladder=ladder,
    )


def declined_notice(view: LiveGame) -> Notice:
    """The answer to a bot that declines its seat."""
    return Notice(
        kind=NoticeKind.NOTICE_KIND_UNSEATED,
        message=f"the seat in {view.game_id} is declined",
        game_id=view.game_id,
        ladder=view.header.ladder,
    )


def ready_notice(view: LiveGame) -> Notice:
    """The answer to a bot that is ready."""
    open_seats = len(view.open_seats())
    wait = "seat" if open_seats == 1 else "seats"
    message = f"waiting for {open_seats} {wait}" if open_seats else "all seats have answered"
    return Notice(
        kind=NoticeKind.NOTICE_KIND_READY,
        message=message,
        game_id=view.game_id,
        ladder=view.header.ladder,
    )
