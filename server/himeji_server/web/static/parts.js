// What the scripts of the pages share: putting drawings and pieces of the page in their places.

/** Put a drawing, given as the text of an SVG document, into an element. */
export function draw(element, text) {
  const drawn = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  element.replaceChildren(document.importNode(drawn, true));
}

/** Put a piece of a page, as the server wrote and escaped it, into an element. */
export function write(element, text) {
  const open = [...element.querySelectorAll("details")].map((each) => each.open);
  const found = new DOMParser().parseFromString(text, "text/html").body;
  element.replaceChildren(...[...found.childNodes].map((each) => document.adoptNode(each)));
  element.querySelectorAll("details").forEach((each, n) => { each.open = open[n] ?? each.open; });
}

/** The server could not be reached, or cannot answer at the moment: the same request may work later. */
export class Unreachable extends Error {
  constructor(message, seconds = 0) {
    super(message);
    this.seconds = seconds; // how long the server wants the next one to wait
  }
}

const passing = [408, 429, 502, 503, 504]; // statuses of answers that waiting may change

/** Fetch; raises Unreachable. Other answers are returned, refusals too. */
export async function reach(address, options = {}) {
  let response;
  try {
    response = await fetch(address, options);
  } catch {
    throw new Unreachable("The arena cannot be reached.");
  }
  if (!passing.includes(response.status)) return response;
  const seconds = Number(response.headers.get("retry-after")) || 0;
  throw new Unreachable("The arena has too much to do at the moment.", seconds);
}

/** Ask the server for JSON; raises Unreachable, or an error with the sentence of a refusal. */
export async function ask(address, options = {}) {
  const headers = { accept: "application/json", ...options.headers };
  const response = await reach(address, { ...options, headers });
  const facts = await response.json();
  if (!response.ok) throw new Error(facts.message);
  return facts;
}

/** Resolves after a while: a second for the first try, more for later ones, never less than `error` says. */
export function backoff(tries, error) {
  const seconds = Math.max(Math.min(2 ** tries, 15), error.seconds);
  return new Promise((resolve) => { setTimeout(resolve, 1000 * seconds); });
}

/** A clock as the server words it. */
export function clock(milliseconds) {
  const seconds = Math.floor(milliseconds / 1000);
  if (seconds >= 172800) return `${(seconds / 86400).toFixed(1)} d`;
  if (seconds >= 7200) return `${(seconds / 3600).toFixed(1)} h`;
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
