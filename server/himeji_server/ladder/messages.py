"""Ladders, queues, standings, seasons and audit entries as messages of the contract."""

from collections.abc import Iterable

from himeji.v1.admin_service_pb2 import AuditEntry, AuditKind
from himeji.v1.game_pb2 import EndReason
from himeji.v1.ladder_service_pb2 import (
    Ladder as LadderMessage,
    Season,
    Standing,
    Ticket as TicketMessage,
)
from himeji.v1.play_service_pb2 import LeftQueue, LeftQueueReason

from himeji_server.ladder.ladders import Ladder
from himeji_server.ladder.standings import StandingsRow, write_rating
from himeji_server.names import HOUSE
from himeji_server.store.audit import AuditRecord
from himeji_server.store.queues import Ticket
from himeji_server.store.standings import SeasonRecord


def ladder_message(
    ladder: Ladder, *, season: int, waiting: int, playing: int, rows: int
) -> LadderMessage:
    out = LadderMessage(
        name=ladder.name,
        ruleset=ladder.ruleset,
        seats=ladder.seats,
        strike_limit=ladder.strike_limit,
        trusted=ladder.trusted,
        accepting=ladder.accepting,
        season=season,
        waiting=waiting,
        playing=playing,
        rated_bots=rows,
    )
    for name in sorted(ladder.options):
        out.options.add(name=name, value=ladder.options[name])
    ladder.clock.write(out.clock)
    return out


def ticket_message(
    ladder: str, ticket: Ticket, games: Iterable[str], *, connected: bool
) -> TicketMessage:
    out = TicketMessage(
        ticket_id=ticket.id,
        ladder=ladder,
        bot=ticket.bot,
        bot_version=ticket.version,
        max_games=ticket.max_games,
        game_ids=sorted(games),
        connected=connected,
    )
    out.enter_time.FromMilliseconds(ticket.entered)
    return out


def standing_message(row: StandingsRow, place: int = 0) -> Standing:
    out = Standing(
        place=place,
        bot=row.bot,
        bot_version=row.version,
        house=row.bot.startswith(f"{HOUSE}/"),
        games=row.games,
        rank_counts=row.ranks,
        mean_score=row.score / row.games if row.games else 0.0,
    )
    write_rating(out.rating, row.rating)
    for reason in sorted(map(int, row.reasons)):
        end_reason = EndReason.ValueType(reason)
        out.end_reasons.add(end_reason=end_reason, count=row.reasons[str(reason)])
    if row.last:
        out.last_game_time.FromMilliseconds(row.last)
    return out


def season_message(ladder: str, season: SeasonRecord, games: int) -> Season:
    out = Season(ladder=ladder, number=season.number, title=season.title, games=games)
    out.start_time.FromMilliseconds(season.started)
    if season.ended:
        out.end_time.FromMilliseconds(season.ended)
    return out


def audit_message(record: AuditRecord) -> AuditEntry:
    out = AuditEntry(
        sequence=record.sequence,
        kind=AuditKind.ValueType(record.kind),
        actor=record.actor,
        message=record.message,
        game_id=record.game_id,
        ladder=record.ladder,
        chain=record.chain,
    )
    out.create_time.FromMilliseconds(record.time)
    return out


def ladder_closed(ladder: str) -> LeftQueue:
    """The bot is out of a queue because its ladder was closed."""
    return LeftQueue(
        ladder=ladder,
        reason=LeftQueueReason.LEFT_QUEUE_REASON_LADDER_CLOSED,
        message=f"{ladder} was closed: out of its queue",
    )


def removed_from_queue(ladder: str) -> LeftQueue:
    """The bot is out of a queue by LeaveLadder."""
    return left_queue(ladder, LeftQueueReason.LEFT_QUEUE_REASON_REMOVED)


def left_queue(ladder: str, reason: LeftQueueReason.ValueType) -> LeftQueue:
    """The bot is out of a queue, or of all."""
    return LeftQueue(
        ladder=ladder,
        reason=reason,
        message=f"out of the queue of {ladder}" if ladder else "out of all queues",
    )
