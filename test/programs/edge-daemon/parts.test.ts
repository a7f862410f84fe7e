/** Parts of the edge daemon by themselves: waiting, proxies, output, policy (docs/reference/edge-daemon.md). */
import { expect, test } from "bun:test";
import { existsSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import type { Invoke } from "../../../actors/edge/frames.ts";
import { ServiceClock } from "../../../src/programs/edge-daemon/clock.ts";
import { readConfig } from "../../../src/programs/edge-daemon/config/config.ts";
import { commandEnvironment } from "../../../src/programs/edge-daemon/executor/environment.ts";
import { Executor } from "../../../src/programs/edge-daemon/executor/executor.ts";
import { lastText, OutputKeeper } from "../../../src/programs/edge-daemon/executor/output.ts";
import { Journal } from "../../../src/programs/edge-daemon/journal/journal.ts";
import { BackOff, type Ending } from "../../../src/programs/edge-daemon/link/back-off.ts";
import { heartbeatAfter } from "../../../src/programs/edge-daemon/link/heartbeat.ts";
import { ProgressSender } from "../../../src/programs/edge-daemon/link/progress.ts";
import { proxyFor } from "../../../src/programs/edge-daemon/link/proxy.ts";
import { openSocket } from "../../../src/programs/edge-daemon/link/socket.ts";
import { DaemonMetrics } from "../../../src/programs/edge-daemon/metrics.ts";
import { LocalPolicy } from "../../../src/programs/edge-daemon/policy/local-policy.ts";
import { prepare, stateAt } from "../../../src/programs/edge-daemon/state/directory.ts";
import { scratch } from "../../harness/scratch.ts";
import { until } from "../../harness/until.ts";

const ending = (code: number, more: Partial<Ending> = {}): Ending => ({ code, reason: "", welcomedMs: 0, ...more });

test("steps of waiting grow to the last one, and begin anew after a healthy link", () => {
  const backOff = new BackOff([1, 2, 5], () => 0.5);
  expect([1006, 4000, 4002, 4008].map((code) => backOff.after(ending(code)))).toEqual([500, 1_000, 2_500, 2_500]);
  expect(backOff.after(ending(1006, { welcomedMs: 59_999 }))).toBe(2_500);
  expect(backOff.after(ending(1006, { welcomedMs: 60_000 }))).toBe(500);
});

test.each([
  [1001, "", 2_500],
  [1012, "", 2_500],
  [4001, "", 30_000],
  [4009, "", 30_000],
  [4003, "", 30_000],
  [4010, "", 30_000],
  [4013, "retry_after_ms=1234", 1_234],
  [4013, "retry_after_ms=0", 100],
  [4013, "retry_after_ms=999999999", 3_600_000],
  [4013, "", 500],
])("after a close %i %s the wait is %i ms", (code, reason, ms) => {
  expect(new BackOff([1, 60], () => 0.5).after(ending(code, { reason }))).toBe(ms);
});

test("a refused upgrade is waited for as long as it says, a wish of its own is not", () => {
  const backOff = new BackOff([1], () => 0.5);
  expect(backOff.after(ending(1006, { retryAfterMs: 7_000 }))).toBe(7_000);
  expect(backOff.after(ending(1006, { retryAfterMs: 100 }))).toBe(500);
  expect(backOff.after(ending(4001, { isOwnWish: true }))).toBe(0);
});

test.each([
  [30_000, 0.5, 30_000],
  [30_000, 0, 24_000],
  [1, 0.5, 1_000],
  [2 ** 31, 0.5, 600_000],
  [Number.MAX_SAFE_INTEGER, 0.75, 660_000],
])("of heartbeats asked for every %i ms the next comes by %d of its jitter", (asked, random, ms) => {
  expect(heartbeatAfter(asked, () => random)).toBeCloseTo(ms, 6);
});

test("jitter is full: any time up to the step", () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 0.999, noNaN: true }), (random) => {
      const ms = new BackOff([5], () => random).after(ending(1006));
      expect(ms).toBeCloseTo(random * 5_000, 6);
    }),
  );
});

test.each<[string, Record<string, string>, string | null]>([
  ["wss://s.example/x", { HTTPS_PROXY: "http://p:8080" }, "http://p:8080"],
  ["wss://s.example/x", { https_proxy: "p:8080" }, "http://p:8080"],
  ["ws://s.example/x", { HTTPS_PROXY: "http://p:8080" }, null],
  ["ws://s.example/x", { HTTP_PROXY: "http://p:8080" }, "http://p:8080"],
  ["wss://s.example/x", { ALL_PROXY: "http://p:8080" }, "http://p:8080"],
  ["wss://s.example/x", { HTTPS_PROXY: "http://p", NO_PROXY: "s.example" }, null],
  ["wss://a.s.example/x", { HTTPS_PROXY: "http://p", NO_PROXY: "b, .s.example" }, null],
  ["wss://as.example/x", { HTTPS_PROXY: "http://p", NO_PROXY: "s.example" }, "http://p"],
  ["wss://s.example/x", { HTTPS_PROXY: "http://p", NO_PROXY: "s.example:8443" }, "http://p"],
  ["wss://s.example:8443/x", { HTTPS_PROXY: "http://p", NO_PROXY: "s.example:8443" }, null],
  ["wss://[::1]/x", { HTTPS_PROXY: "http://p", NO_PROXY: "[::1]" }, null],
  ["wss://s.example/x", { HTTPS_PROXY: "http://p", no_proxy: "*" }, null],
])("the way to %s with %p", (url, environment, proxy) => {
  expect(proxyFor(new URL(url), environment)).toBe(proxy);
});

