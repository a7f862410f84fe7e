/** Sockets that agents connect to (docs/reference/gateway.md). */
import { expect, test } from "bun:test";
import { connect } from "node:net";
import { join } from "node:path";
import { listenToAgents } from "../../../src/lib/sockets/unix-sockets.ts";
import { scratch } from "../../harness/scratch.ts";
import { until } from "../../harness/until.ts";

test("however many connect, the node has its turn, and who comes again is served", async () => {
  const path = join(scratch("socket"), "agents.sock");
  let taken = 0;
  const socket = listenToAgents(path, (client) => {
    taken += 1;
    client.on("error", () => {});
    client.end("hello");
  });
  await socket.ready;
  // While this process waits for it the connections line up.
  const flood =
    "import socket\nfor n in range(300):\n  s = socket.socket(socket.AF_UNIX); s.setblocking(False); s.connect('agents.sock')";
  Bun.spawnSync(["python3", "-c", flood], { cwd: join(path, "..") });
  await until(() => taken > 0, { what: "the first turn", everyMs: 1 });
  expect(taken).toBeLessThanOrEqual(64);

  const greeting = () =>
    new Promise<string | null>((done) => {
      const client = connect({ path });
      client.once("data", (data) => done(String(data)));
      client.once("error", () => done(null));
      client.once("close", () => done(null));
    });
  expect(await until(greeting, { what: "room in the line" })).toBe("hello");
  socket.close();
});
