// Follows a game while its tab can be seen: by the stream that all tabs of the browser share, or,
// where there are no shared workers, by one of the tab's own.
import { EventStream } from "./event_stream.js";

const interval = 20000; // milliseconds between two signs of life

function shared(game, hear, fail) {
  const worker = new SharedWorker("/static/event_worker.js", { type: "module" });
  worker.addEventListener("error", fail);
  worker.port.addEventListener("message", ({ data }) => hear(data));
  worker.port.start();
  return {
    follow: (version) => worker.port.postMessage({ game, version }),
    unfollow: () => worker.port.postMessage({ game }),
  };
}

function own(game, hear) {
  const stream = new EventStream((_game, message) => hear(message));
  return {
    follow: (version) => stream.follow(game, version),
    unfollow: () => stream.unfollow(game),
  };
}

/** Call `hear` with the messages of an EventStream, while the tab can be seen.
 *
 * `wanted()` is the version that the tab shows, undefined when there is nothing more to follow.
 */
export function follow(game, wanted, hear) {
  let stream = null;

  function update() {
    const version = wanted();
    if (document.visibilityState === "hidden" || version === undefined) stream.unfollow();
    else stream.follow(version);
  }

  function followAlone() {
    stream = own(game, hear);
    update();
  }

  if ("SharedWorker" in window) stream = shared(game, hear, followAlone);
  else stream = own(game, hear);
  update();
  setInterval(update, interval);
  document.addEventListener("visibilitychange", update);
  window.addEventListener("pageshow", update);
  window.addEventListener("pagehide", () => stream.unfollow());
}
