/** Runs by the command line on a whole node, with hosts that a test plays (docs/reference/edge-cli.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Daemon } from "../../features/edge/fleet/daemon.ts";
import { FleetFixture } from "../../features/edge/fleet/fixture.ts";
import { until } from "../../harness/until.ts";
import { edge } from "./harness.ts";

let at: FleetFixture;
beforeAll(async () => {
  at = await FleetFixture.open();
});
afterAll(() => at?.close());

const env = () => ({
  SVC_API_URL: at.node.url,
  SVC_USER_TOKEN: at.ann.Authorization?.slice("Bearer ".length) ?? "",
});
const shown = (...words: readonly string[]) => edge(words, { env: env() });
const run = (...words: readonly string[]) => edge(words, { env: { ...env(), SVC_OUTPUT: "json" } });

/** The next command of a host, and the run that it is of: the newest one. */
async function next(host: Daemon | undefined) {
  if (host === undefined) throw new Error("there is no such host");
  const command = await host.next();
  const { items } = (await run("fleet", "runs", "--limit", "1")).json;
  const id: string = items[0].fleet_command_id;
  return { id, command, end: (status?: string) => host.result(id, command, status) };
}

test("a run is previewed, run, listed and shown as the service has it", async () => {
  const [web] = await at.hosts("one", ["one-1"]);
  await at.hosts("one", ["one-2"], false);
  const preview = await shown("fleet", "preview", "tags=one");
  expect(preview.code).toBe(0);
  expect(preview.out).toMatch(/one-1 +[0-9a-f-]{36} +1 +connected\n/);
  const running = shown("fleet", "run", "tags=one", "--", "echo", "hello", "world");
  const on = await next(web);
  await web?.started(on.command);
  await on.end();
  const done = await running;
  expect([done.code, done.err]).toEqual([0, ""]);
  expect(done.out).toContain("one-2: skipped, Disconnected\n");
  expect(done.out).toMatch(/one-1 \| done\none-1: ok \(\d+ ms\)\nrun is complete: 1 ok\n$/);
  const [, id = ""] = /^run ([0-9a-f-]{36}): cmd\.run on 1 host$/m.exec(done.out) ?? [];
  expect((await shown("fleet", "runs", "--tool", "cmd.run")).out).toContain(id);
  const detail = await run("fleet", "runs", id);
  expect(detail.json).toMatchObject({
    args: { command: "echo", args: ["hello", "world"] },
    policy: { mode: "Parallel", failure_policy: "FailFast" },
    per_node: [{ name: "one-1", status: "ok" }],
  });
  expect((await shown("fleet", "runs", id)).out).toMatch(/one-1 +[0-9a-f-]{36} +ok +1 +0 +\d+/);
  const again = await run("fleet", "runs", id, "--follow");
  expect([again.code, again.lines.at(-1).event]).toEqual([0, "fleet_result"]);
});

// edge-fleet 23
test("a failed run is retried over the hosts that failed, and ends by its own code", async () => {
  const [good, bad] = await at.hosts("two", ["two-1", "two-2"]);
  const first = shown("fleet", "run", "tags=two", "--on-error=continue", "--", "false");
  await (await next(good)).end();
  await (await next(bad)).end("err");
  const done = await first;
  expect([done.code, done.out]).toEqual([1, expect.stringContaining("1 ok, 1 err")]);
  const [, id = ""] = /^run ([0-9a-f-]{36}):/m.exec(done.out) ?? [];
  const retrying = run("fleet", "retry", id);
  await (await next(bad)).end();
  const retried = await retrying;
  expect(retried.code).toBe(0);
  const started = retried.lines.find(({ event }: { event: string }) => event === "fleet_started").data;
  expect(started.resolved.map(({ name }: { name: string }) => name)).toEqual(["two-2"]);
  const linked = await run("fleet", "runs", started.fleet_command_id);
  expect([linked.json.retry_of, linked.json.per_node.length]).toEqual([id, 1]);
  expect((await run("fleet", "retry", started.fleet_command_id)).code).toBe(4);
});

test("commands fail fast and end with 6, too few hosts with 9, none with 5", async () => {
  const [bad] = await at.hosts("three", ["three-1"]);
  const halting = shown("fleet", "run", "tags=three", "--", "false");
  await (await next(bad)).end("err");
  expect((await halting).code).toBe(6);
  const unmet = await shown("fleet", "run", "tags=three", "--require-min", "2", "--", "true");
  expect([unmet.code, unmet.out]).toEqual([9, expect.stringContaining("RequireMinNotSatisfied")]);
  const none = await shown("fleet", "run", "tags=no-such", "--", "true");
  expect([none.code, none.out]).toEqual([5, expect.stringContaining("EdgeUnavailable")]);
  expect((await shown("fleet", "run", "tags=three", "no.such.tool")).code).toBe(2);
  expect((await shown("fleet", "run", "group:no-such", "--", "true")).code).toBe(4);
});

test("a run is paused, resumed and cancelled; its follower ends with 7", async () => {
  const [host] = await at.hosts("four", ["four-1", "four-2"]);
  const following = run("fleet", "run", "tags=four", "--mode=sequential", "--", "sleep", "9");
  const { id, command, end } = await next(host);
  await host?.started(command);
  expect((await run("fleet", "pause", id)).json).toMatchObject({ status: "paused", pause_reasons: ["requested"] });
  expect((await run("fleet", "resume", id)).json.pause_reasons).toEqual([]);
  expect((await run("fleet", "cancel", id, "--reason", "a mistake")).json.cancelled).toBe(2);
  await until(
    async () => {
      await host?.read();
      return host?.cancelled.includes(command);
    },
    { what: "the cancel" },
  );
  await end("cancelled");
  const done = await following;
  expect([done.code, done.lines.at(-1).data.summary]).toEqual([
    7,
    expect.objectContaining({ cancelled: 1, not_started: 1 }),
  ]);
  expect((await run("fleet", "pause", id)).code).toBe(4);
  expect((await run("fleet", "cancel", id)).json.cancelled).toBe(0);
});

// edge-fleet 26
test("a run that waits for another person tells its approval, and can be cancelled", async () => {
  await at.hosts("five", ["five-1"]);
  const following = shown("fleet", "run", "tags=five", "--approval", "--", "true");
  const waiting = await until(async () => (await run("fleet", "runs", "--status", "awaiting_approval")).json.items[0], {
    what: "the run that waits",
  });
  const preview = await run("fleet", "preview", "tags=five", "--approval");
  expect(preview.json.requires_approval).toBe(true);
  expect((await run("fleet", "cancel", waiting.fleet_command_id)).code).toBe(0);
  const done = await following;
  expect(done.code).toBe(7);
  expect(done.out).toContain(`run is awaiting_approval, approval ${waiting.approval_id}`);
});
