/** A source of which the other side fills as much as it can. */
import { expect, test } from "bun:test";
import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { Source } from "../../../src/adapters/egress/source.ts";

/** A socket that has more whenever it is not paused. */
class Endless extends EventEmitter {
  paused = false;
  pause(): void {
    this.paused = true;
  }
  resume(): void {
    this.paused = false;
  }
}
const line = "a\r\n";
const piece = Buffer.from(line.repeat(20_000));

function open() {
  const socket = new Endless();
  return { socket, source: new Source(socket as unknown as Socket) };
}

test("many tiny things at once leave others their turn", async () => {
  const { socket, source } = open();
  socket.emit("data", piece);
  let turns = 0;
  const others = setInterval(() => {
    turns += 1;
  }, 1);
  for (let read = 0; read < 20_000; read++) expect(await source.until("\r\n", 10, 1000)).toBe(line);
  clearInterval(others);
  expect(turns).toBeGreaterThan(2);
});

test("no more is read ahead because what there is goes in small parts", async () => {
  const { socket, source } = open();
  let read = 0;
  for (let round = 0; round < 200; round++) {
    while (!socket.paused && round < 100) {
      socket.emit("data", piece);
      read += piece.length;
    }
    await source.until("\r\n", 10, 1000);
    expect((await source.read(3, 1000))?.toString()).toBe(line);
  }
  expect(read).toBeLessThan(600_000);
});
