// A complete Himeji bot in C++17. It plays one game against another bot and says how it ended.
//
//   bot [OPPONENT [OWNER/NAME]]
//
// Nothing but the contract in proto/ is used, through the code that protoc makes of it. Change
// `choose` and you have a bot of your own; everything else is what every bot needs.

#include <grpcpp/grpcpp.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "himeji/v1/game_service.grpc.pb.h"
#include "himeji/v1/play_service.grpc.pb.h"

using namespace himeji::v1;
using grpc::Status;

std::mt19937 dice{std::random_device{}()};

// The bot: it takes the first action whose text begins with the earliest of these words.
int choose(const Decision& decision) {
  for (std::string wish : {"climb", "audience", "train", "garden", "do ", "activate", "perform", "row",
                           "place steward", "place diplomat", "place", "take", "first", "pay"})
    for (int n = 0; n < decision.legal_actions_size(); ++n)
      if (decision.action_texts(n).rfind(wish, 0) == 0) return decision.legal_actions(n);
  return decision.legal_actions(dice() % decision.legal_actions_size());
}

// Where the arena is, and the token that says who we are. An arena in development mode keeps a
// token in the folder in which it was started.
std::string setting(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value ? value : otherwise;
}

std::string find_token() {
  std::string secret = setting("HIMEJI_TOKEN", "");
  if (secret.empty()) std::ifstream(setting("HIMEJI_TOKEN_FILE", ".himeji/token")) >> secret;
  return secret;
}

// Random ids make requests safe to send twice; any text that nobody else uses will do.
std::string unique() { return "cpp-" + std::to_string(dice()) + "-" + std::to_string(dice()); }

// After these a bot comes back and says what it knows; after anything else it stops.
const std::set<grpc::StatusCode> PASSING = {grpc::UNAVAILABLE, grpc::INTERNAL, grpc::CANCELLED,
                                            grpc::RESOURCE_EXHAUSTED, grpc::DEADLINE_EXCEEDED};

// Pings notice a line that died without a word.
std::shared_ptr<grpc::Channel> connect() {
  grpc::ChannelArguments pings;
  pings.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 20000);
  return grpc::CreateCustomChannel(setting("HIMEJI_TARGET", "127.0.0.1:50051"),
                                   grpc::InsecureChannelCredentials(), pings);
}

struct Bot {
  std::string opponent, name, token = find_token(), created = unique(), joined = unique();
  std::string mine = "";  // the game that we came to play
  std::shared_ptr<grpc::Channel> channel = connect();
  std::unique_ptr<GameService::Stub> games = GameService::NewStub(channel);
  std::unique_ptr<PlayService::Stub> plays = PlayService::NewStub(channel);
  std::unique_ptr<grpc::ClientReaderWriter<PlayRequest, PlayResponse>> stream = nullptr;
  std::map<std::string, ClientMessage> unanswered = {};  // by game: an Act that has no answer yet
  int failures = 0;
  bool over = false;

  // Every call carries the token.
  std::unique_ptr<grpc::ClientContext> call() {
    auto context = std::make_unique<grpc::ClientContext>();
    context->AddMetadata("authorization", "Bearer " + token);
    return context;
  }

  Status run() {
    Status status;
    while (!over && (status.ok() || PASSING.count(status.error_code())) && failures < 8) {
      // Come back after a time that doubles, and never at the same instant as a thousand others.
      const int most = failures++ ? 100 << failures : 1;
      std::this_thread::sleep_for(std::chrono::milliseconds(most / 2 + dice() % most));
      status = play();
    }
    return over ? Status::OK : status;
  }

