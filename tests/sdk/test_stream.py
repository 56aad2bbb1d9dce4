"""The runner against an arena that misbehaves on purpose: every fault at the moment we choose."""

import threading
from concurrent import futures

import grpc
import himeji
import pytest
from himeji import rules
from himeji.rules.errors import (
    Draining,
    HimejiError,
    InternalFault,
    InvalidToken,
    RateLimited,
    Refused,
    SlowReader,
    TakenOver,
    VersionMismatch,
)
from himeji.v1 import account_service_pb2, account_service_pb2_grpc, play_service_pb2_grpc
from himeji.v1.errors_pb2 import ErrorReason
from himeji.v1.game_pb2 import EndReason
from himeji.v1.play_service_pb2 import (
    ClientMessage,
    LeftQueueReason,
    PlayResponse,
    Resume,
    ServerMessage,
)
from himeji.v1.stream_pb2 import StreamEndKind
from himeji.wire.chain import commitment
from himeji.wire.errors import STATUS_DETAILS, to_status
from himeji.wire.events import to_events
from himeji_sdk import Bot, run
from himeji_sdk._online import runner
from himeji_sdk._online.ladder_queues import ready_request
from himeji_sdk._online.stream import Stream
from himeji_sdk.connection import Backoff

TIMEOUT_SECONDS = 120.0
SECRET = b"secret"
COMMITMENT = commitment(SECRET)


class FakeArena(play_service_pb2_grpc.PlayServiceServicer):
    """Runs one script per stream: a generator that gets what the client says, and yields answers.

    What it yields is sent in a batch of its own; a list is sent as one batch.
    """

    def __init__(self, *scripts):
        self.scripts = list(scripts)
        self.hellos = []
        self.played = rules.new_game("base", 2, seed=1)

    def Play(self, requests, context):  # noqa: N802 - the contract's name
        (first,) = next(requests).messages
        self.hellos.append(first.hello)
        requests = (message for batch in requests for message in batch.messages)
        try:
            if not self.scripts:
                raise Refused("no script is left: the client came back too often")
            for said in self.scripts.pop(0)(self, requests):
                yield PlayResponse(messages=said if isinstance(said, list) else [said])
        except HimejiError as error:
            status = to_status(error)
            context.set_trailing_metadata(((STATUS_DETAILS, status.SerializeToString()),))
            context.abort(grpc_code(status.code), error.message)

    # --- what scripts say ------------------------------------------------------------------------

    def welcome(self):
        return ServerMessage(welcome={"protocol_version": 1, "bot": "local/fake"})

    def seated(self, **more):
        seats = [{"bot": "local/fake"}, {"bot": "local/other"}]
        game = {"game_id": "g", "ruleset": "base", "seats": seats}
        game |= {"revision": rules.RULESETS["base"].revision, "chance": {"commitment": COMMITMENT}}
        return ServerMessage(seated={"game": game, "seat": self.played.to_move, **more})

    def decision(self, number, first=0, skipped=0):
        return ServerMessage(
            decision={
                "game_id": "g",
                "decision_id": number,
                "seat": self.played.to_move,
                "legal_actions": self.played.legal(),
                "first_event": first + skipped,
                "events": to_events(self.played.log[first + skipped :]),
            }
        )

    def accepted(self, request):
        act = request.act
        fields = {"game_id": act.game_id, "decision_id": act.decision_id, "played": act.actions}
        return ServerMessage(accepted=fields)

    def rejected(self, reason, number, **more):
        fields = {"game_id": "g", "decision_id": number, "message": "no", **more}
        return ServerMessage(
            rejected={"reason": ErrorReason.Value(f"ERROR_REASON_{reason}"), **fields}
        )

    def over(self):
        result = {"end_reason": EndReason.END_REASON_NO_CONTEST}
        chance = {"commitment": COMMITMENT, "secret": SECRET}
        return ServerMessage(
            game_over={"game_id": "g", "seat": 0, "result": result, "chance": chance}
        )

    def closing(self, kind):
        return ServerMessage(stream_end={"kind": kind, "message": "that is it"})


class Accounts(account_service_pb2_grpc.AccountServiceServicer):
    def WhoAmI(self, request, context):  # noqa: N802 - the contract's name
        return account_service_pb2.WhoAmIResponse(owner={"name": "local"})


def grpc_code(number):
    return next(code for code in grpc.StatusCode if code.value[0] == number)


class First(Bot):
    def __init__(self):
        self.asked = []

    def choose(self, game, legal):
        self.asked.append(game.to_json())
        return legal[0]


