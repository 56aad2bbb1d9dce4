// The page of a replay: one moment at a time, by slider, buttons or keys.
import { ask, backoff, draw, reach, Unreachable } from "./parts.js";

const replay = document.querySelector(".replay");
const pause = 900; // milliseconds between moments while it plays
const ahead = 2; // drawings that are fetched before they are needed

async function begin() {
  const address = `/api/games/${replay.dataset.game}`;
  const { moments, turns, clans } = await ask(`${address}/replay`);
  const sheet = replay.querySelector(".sheet");
  const slider = replay.querySelector('[data-do="slide"]');
  const chooser = replay.querySelector('[data-do="turn"]');
  const player = replay.querySelector('[data-do="play"]');
  const cursor = replay.querySelector(".cursor");
  const left = Number(cursor.getAttribute("x1"));
  const right = replay.querySelector(".axis").getAttribute("x2");
  const last = moments.length - 1;
  const drawings = new Map();
  let now = 0;
  let timer = null;

  /** A drawing; while the arena cannot be reached, it is asked for again. */
  async function load(number) {
    for (let tries = 0; ; tries += 1) {
      try {
        return await (await reach(`${address}/boards/${number}.svg`)).text();
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        await backoff(tries, error);
      }
    }
  }

  function drawing(number) {
    if (!drawings.has(number)) drawings.set(number, load(number));
    return drawings.get(number);
  }

  async function show(number) {
    now = Math.min(Math.max(number, 0), last);
    const moment = moments[now];
    slider.value = now;
    slider.setAttribute("aria-valuetext", `moment ${now} of ${last}: ${moment.text}`);
    chooser.value = moment.turn ? turns[moment.turn - 1].first_moment : 0;
    const x = left + (now / Math.max(last, 1)) * (right - left);
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    replay.querySelector("#count").textContent = `${now} of ${last}`;
    const who = moment.seat === null ? "" : `seat ${moment.seat}: `;
    replay.querySelector("#what").textContent = who + moment.text;
    const points = moment.scores.map((score, clan) => `${clans[clan]} ${score}`);
    replay.querySelector("#points").textContent = points.join(", ");
    const text = await drawing(moment.number);
    if (now !== moment.number) return; // somebody moved on
    draw(sheet, text);
    replay.dataset.shown = now;
    for (let next = now + 1; next <= Math.min(now + ahead, last); next += 1) drawing(next);
  }

  function play(on) {
    clearInterval(timer);
    timer = on ? setInterval(() => (now < last ? show(now + 1) : play(false)), pause) : null;
    player.textContent = on ? "Pause" : "Play";
    player.setAttribute("aria-pressed", String(on));
  }

  function turn(step) {
    const place = moments[now].turn - 1 + step;
    show(place < 0 ? 0 : (turns[place]?.first_moment ?? last));
  }

  const deeds = {
    first: () => show(0),
    back: () => show(now - 1),
    next: () => show(now + 1),
    last: () => show(last),
    play: () => play(timer === null),
  };
  const keys = {
    ArrowLeft: deeds.back,
    ArrowRight: deeds.next,
    Home: deeds.first,
    End: deeds.last,
    PageUp: () => turn(-1),
    PageDown: () => turn(1),
    " ": deeds.play,
  };
  replay.querySelector(".row").addEventListener("click", (event) => {
    deeds[event.target.closest("button")?.dataset.do]?.();
  });
  slider.addEventListener("input", () => show(Number(slider.value)));
  chooser.addEventListener("change", () => show(Number(chooser.value)));
  document.addEventListener("keydown", (event) => {
    const busy = event.target.closest("select, a, summary, button");
    if (event.altKey || event.ctrlKey || event.metaKey || !keys[event.key]) return;
    if (busy && (event.key === " " || busy.matches("select"))) return;
    event.preventDefault();
    keys[event.key]();
  });
  await show(0);
  replay.dataset.ready = "yes";
}

if (replay) begin();
