// One stream of server-sent events for any number of games.

const shortest = 1000; // milliseconds before a lost stream is opened again
const longest = 15000;

export class EventStream {
  /** Calls `tell(game, message)`; a message is {kind: "news", facts}, or of kind "open" or "lost". */
  constructor(tell) {
    this.tell = tell;
    this.versions = new Map(); // games that are followed, with the version that is known
    this.source = null;
    this.timer = null;
    this.wait = shortest;
  }

  follow(game, version) {
    const known = this.versions.get(game);
    if (known !== undefined && known <= version) return;
    this.versions.set(game, version);
    this.open(0);
  }

  unfollow(game) {
    if (this.versions.delete(game)) this.open(0);
  }

  /** Open the stream anew after a while; calls that come until then have an effect together. */
  open(wait) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.connect(), wait);
  }

  connect() {
    this.source?.close();
    this.source = null;
    if (!this.versions.size) return;
    const games = [...this.versions].map((each) => each.join(":")).join(",");
    const source = new EventSource(`/events?games=${games}`);
    this.source = source;
    source.addEventListener("open", () => {
      this.wait = shortest;
      this.tellAll({ kind: "open" });
    });
    source.addEventListener("news", (event) => {
      const facts = JSON.parse(event.data);
      this.versions.set(facts.game, facts.version);
      this.tell(facts.game, { kind: "news", facts });
    });
    source.addEventListener("end", (event) => this.versions.delete(JSON.parse(event.data).game));
    source.addEventListener("error", () => this.lose(source));
  }

  /** The stream ended, or was refused: what it would say next depends on the versions known now. */
  lose(source) {
    source.close();
    if (source !== this.source || !this.versions.size) return;
    this.tellAll({ kind: "lost" });
    this.open(this.wait * (0.8 + 0.4 * Math.random()));
    this.wait = Math.min(2 * this.wait, longest);
  }

  tellAll(message) {
    for (const game of this.versions.keys()) this.tell(game, message);
  }
}
