// The shared worker of all tabs of a browser: it has the one stream, and tells each tab of its game.
import { EventStream } from "./event_stream.js";

const patience = 60000; // milliseconds after which a tab that says nothing is gone
const tabs = new Map(); // the game that a tab follows, and when the tab said so, by its port

const stream = new EventStream((game, message) => {
  for (const [port, tab] of tabs) if (tab.game === game) port.postMessage(message);
});

function forget(port) {
  const game = tabs.get(port)?.game;
  tabs.delete(port);
  if (![...tabs.values()].some((tab) => tab.game === game)) stream.unfollow(game);
}

self.addEventListener("connect", ({ ports: [port] }) => {
  port.addEventListener("message", ({ data }) => {
    if (data.version === undefined) {
      forget(port);
    } else {
      tabs.set(port, { game: data.game, heard: Date.now() });
      stream.follow(data.game, data.version);
    }
  });
  port.start();
});

setInterval(() => {
  for (const [port, tab] of tabs) if (Date.now() - tab.heard > patience) forget(port);
}, patience);