  // One stream, from Hello to its status.
  Status play() {
    const auto context = call();
    stream = plays->Play(context.get());
    ClientMessage first;
    Hello& hello = *first.mutable_hello();
    hello.set_client("cpp-bot/1");
    hello.set_protocol_version(1);
    hello.set_bot(name);
    hello.add_wants(WANT_ACTION_TEXTS);
    // Open decisions come again by themselves; naming the game makes sure to hear of its end.
    if (!mine.empty()) hello.add_resume()->set_game_id(mine);
    send(first);
    PlayResponse batch;
    Status refused;
    while (refused.ok() && stream->Read(&batch))
      for (const ServerMessage& message : batch.messages())
        if (refused.ok()) refused = answer(message);
    if (!refused.ok()) context->TryCancel();
    const Status status = stream->Finish();
    return refused.ok() ? status : refused;
  }

  // What is said goes in batches, of one message here.
  void send(const ClientMessage& message) {
    PlayRequest batch;
    *batch.add_messages() = message;
    stream->Write(batch);
  }

  // A bot answers what it is asked; what it does not know it may leave alone.
  Status answer(const ServerMessage& message) {
    if (message.has_welcome()) return welcome();
    ClientMessage ready;
    ready.mutable_ready()->set_game_id(message.seated().game().game_id());
    if (message.seated().has_ready_deadline()) send(ready);
    if (message.has_decision()) decide(message.decision());
    if (message.has_accepted()) unanswered.erase(message.accepted().game_id());
    if (message.has_game_over()) end(message.game_over());
    return message.has_rejected() ? rejected(message.rejected()) : Status::OK;
  }

  // Answers that are on their way may have been lost with the last stream. Said again, they are
  // not played again. Nor is a game created twice: its requests have the same ids at every try.
  Status welcome() {
    failures = 0;
    for (const auto& [game, act] : unanswered) send(act);
    if (!mine.empty()) return Status::OK;
    CreateGameRequest create;
    CreateGameResponse game;
    create.set_request_id(created);
    create.set_ruleset("base");
    for (const auto& bot : {name, opponent}) {
      create.add_seats()->set_policy(SEAT_POLICY_BOT);
      create.mutable_seats()->rbegin()->set_name(bot);
    }
    Status status = games->CreateGame(call().get(), create, &game);
    JoinGameRequest join;
    JoinGameResponse seat;
    join.set_request_id(joined);
    join.set_game_id(game.game().game_id());
    join.set_bot(name);
    if (status.ok()) status = games->JoinGame(call().get(), join, &seat);
    if (status.ok()) mine = join.game_id();
    return status;
  }

  void decide(const Decision& decision) {
    Act& act = *unanswered[decision.game_id()].mutable_act();
    if (act.decision_id() == decision.decision_id()) return;  // asked again, answered already
    act.set_game_id(decision.game_id());
    act.set_decision_id(decision.decision_id());
    act.clear_actions();
    act.add_actions(choose(decision));
    send(unanswered[decision.game_id()]);
  }

  Status rejected(const Rejected& rejected) {
    if (rejected.has_retry_delay()) {
      std::this_thread::sleep_for(std::chrono::seconds(1 + rejected.retry_delay().seconds()));
      send(unanswered[rejected.game_id()]);
      return Status::OK;
    }
    unanswered.erase(rejected.game_id());
    if (rejected.has_current()) decide(rejected.current());
    const bool late = rejected.has_standing() || rejected.reason() == ERROR_REASON_STALE_DECISION;
    return late ? Status::OK : Status(grpc::FAILED_PRECONDITION, rejected.message());
  }

  void end(const GameOver& game) {
    unanswered.erase(game.game_id());
    std::cout << "game " << game.game_id() << " is over ("
              << EndReason_Name(game.result().end_reason()) << ")";
    for (const auto& seat : game.result().seats())
      if (seat.seat() == game.seat())
        std::cout << ": " << seat.score() << " points, rank " << seat.rank();
    std::cout << "\n";
    over = over || game.game_id() == mine;
    if (over) stream->WritesDone();
  }
};

int main(int count, char** words) {
  Bot bot{count > 1 ? words[1] : "house/random", count > 2 ? words[2] : "local/cpp-bot"};
  const Status status = bot.run();
  if (!status.ok()) std::cerr << bot.name << ": " << status.error_message() << std::endl;
  return status.ok() ? 0 : 1;
}
