/** Sockets of one node for the agents of each tenant (docs/reference/gateway.md). */
import { expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { listenToTenants, makeSocketFolder } from "../../../src/lib/sockets/tenant-sockets.ts";
import { listenToAgents } from "../../../src/lib/sockets/unix-sockets.ts";
import { scratch } from "../../harness/scratch.ts";
import { until } from "../../harness/until.ts";

/** What a socket says, or null when it does not take the connection. */
const greeting = (path: string) =>
  new Promise<string | null>((done) => {
    const client = connect({ path });
    client.once("data", (data) => done(String(data)));
    client.once("error", () => done(null));
    client.once("close", () => done(null));
  });

test("folders made later are listened in, and a stopped node takes its sockets away", async () => {
  const directory = scratch("sockets");
  const early = join(makeSocketFolder(directory, "early"), "n1.sock");
  let made = 0;
  const sockets = await listenToTenants(directory, "n1.sock", () => {
    const own = ++made;
    return (client) => void client.end(String(own));
  });
  const late = join(makeSocketFolder(directory, "late"), "n1.sock");
  await until(() => existsSync(late), { what: "the socket of the later folder" });
  const answers = [];
  for (const path of [early, late, join(directory, "n1.sock")]) answers.push(await greeting(path));
  expect(new Set(answers).size).toBe(3);
  sockets.close();
  expect([early, late].map((path) => existsSync(path))).toEqual([false, false]);
});

test("a tenant that floods its socket does not keep another's agents waiting", async () => {
  const directory = scratch("sockets");
  const calm = join(makeSocketFolder(directory, "calm"), "n1.sock");
  const loud = makeSocketFolder(directory, "loud");
  const sockets = await listenToTenants(directory, "n1.sock", () => (client) => {
    client.on("error", () => {});
    client.end("hello");
  });
  await until(() => existsSync(join(loud, "n1.sock")), { what: "the sockets" });
  const flood = `
import socket, sys
print("begun", flush=True)
while True:
  s = socket.socket(socket.AF_UNIX); s.setblocking(False)
  try: s.connect("n1.sock")
  except OSError: pass
  s.close()`;
  const floods = [1, 2].map(() =>
    Bun.spawn(["python3", "-c", flood], { cwd: loud, stdin: "ignore", stdout: "pipe", stderr: "ignore" }),
  );
  try {
    for (const { stdout } of floods) await stdout.getReader().read();
    const answers = [];
    for (let n = 0; n < 50; n++) answers.push(await greeting(calm));
    expect(answers).toEqual(Array.from({ length: 50 }, () => "hello"));
  } finally {
    for (const one of floods) one.kill("SIGKILL");
    sockets.close();
  }
});

test("a node that knows no tenants' folders is reached by them, also when left alone", async () => {
  const directory = scratch("sockets");
  const early = makeSocketFolder(directory, "early");
  const open = async (name: string) => await listenToTenants(directory, name, () => (client) => void client.end(name));
  const nodes = [await open("n1.sock"), await open("n2.sock")];
  const former = listenToAgents(join(directory, "former.sock"), (client) => void client.end("former"));
  await former.ready;
  const linked = join(early, "former.sock");
  await until(() => existsSync(linked), { what: "the link" });
  const late = join(makeSocketFolder(directory, "late"), "former.sock");
  await until(() => existsSync(late), { what: "the link in the later folder" });
  for (const node of nodes) node.close();
  for (const path of [linked, late]) expect(await greeting(path)).toBe("former");
  expect(readdirSync(early)).toEqual(["former.sock"]);
  former.close();
  expect(await greeting(linked)).toBe(null);
  const again = await open("n3.sock");
  expect(readdirSync(early)).toEqual(["n3.sock"]);
  again.close();
});
