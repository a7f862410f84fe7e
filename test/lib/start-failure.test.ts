/** Ports of listeners: refused with the setting to change, or another one where the port is only the usual one. */
import { afterAll, expect, test } from "bun:test";
import { openMovable, StartFailure } from "../../src/lib/start-failure.ts";

const hostname = "127.0.0.1";
const opened: { stop(force: boolean): unknown }[] = [];
afterAll(() => {
  for (const server of opened) server.stop(true);
});

const serve = (port: number) => {
  const server = Bun.serve({ hostname, port, reusePort: false, fetch: () => new Response() });
  opened.push(server);
  return server;
};

test("a port that was chosen is refused where it is taken, with its setting", async () => {
  const port = serve(0).port ?? 0;
  const wanted = { prefix: "SVC_INTERNAL", hostname, port, mayMove: false };
  const failure = await openMovable(wanted, serve).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StartFailure);
  expect(String(failure)).toContain(`127.0.0.1:${port} is taken: stop what listens there, or set SVC_INTERNAL_PORT`);
});

test("a usual port that is taken gives way to a free one; a free one is kept", async () => {
  const first = serve(0);
  const port = first.port ?? 0;
  const wanted = { prefix: "SVC_EGRESS", hostname, port, mayMove: true };
  const moved = await openMovable(wanted, serve);
  expect(moved.port).not.toBe(port);
  await first.stop(true);
  expect((await openMovable(wanted, serve)).port).toBe(port);
});

test("what fails for another reason does not move", async () => {
  const wanted = { prefix: "SVC_EGRESS", hostname: "192.0.2.1", port: 18_082, mayMove: true };
  const asked: number[] = [];
  const failure = await openMovable(wanted, (port) => {
    asked.push(port);
    throw Object.assign(new Error("no such address"), { code: "EADDRNOTAVAIL" });
  }).catch((error: unknown) => error);
  expect(String(failure)).toContain("192.0.2.1 is no address of this machine: set SVC_EGRESS_HOST");
  expect(asked).toEqual([18_082]);
});