@pytest.fixture
def run_at_fake(monkeypatch):
    """Run a bot at a fake arena with these scripts; the arena and how the run ended."""
    monkeypatch.setattr(Backoff, "FIRST", 0.01)
    servers = []

    def start(*scripts, bot=None, **options):
        arena = FakeArena(*scripts)
        server = grpc.server(futures.ThreadPoolExecutor(4))
        play_service_pb2_grpc.add_PlayServiceServicer_to_server(arena, server)
        account_service_pb2_grpc.add_AccountServiceServicer_to_server(Accounts(), server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        servers.append(server)
        ends = run(bot or First(), f"127.0.0.1:{port}", "himeji_any", games=1, **options)
        return arena, ends

    yield start
    for server in servers:
        server.stop(None).wait(TIMEOUT_SECONDS)


def ending(arena, requests):
    """The game is void, and the client says goodbye."""
    yield arena.over()
    assert next(requests, None) is None, "a client that is done closes its side"
    yield arena.closing(StreamEndKind.STREAM_END_KIND_GOODBYE)


def one_question(arena, requests):
    yield arena.welcome()
    yield arena.seated()
    yield arena.decision(1)
    yield arena.accepted(next(requests))
    yield from ending(arena, requests)


def test_hello_says_what_the_client_is_and_plays(run_at_fake):
    arena, (end,) = run_at_fake(one_question)
    (hello,) = arena.hellos
    assert hello.protocol_version == 1
    assert hello.engine_version == himeji.__version__
    assert [(each.ruleset, each.revision) for each in hello.rulesets] == [
        (name, rules.RULESETS[name].revision) for name in sorted(rules.RULESETS)
    ]
    assert hello.bot == "local/first"
    assert not hello.resume
    assert end.reason == "no_contest"
    assert end.ranks == ()


def test_what_comes_in_one_batch_is_taken_in_order(run_at_fake):
    def script(arena, requests):
        yield [arena.welcome(), arena.seated(), arena.decision(1)]
        yield arena.accepted(next(requests))
        yield from ending(arena, requests)

    bot = First()
    run_at_fake(script, bot=bot)
    assert len(bot.asked) == 1


def test_requests_that_wait_go_in_one_batch_after_hello():
    stream = Stream("127.0.0.1:1", "", lambda *_: None, lambda *_: None)
    requests = [ClientMessage(request_id=str(n)) for n in range(4)]
    for request in requests:
        stream.send(request)
    stream.finish()
    hello, rest = stream._outgoing()
    assert list(hello.messages) == requests[:1]
    assert list(rest.messages) == requests[1:]
    stream.drop()


def cut_after_the_answer(arena, requests):
    yield arena.welcome()
    yield arena.seated()
    yield arena.decision(1)
    next(requests)


def test_an_answer_whose_receipt_was_lost_is_sent_again_and_chosen_once(run_at_fake):
    sent = []

    def again(arena, requests):
        yield arena.welcome()
        request = next(requests)  # nobody asked for it: the arena may have it or not
        sent.append(request.act)
        yield arena.accepted(request)
        yield arena.seated()
        yield arena.decision(1, first=len(arena.played.log))  # told before the answer came in
        yield from ending(arena, requests)

    bot = First()
    arena, _ = run_at_fake(cut_after_the_answer, again, bot=bot)
    assert len(bot.asked) == 1
    assert [(act.decision_id, list(act.actions)) for act in sent] == [
        (1, [arena.played.legal()[0]])
    ]
    (resume,) = arena.hellos[1].resume
    assert (resume.game_id, resume.event_count) == ("g", len(arena.played.log))


def test_a_choice_that_is_being_made_when_the_stream_is_cut_is_sent_on_the_next_one(run_at_fake):
    asked, back = threading.Event(), threading.Event()

    class Slow(First):
        def choose(self, game, legal):
            asked.set()
            assert back.wait(TIMEOUT_SECONDS)
            return super().choose(game, legal)

    def cut(arena, requests):  # noqa: ARG001 - it hears nothing
        yield arena.welcome()
        yield arena.seated()
        yield arena.decision(1)
        assert asked.wait(TIMEOUT_SECONDS)

    def again(arena, requests):
        yield arena.welcome()
        yield arena.seated()
        yield arena.decision(1, first=len(arena.played.log))
        back.set()
        request = next(requests)
        assert request.act.decision_id == 1
        yield arena.accepted(request)
        yield from ending(arena, requests)

    bot = Slow()
    run_at_fake(cut, again, bot=bot)
    assert len(bot.asked) == 1


def test_events_that_were_lost_are_asked_for_again(run_at_fake):
    def gap(arena, requests):
        yield arena.welcome()
        yield arena.seated()
        yield arena.decision(1, skipped=3)
        assert next(requests, None) is None, "nothing is answered without the position"

    arena, _ = run_at_fake(gap, one_question)
    (resume,) = arena.hellos[1].resume
    assert resume == Resume(game_id="g", event_count=0), "0: all of them"


def test_events_that_are_told_twice_are_taken_once(run_at_fake):
    def twice(arena, requests):
        yield arena.welcome()
        yield arena.seated()
        yield arena.decision(1)
        yield arena.accepted(next(requests))
        yield arena.decision(2)  # from the first event on, once more
        yield arena.accepted(next(requests))
        yield from ending(arena, requests)

    bot = First()
    run_at_fake(twice, bot=bot)
    assert len(bot.asked) == 2


@pytest.mark.parametrize(
    "error", [Draining("stopping"), InternalFault("x"), SlowReader("slow"), RateLimited("fast")]
)
def test_what_passes_by_itself_is_tried_again(run_at_fake, error):
    def ends(arena, requests):  # noqa: ARG001 - it hears nothing
        yield arena.welcome()
        yield arena.closing(StreamEndKind.STREAM_END_KIND_DRAINING)
        raise error

    arena, _ = run_at_fake(ends, ends, one_question)
    assert len(arena.hellos) == 3


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (TakenOver("a newer stream"), "another process plays this bot"),
        (InvalidToken("revoked"), "--token-file"),
        (VersionMismatch("ruleset base: 1 is not 2"), "install the version of himeji"),
    ],
)
def test_what_another_try_would_not_mend_ends_the_run_in_one_line(run_at_fake, error, advice):
    def ends(arena, requests):  # noqa: ARG001 - it hears nothing
        yield arena.welcome()
        raise error

    with pytest.raises(type(error)) as raised:
        run_at_fake(ends)  # a second stream would find no script
    assert advice in raised.value.message
    assert "\n" not in raised.value.message


