// The page of a game: follows it as it goes on, and lets a person think a turn out before it is sent.
import { follow } from "./follow.js";
import { ask, backoff, clock, draw, Unreachable, write } from "./parts.js";

const game = document.querySelector(".game");
const status = document.getElementById("status");
const address = `/games/${game.dataset.game}`;
const title = document.title;
const low = 60000; // milliseconds left at which a clock is shown as low
let planned = []; // actions of this turn that were not sent; the page always shows the board after them
let busy = false;
let attempts = 0;

function part(name) {
  return game.querySelector(`[data-part="${name}"]`);
}

function say(text) {
  status.textContent = text;
}

function show(parts) {
  for (const [name, text] of Object.entries(parts)) {
    if (name === "board") {
      if (text) draw(part(name), text);
    } else {
      write(part(name), text);
    }
  }
  mark();
  warn();
}

// --- places on the board ---------------------------------------------------------------------

function buttonsOf(place) {
  const buttons = [...game.querySelectorAll(".choices button")];
  return buttons.filter((button) => place.includes(button.dataset.place) && button.dataset.place);
}

function mark() {
  for (const place of part("board").querySelectorAll("[data-marks]")) {
    const buttons = buttonsOf(place.dataset.marks.split(","));
    if (buttons.length) offer(place, buttons);
  }
}

function offer(place, buttons) {
  const box = place.getBBox();
  const frame = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  const edge = { x: box.x - 2, y: box.y - 2, width: box.width + 4, height: box.height + 4, rx: 6 };
  for (const [name, value] of Object.entries(edge)) frame.setAttribute(name, value);
  frame.setAttribute("class", "frame");
  place.append(frame);
  place.classList.add("choice");
  place.setAttribute("tabindex", "0");
  place.setAttribute("role", "button");
  place.setAttribute("aria-label", buttons.map((button) => button.textContent.trim()).join(", or "));
  place.addEventListener("click", (event) => {
    event.stopPropagation();
    choose(buttons);
  });
  place.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      event.stopPropagation();
      choose(buttons);
    }
  });
}

function choose(buttons) {
  if (buttons.length === 1) {
    buttons[0].click();
    return;
  }
  for (const button of game.querySelectorAll(".choices button")) {
    button.classList.toggle("near", buttons.includes(button));
  }
  buttons[0].focus();
  buttons[0].scrollIntoView({ block: "nearest" });
  say(`${buttons.length} actions are possible there: choose one from the list`);
}

// --- a turn ------------------------------------------------------------------------------------

function decision() {
  return game.querySelector(".turn")?.dataset.decision;
}

function form(actions) {
  const values = new URLSearchParams({ decision: decision() });
  for (const action of actions) values.append("action", action);
  return values;
}

/** Do something, again and again while the arena cannot be reached; the plan stays as it is. */
async function attempt(doing) {
  if (busy) return;
  attempts += 1;
  const mine = attempts; // while this one waits, a newer one may take its place
  for (let tries = 0; mine === attempts; tries += 1) {
    busy = true;
    try {
      await doing();
      say("");
      return;
    } catch (error) {
      say(error.message);
      if (!(error instanceof Unreachable)) return;
      const kept = planned.length ? " Your turn so far is kept." : "";
      say(`${error.message}${kept} Trying again.`);
      busy = false;
      await backoff(tries, error);
    } finally {
      busy = false;
    }
  }
}

async function think(actions) {
  const facts = await ask(`${address}/turn?${form(actions)}`);
  if (String(facts.decision) !== game.dataset.decision) return; // the game went on meanwhile
  planned = actions;
  show(facts.parts);
  focusNext();
}

/** To do nothing more is never one key away: it is not what the focus goes to. */
function focusNext() {
  const next = '[data-do="confirm"], .choices button:not([data-declines])';
  (game.querySelector(next) ?? game.querySelector(".question"))?.focus();
}

async function send(actions) {
  const turn = game.querySelector(".turn");
  if (!turn) return; // news of it came meanwhile
  const body = form(actions);
  turn.inert = true; // until the news of it come; whether it arrived may be unknown until then
  try {
    await ask(`${address}/actions`, { method: "POST", body });
  } catch (error) {
    turn.inert = error instanceof Unreachable;
    throw error;
  }
  planned = [];
}

part("seat").addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button || button.closest(".resign")) return;
  event.preventDefault();
  if (button.dataset.do === "undo") attempt(() => think(planned.slice(0, -1)));
  else if (button.dataset.do === "confirm") attempt(() => send(planned));
  else if (button.name === "action") {
    attempt(() => think([...planned, button.value]));
  }
});

// --- news --------------------------------------------------------------------------------------

function hear(facts) {
  game.dataset.version = facts.version;
  game.dataset.state = facts.state;
  const same = String(facts.decision) === game.dataset.decision;
  game.dataset.decision = facts.decision;
  if (same && planned.length) return; // a turn is being thought out
  planned = [];
  attempts += 1; // what was attempted for the decision before is no use any more
  say("");
  show(facts.parts);
}

function receive({ kind, facts }) {
  if (kind === "news") hear(facts);
  else if (kind === "lost") say("The arena does not answer; trying again.");
  else if (!busy) say("");
}

function wanted() {
  return game.dataset.state === "over" ? undefined : Number(game.dataset.version);
}

if (game.dataset.state !== "over") follow(game.dataset.game, wanted, receive);

// --- clocks ------------------------------------------------------------------------------------

/** Show in the title, which is seen from another tab, that it is this person's turn, and a low clock. */
function warn() {
  const mine = game.querySelector(".clock[data-mine][data-running]");
  for (const each of game.querySelectorAll(".clock")) {
    each.classList.toggle("low", "running" in each.dataset && Number(each.dataset.ms) < low);
  }
  if (mine?.classList.contains("low")) document.title = `${mine.textContent} left! · ${title}`;
  else document.title = game.querySelector(".turn") ? `Your turn · ${title}` : title;
}

setInterval(() => {
  for (const each of game.querySelectorAll(".clock[data-running]")) {
    each.dataset.ms = Math.max(0, each.dataset.ms - 1000);
    each.textContent = clock(each.dataset.ms);
  }
  warn();
}, 1000);

mark();
warn();
game.dataset.ready = "yes";