test("output is counted exactly, shown up to its cap, and its ends are kept", () => {
  const chunk = fc.tuple(fc.constantFrom("stdout" as const, "stderr" as const), fc.uint8Array({ maxLength: 3_000 }));
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 40 }), fc.integer({ min: 1, max: 20_000 }), (chunks, most) => {
      const shown = { stdout: 0, stderr: 0 };
      const whole = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
      const keeper = new OutputKeeper(most, (stream, offset, bytes) => {
        expect(offset).toBeGreaterThanOrEqual(shown[stream]);
        shown[stream] = offset + bytes.length;
      });
      for (const [stream, bytes] of chunks) {
        keeper.add(stream, bytes);
        whole[stream] = Buffer.concat([whole[stream], bytes]);
      }
      const total = whole.stdout.length + whole.stderr.length;
      expect(keeper.sizes).toEqual({ stdout_bytes: whole.stdout.length, stderr_bytes: whole.stderr.length });
      expect(keeper.isTruncated).toBe(total > most);
      expect(keeper.tails().stdout_tail).toBe(lastText(whole.stdout, 8_192));
    }),
  );
});

test("a tail is whole characters of at most its bytes", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 80 }), fc.integer({ min: 4, max: 60 }), (text, most) => {
      const tail = lastText(Buffer.from(text), most);
      expect(Buffer.byteLength(tail)).toBeLessThanOrEqual(most);
      expect(text.endsWith(tail)).toBe(true);
      expect(Buffer.byteLength(text) - Buffer.byteLength(tail) > 0).toBe(Buffer.byteLength(text) > most);
    }),
  );
});

test("progress never exceeds its credit, and gaps show by offsets", () => {
  const sent: [number, number][] = [];
  let dropped = 0;
  const sender = new ProgressSender(
    (_, __, offset, bytes) => {
      expect(bytes.length).toBeLessThanOrEqual(16_384);
      sent.push([offset, bytes.length]);
      return true;
    },
    (bytes) => {
      dropped += bytes;
    },
  );
  sender.begin(20_000);
  sender.add("c", "stdout", 0, new Uint8Array(40_000));
  sender.flush("c");
  expect([sent, dropped]).toEqual([
    [
      [0, 16_384],
      [16_384, 3_616],
    ],
    20_000,
  ]);
  sender.give(5);
  sender.add("c", "stdout", 40_000, new Uint8Array(10));
  sender.flush("c");
  expect(sent.at(-1)).toEqual([40_000, 5]);
  // No more than the window, whatever is given back.
  sender.give(1_000_000);
  sender.add("d", "stderr", 0, new Uint8Array(30_000));
  sender.flush("d");
  expect(sent.slice(-2)).toEqual([
    [0, 16_384],
    [16_384, 3_616],
  ]);
});

test("the clock of the service goes on by the steady one, and a moved clock shows", () => {
  let [wall, steady] = [1_000_000, 50];
  const clock = new ServiceClock({ wall: () => wall, steady: () => steady });
  expect([clock.hasJumped(), clock.now()]).toEqual([true, wall]);
  clock.set("2031-01-01T00:00:00.000Z");
  const from = Date.parse("2031-01-01T00:00:00.000Z");
  steady += 1_000;
  wall += 5_900;
  expect([clock.hasJumped(), clock.now()]).toEqual([false, from + 1_000]);
  wall += 101;
  expect(clock.hasJumped()).toBe(true);
  wall -= 11_000;
  expect(clock.hasJumped()).toBe(true);
});

const policyOf = (contexts: string) =>
  new LocalPolicy(readConfig(`workdir: /srv/app\ncontexts: ${contexts}`, stateAt("/s")));

test("rates and numbers of calls bind by capability", () => {
  const policy = policyOf(
    `[{name: default, capabilities: [{tool_pattern: cmd.run, rate_limit: {calls: 2, per_seconds: 10}, max_concurrent: 1}]}]`,
  );
  const judge = (now: number) => policy.judge("cmd.run", { command: "true" }, null, now);
  const first = judge(0);
  expect(first.allowed).toBe(true);
  expect(judge(1)).toMatchObject({ kind: "policy_violation", message: "cmd.run runs 1 times already" });
  if (first.allowed) first.release();
  // The refused one counted as well.
  expect(judge(2)).toMatchObject({ kind: "policy_violation", message: "cmd.run is called too often" });
  expect(judge(10_002).allowed).toBe(true);
});

