// Verifies Himeji's chance vectors in plain JavaScript: `node verify.mjs chance.json`.
// It is also the shortest complete description of official chance; nothing but Node is needed.
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";

const digest = (key, text) => createHmac("sha256", Buffer.from(key, "hex")).update(text, "utf8").digest();

// A die: the digest of the slot's name, read as one big-endian number, modulo the sides, plus one.
function roll(key, slot, sides) {
  let rest = 0;
  for (const byte of digest(key, slot)) rest = (rest * 256 + byte) % sides;
  return rest + 1;
}

// A pile: its cards in the order of the digests of "slot/card".
const order = (key, slot, cards) =>
  cards
    .map((card) => [digest(key, `${slot}/${card}`), card])
    .sort(([a], [b]) => Buffer.compare(a, b))
    .map(([, card]) => card);

const vectors = JSON.parse(readFileSync(process.argv[2], "utf8"));
let failed = 0;
const check = (what, got, want) => {
  if (JSON.stringify(got) === JSON.stringify(want)) return;
  failed += 1;
  console.error(`${what}: computed ${JSON.stringify(got)}, the file says ${JSON.stringify(want)}`);
};
for (const v of vectors.rolls) check(v.slot, roll(v.key, v.slot, v.sides), v.result);
for (const v of vectors.orders) check(v.slot, order(v.key, v.slot, v.cards), v.result);
const total = vectors.rolls.length + vectors.orders.length;
console.log(`${total - failed} passed, ${failed} failed`);
process.exit(failed === 0 && total > 0 ? 0 : 1);