def test_an_answer_that_the_arena_could_not_store_is_sent_again(run_at_fake):
    sent = []

    def unstored(arena, requests):
        yield arena.welcome()
        yield arena.seated()
        yield arena.decision(1)
        sent.append(next(requests).act)
        yield arena.rejected("STORE_UNAVAILABLE", 1, retry_delay={"nanos": 1_000_000})
        request = next(requests)
        sent.append(request.act)
        yield arena.accepted(request)
        yield from ending(arena, requests)

    bot = First()
    run_at_fake(unstored, bot=bot)
    assert sent[0] == sent[1]
    assert len(bot.asked) == 1


def test_a_stale_answer_goes_on_with_the_decision_that_comes_along(run_at_fake):
    def stale(arena, requests):
        yield arena.welcome()
        yield arena.seated()
        yield arena.decision(1)
        next(requests)
        yield arena.rejected(
            "STALE_DECISION", 1, current=arena.decision(4, first=len(arena.played.log)).decision
        )
        request = next(requests)
        assert request.act.decision_id == 4
        yield arena.accepted(request)
        yield from ending(arena, requests)

    bot = First()
    run_at_fake(stale, bot=bot)
    assert len(bot.asked) == 2


def test_an_arena_that_refuses_what_is_legal_here_has_another_engine(run_at_fake):
    def other(arena, requests):
        yield arena.welcome()
        yield arena.seated()
        yield arena.decision(1)
        next(requests)
        yield arena.rejected("ILLEGAL_ACTION", 1)
        next(requests, None)

    with pytest.raises(VersionMismatch, match="refused what is legal here"):
        run_at_fake(other)


@pytest.mark.parametrize("what", ["events", "legal actions"])
def test_a_decision_that_this_engine_would_put_otherwise_ends_the_run(run_at_fake, what):
    def other(arena, requests):
        message = arena.decision(1)
        if what == "events":
            message.decision.events[0].rule = "X-1.1"
        else:
            message.decision.legal_actions.pop()
        yield arena.welcome()
        yield arena.seated()
        yield message
        next(requests, None)

    with pytest.raises(VersionMismatch, match="plays by another version"):
        run_at_fake(other)