test("a deny list is stronger, a named context counts, paths are the host's", () => {
  const policy = policyOf(
    `[{name: default, deny_list: [fs.delete], capabilities: [{tool_pattern: "fs.*", path_allowlist: [".", /etc/hosts]}]},
      {name: shell, capabilities: [{tool_pattern: cmd.run}]}]`,
  );
  expect(policy.judge("fs.delete", { path: "a" }, null, 0)).toMatchObject({ kind: "policy_violation" });
  expect(policy.judge("fs.read", { path: "a" }, null, 0)).toMatchObject({ arguments: { path: "/srv/app/a" } });
  expect(policy.judge("fs.list", {}, null, 0)).toMatchObject({ arguments: { path: "/srv/app" } });
  expect(policy.judge("fs.read", { path: "/etc/hosts" }, null, 0).allowed).toBe(true);
  expect(policy.judge("fs.read", { path: "../x" }, null, 0)).toMatchObject({ kind: "path_not_allowed" });
  expect(policy.judge("fs.read", { path: "a" }, "shell", 0)).toMatchObject({ kind: "policy_violation" });
  expect(policy.judge("fs.read", { path: "a" }, "none", 0)).toMatchObject({ kind: "security_context_not_found" });
  expect(policyOf("[]").judge("cmd.run", { command: "true" }, null, 0)).toMatchObject({
    kind: "security_context_not_found",
  });
  expect<string[]>(policy.possibleTools()).toEqual([
    ...["cmd.run", "fs.read", "fs.write", "fs.list", "fs.create_dir"],
    ...["fs.edit", "fs.multi_edit", "fs.grep", "fs.glob"],
  ]);
  expect(policy.mountPoints()).toEqual(["/srv/app", "/etc/hosts"]);
});

test("a star lets no variable through that steers what starts a command", () => {
  const names = ["COLOUR", "BASH_FUNC_pwd%%", "PS4", "SHELLOPTS", "GCONV_PATH"];
  const additions = Object.fromEntries(names.map((name) => [name, "x"]));
  const given = (allow: string[]) => commandEnvironment({ pass: [], allow }, "id", additions, [], {});
  expect(given(["*"])).toEqual({ env: { COLOUR: "x", SVC_EDGE_COMMAND_ID: "id" }, dropped: names.slice(1).sort() });
  // What the owner names is the owner's word.
  expect(given(["PS4"]).env).toEqual({ PS4: "x", SVC_EDGE_COMMAND_ID: "id" });
});

test("a cancel of what was dropped and sent again is of the one that was sent again", async () => {
  const state = stateAt(join(realpathSync(scratch("edge-executor")), "state"));
  prepare(state);
  const journal = await Journal.open(state, { now: () => Date.now() });
  const config = readConfig("contexts: [{name: default, capabilities: [{tool_pattern: cmd.run}]}]", state);
  const [gate, touched] = [join(state.work, "gate"), join(state.work, "touched")];
  // A command that takes as long to prepare as the test likes.
  const waiting = ["/bin/sh", "-c", 'until [ -e "$0" ]; do sleep 0.02; done; exec "$@"', gate];
  const none = () => {};
  const clock = new ServiceClock();
  clock.set(new Date().toISOString());
  const executor = new Executor({
    ...{ slots: 4, journal, policy: new LocalPolicy(config), clock, metrics: new DaemonMetrics() },
    host: {
      ...{ config, state, user: null, environment: process.env, program: [] },
      sandbox: { name: "slow", wrap: (cwd) => [...waiting, "/usr/bin/env", "-C", cwd] },
    },
    reports: { started: none, ended: none, output: none, flush: none, flooded: none },
    log: none,
  });
  const invoke = (command_id: string, not_after: string): Invoke => ({
    ...{ command_id, fleet_command_id: command_id, attempt: 1, tool: "cmd.run", security_context: null, not_after },
    ...{ args: { command: "touch", args: [touched] }, requested_by: { sub: "u", tenant_id: "t" } },
    ...{ timeout_ms: 60_000, max_output_bytes: 1_024 },
  });
  const [id, odd] = [crypto.randomUUID(), crypto.randomUUID()];
  executor.invoke(invoke(id, "2999-01-01T00:00:00Z"));
  await executor.dropUnjournaled();
  executor.invoke(invoke(id, "2999-01-01T00:00:00Z"));
  executor.cancel({ command_id: id, reason: "operator", grace_ms: 0 });
  writeFileSync(gate, "");
  expect((await until(() => journal.resultOf(id))).status).toBe("cancelled");
  expect(existsSync(touched)).toBe(false);
  // No moment at all is past as well.
  executor.invoke(invoke(odd, "2999-13-45T00:00:00Z"));
  expect(await until(() => journal.resultOf(odd))).toMatchObject({ status: "refused", error_kind: "expired" });
  await executor.drain(0);
  await journal.close();
});

test("no compression is offered, by which a small message could become a large one", async () => {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request): Response {
      resolve(request.headers.get("sec-websocket-extensions"));
      return new Response("", { status: 400 });
    },
  });
  const none = () => {};
  const socket = openSocket(
    new URL(`ws://127.0.0.1:${server.port}/`),
    {},
    { opened: none, message: none, closed: none },
  );
  expect(await promise).toBeNull();
  socket.close(1000, "");
  await server.stop(true);
});
