"""The ready check: a seating is a game whose seats are assigned to bots that have to answer first.

A bot that has answered has taken its seat, so the game itself tells who did. There is no other
state.
"""

from himeji.v1.game_pb2 import EndReason, GameResult
from himeji.v1.play_service_pb2 import ReadyNoted, Seated, SeatingFailed

from himeji_server.games.live_game import GameView
from himeji_server.store.game_records import OVER, WAITING, StoredGame


def assigned_seats(view: GameView, bot: str) -> list[int]:
    """The seats of a seating that are assigned to a bot, whether it has answered or not."""
    return [number for number, seat in enumerate(view.header.seats) if seat.bot == bot]


def unanswered(stored: StoredGame) -> list[str]:
    """The bots of a seating that have not answered."""
    assigned = [seat.bot for seat in stored.header.seats]
    return [bot for bot, held in zip(assigned, stored.seats, strict=True) if bot and not held.bot]


def has_failed(view: GameView) -> bool:
    """Whether it is a seating whose game never began."""
    stored = view.stored
    is_seating = any(seat.bot for seat in view.header.seats)
    return is_seating and stored.state == OVER and not stored.started


def has_timed_out(stored: StoredGame, ready_ms: int) -> bool:
    """Whether a seating failed because its deadline passed."""
    unseated = GameResult.FromString(stored.result).end_reason == EndReason.END_REASON_UNSEATED
    return unseated and stored.ended >= stored.created + ready_ms


def write_deadline(message: Seated, view: GameView, ready_ms: int, now: int) -> None:
    """Write by when the bot must answer, if it has not yet."""
    stored = view.stored
    if stored.state != WAITING or stored.seats[message.seat].bot:
        return
    deadline = stored.created + ready_ms
    message.ready_deadline.FromMilliseconds(deadline)
    # What is known of the store's time may lag by a millisecond.
    message.ready_wait.FromMilliseconds(min(max(0, deadline - now), ready_ms))


def seating_failed(view: GameView, bot: str, ready_ms: int) -> SeatingFailed:
    """The message to a bot whose seating failed: because of itself, or of another bot."""
    late = bot in unanswered(view.stored) and has_timed_out(view.stored, ready_ms)
    ladder = view.header.ladder
    where = f"the queue of {ladder}" if ladder else "the tournament"
    if late:
        message = (
            f"the seating in {view.game_id} was not answered in time: you are out of "
            f"{where}, enter again"
        )
    else:
        message = (
            f"{view.game_id} does not begin, because another seat did not answer: you are "
            f"back at your place in {where}"
        )
    return SeatingFailed(
        game_id=view.game_id, ladder=ladder, still_queued=not late, message=message
    )


def seating_declined(view: GameView) -> SeatingFailed:
    return SeatingFailed(
        game_id=view.game_id,
        ladder=view.header.ladder,
        message=f"the seat in {view.game_id} is declined",
    )


def ready_noted(view: GameView) -> ReadyNoted:
    open_seats = len(view.open_seats())
    seats = "seat" if open_seats == 1 else "seats"
    message = f"waiting for {open_seats} {seats}" if open_seats else "all seats have answered"
    return ReadyNoted(game_id=view.game_id, message=message)