def test_a_seating_that_wants_an_answer_gets_one_with_entropy(run_at_fake):
    ready = []

    def paired(arena, requests):
        yield arena.welcome()
        yield arena.seated(ready_deadline={"seconds": 1})
        ready.append(next(requests).ready)
        yield arena.decision(1)
        yield arena.accepted(next(requests))
        yield from ending(arena, requests)

    run_at_fake(paired)
    assert ready[0].game_id == "g"
    assert len(ready[0].entropy) == 16
    assert not ready[0].decline


def test_a_bot_of_the_house_adds_no_entropy():
    assert ready_request("g", "house/greedy").ready.entropy == b""
    assert len(ready_request("g", "households/greedy").ready.entropy) == 16


def test_a_game_by_unknown_rules_is_given_up_and_others_go_on(run_at_fake, caplog):
    def unknown(arena, requests):
        strange = arena.seated()
        strange.seated.game.game_id, strange.seated.game.ruleset = "s", "chess"
        yield arena.welcome()
        yield strange
        assert next(requests).resign.game_id == "s"
        yield arena.seated()
        yield arena.decision(1)
        yield arena.accepted(next(requests))
        yield from ending(arena, requests)

    run_at_fake(unknown)
    assert "game s cannot be played here: there is no ruleset 'chess'" in caplog.text


@pytest.mark.parametrize("reason", ["UNKNOWN_GAME", "NOT_YOUR_DECISION"])
def test_a_bot_that_is_out_of_its_queues_does_not_wait_for_a_game_that_is_lost(run_at_fake, reason):
    def losing(arena, requests):
        yield arena.welcome()
        assert next(requests).enter.ladder == "base-2p"
        yield ServerMessage(entered_queue={"ladder": "base-2p"})
        yield arena.seated(ready_deadline={"seconds": 1})
        assert next(requests).leave.ladder == "", "one game is enough"
        assert next(requests).ready.game_id == "g"
        removed = LeftQueueReason.LEFT_QUEUE_REASON_REMOVED
        yield ServerMessage(left_queue={"ladder": "base-2p", "reason": removed})
        yield arena.rejected(reason, 0)
        assert next(requests, None) is None, "a client that is done closes its side"
        yield arena.closing(StreamEndKind.STREAM_END_KIND_GOODBYE)

    _, ends = run_at_fake(losing, ladders=["base-2p"])
    assert ends == []


def test_a_bot_that_lost_its_game_enters_its_queues_again(run_at_fake, monkeypatch):
    monkeypatch.setattr(runner, "RETRY_DELAY_SECONDS", 0.01)

    def losing(arena, requests):
        yield arena.welcome()
        assert next(requests).enter.ladder == "base-2p"
        yield arena.seated(ready_deadline={"seconds": 1})
        assert next(requests).leave.ladder == "", "one game is enough"
        assert next(requests).ready.game_id == "g"
        yield arena.rejected("UNKNOWN_GAME", 0)
        assert next(requests).enter.ladder == "base-2p"
        yield arena.seated()
        yield arena.decision(1)
        acts = (request for request in requests if request.HasField("act"))
        yield arena.accepted(next(acts))
        yield from ending(arena, acts)

    _, ends = run_at_fake(losing, ladders=["base-2p"])
    assert len(ends) == 1


def test_an_arena_that_never_says_welcome_is_left(run_at_fake, monkeypatch):
    monkeypatch.setattr("himeji_sdk._online.reconnecting_stream.WELCOME_TIMEOUT_SECONDS", 1.5)

    def silent(arena, requests):  # noqa: ARG001 - it says nothing
        assert next(requests, None) is None
        yield from ()

    arena, _ = run_at_fake(silent, one_question)
    assert len(arena.hellos) == 2


def test_a_commitment_that_changed_is_said_aloud(run_at_fake, caplog):
    def unfair(arena, requests):
        seated = arena.seated()
        seated.seated.game.chance.commitment = b"1" * 32
        over = arena.over()
        over.game_over.chance.commitment = b"2" * 32
        yield arena.welcome()
        yield seated
        yield over
        next(requests, None)
        yield arena.closing(StreamEndKind.STREAM_END_KIND_GOODBYE)

    run_at_fake(unfair)
    assert "game g was not fair: its commitment is not the one that was shown" in caplog.text


def test_a_message_of_a_newer_arena_is_ignored(run_at_fake):
    def newer(arena, requests):
        yield arena.welcome()
        yield ServerMessage()
        yield from one_question(arena, requests)

    _, ends = run_at_fake(newer)
    assert len(ends) == 1
