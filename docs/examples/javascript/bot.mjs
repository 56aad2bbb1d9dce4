// A complete Himeji bot for Node. It plays one game against another bot and says how it ended.
//
//   node bot.mjs [OPPONENT [OWNER/NAME]]
//
// Nothing but the contract in proto/ is used, which is read as it is: no code is generated. Change
// `choose` and you have a bot of your own; everything else is what every bot needs.

import { randomBytes, randomInt, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import grpc from "@grpc/grpc-js";
import loader from "@grpc/proto-loader";

// Where the arena is, and the token that says who we are. An arena in development mode keeps a
// token in the folder in which it was started.
const TARGET = process.env.HIMEJI_TARGET ?? "127.0.0.1:50051";
const TOKEN_FILE = process.env.HIMEJI_TOKEN_FILE ?? ".himeji/token";
const TOKEN = process.env.HIMEJI_TOKEN ?? readFileSync(TOKEN_FILE, "utf8").trim();
const [opponent = "house/random", bot = "local/node-bot"] = process.argv.slice(2);

const PROTO = fileURLToPath(new URL("../../../proto", import.meta.url));
const FILES = ["game", "play"].map((name) => `himeji/v1/${name}_service.proto`);
const how = { includeDirs: [PROTO], enums: String, oneofs: true, defaults: true };
const contract = loader.loadSync(FILES, how);
const { GameService, PlayService } = grpc.loadPackageDefinition(contract).himeji.v1;

// Every call carries the token. Pings notice a line that died without a word.
const metadata = new grpc.Metadata();
metadata.set("authorization", `Bearer ${TOKEN}`);
const pings = { "grpc.keepalive_time_ms": 20000, "grpc.keepalive_timeout_ms": 10000 };
const connect = (Service) => new Service(TARGET, grpc.credentials.createInsecure(), pings);
const [games, plays] = [GameService, PlayService].map(connect);

// A unary call as a promise.
const ask = (client, method, request) =>
  new Promise((resolve, reject) =>
    client[method](request, metadata, (error, answer) => (error ? reject(error) : resolve(answer))),
  );

// ---------------------------------------------------------------------------------------------
// The bot: it likes the actions whose text begins with the earliest of these words.

const WISHES = ["climb", "audience", "train", "garden", "do ", "activate", "yard", "perform", "row"];
const LAST = ["exchange", "done", "stop"];

function choose(decision) {
  const rank = (text) => {
    const wish = WISHES.findIndex((word) => text.startsWith(word));
    if (wish >= 0) return wish;
    return LAST.some((word) => text.startsWith(word)) ? WISHES.length + 1 : WISHES.length;
  };
  const ranks = decision.actionTexts.map(rank);
  const best = decision.legalActions.filter((_, n) => ranks[n] === Math.min(...ranks));
  return best[randomInt(best.length)];
}

// ---------------------------------------------------------------------------------------------
// The stream. A bot answers what it is asked; what it does not know it may leave alone.

const known = new Map(); // game id -> how many of its events we have been sent
const unanswered = new Map(); // game id -> an Act that the arena has not answered yet
const created = randomUUID(); // the same ids at every try: nothing is done twice
const joined = randomUUID();
let mine = ""; // the game that we came to play
let over = false;
let failures = 0;
let stream;

// What is said goes in batches, of one message here.
const send = (message) => stream.write({ messages: [message] });

const fail = (why) => {
  console.error(`${bot}: ${why}`);
  process.exit(1);
};

async function challenge() {
  const seats = [bot, opponent].map((name) => ({ policy: "SEAT_POLICY_BOT", name }));
  const request = { requestId: created, ruleset: "base", seats };
  const { game } = await ask(games, "CreateGame", request);
  await ask(games, "JoinGame", { requestId: joined, gameId: game.gameId, bot });
  mine = game.gameId;
}

const on = {
  // Answers that are on their way may have been lost with the last stream. Said again, they are
  // not played again.
  welcome() {
    failures = 0;
    for (const act of unanswered.values()) send({ act });
    // If the line breaks meanwhile, the next Welcome tries again.
    const again = (error) => (PASSING.has(error.code) ? stream.cancel() : fail(error.details));
    if (!mine) challenge().catch(again);
  },

  seated({ game, readyDeadline }) {
    const entropy = randomBytes(16); // our part in the dice
    if (readyDeadline) send({ ready: { gameId: game.gameId, entropy } });
  },

  decision(decision) {
    const { gameId, decisionId, firstEvent, events } = decision;
    known.set(gameId, firstEvent + events.length);
    if (unanswered.get(gameId)?.decisionId === decisionId) return; // asked again after a break
    unanswered.set(gameId, { gameId, decisionId, actions: [choose(decision)] });
    send({ act: unanswered.get(gameId) });
  },

  accepted({ gameId, decisionId }) {
    if (unanswered.get(gameId)?.decisionId === decisionId) unanswered.delete(gameId);
  },

  rejected({ reason, message, gameId, retryDelay, current }) {
    const act = unanswered.get(gameId);
    if (retryDelay) setTimeout(() => send({ act }), 1000 * Number(retryDelay.seconds) + 200);
    else if (/STALE_DECISION|ALREADY_DECIDED/.test(reason)) unanswered.delete(gameId);
    else fail(message);
    if (current) on.decision(current);
  },

  gameOver({ gameId, seat, result }) {
    known.delete(gameId);
    unanswered.delete(gameId);
    const reason = String(result.endReason).replace("END_REASON_", "").toLowerCase();
    const { score, rank } = result.seats[seat] ?? {}; // a void game has no ranks
    console.log(`game ${gameId} is over (${reason}): ${score} points, rank ${rank}`);
    over ||= gameId === mine;
    if (over) stream.end();
  },

  streamEnd({ message }) {
    if (!over) console.error(message);
  },
};

// After these a bot comes back and says what it knows; after anything else it stops.
const { UNAVAILABLE, INTERNAL, RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED, CANCELLED } = grpc.status;
const PASSING = new Set([UNAVAILABLE, INTERNAL, RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED, CANCELLED]);

function play() {
  stream = plays.Play(metadata);
  const resume = [...known].map(([gameId, eventCount]) => ({ gameId, eventCount }));
  const wants = ["WANT_ACTION_TEXTS"];
  send({ hello: { client: "node-bot/1", protocolVersion: 1, bot, wants, resume } });
  stream.on("data", ({ messages }) => {
    for (const message of messages) on[message.body]?.(message[message.body]);
  });
  stream.on("error", () => {}); // told by the status, too
  stream.on("status", ({ code, details }) => {
    if (over) process.exit(0);
    if (!PASSING.has(code) || failures > 8) fail(details);
    failures += 1;
    setTimeout(play, 100 * 2 ** failures * (0.5 + Math.random() / 2));
  });
}

play();
