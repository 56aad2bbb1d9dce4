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

/** Ask the server for JSON; an error has its sentence. */
export async function ask(address, options = {}) {
  const headers = { accept: "application/json", ...options.headers };
  const response = await fetch(address, { ...options, headers });
  const facts = await response.json();
  if (!response.ok) throw new Error(facts.message);
  return facts;
}

/** A clock as the server words it. */
export function clock(milliseconds) {
  const seconds = Math.floor(milliseconds / 1000);
  if (seconds >= 172800) return `${(seconds / 86400).toFixed(1)} d`;
  if (seconds >= 7200) return `${(seconds / 3600).toFixed(1)} h`;
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
