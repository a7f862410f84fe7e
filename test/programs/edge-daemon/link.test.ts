/** The link as a daemon holds it: what it believes, what ends it, and how it comes back (docs/reference/edge-daemon.md). */
import { afterAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import {
  newKey,
  readIdentity,
  readKey,
  readNextKey,
  writeNextKey,
} from "../../../src/programs/edge-daemon/state/identity.ts";
import { published, signingKey } from "../../harness/outside/edge-service.ts";
import { until } from "../../harness/until.ts";
import { commandId, openConfig, processesOf, TestHost } from "./harness.ts";

const host = new TestHost();
afterAll(() => host.end());
const { service } = host;

/** The next connection that says hello, after whatever `act` does. */
async function next(act: () => void) {
  const index = service.peers.length;
  act();
  return await service.peer(index);
}
const sleeping = { command: "sleep", args: ["300"] };

test("a daemon says hello with its key, and takes commands once it is welcomed", async () => {
  const peer = await host.connected();
  expect(peer.hello).toMatchObject({ journal_seq: 0, service_kids: ["edge-1"], slots: 4, commands: [] });
  const id = commandId();
  peer.invoke({ command_id: id, args: { command: "echo", args: ["a b"] } });
  expect(await peer.resultOf(id)).toMatchObject({ status: "ok", exit_code: 0, stdout_tail: "a b\n" });
  expect(peer.started).toEqual([id]);
  expect(peer.faults).toEqual([]);
  await until(() => host.status()?.unacknowledged === 0);
  // The host's own log says for whom, and in which trace.
  const traced = commandId();
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  peer.invokeTraced(traced, { traceparent }, { command: "true" });
  await peer.resultOf(traced);
  await until(() => host.log.includes(`command ${traced}: "cmd.run" for "user-7" of "acme", trace "${traceparent}"`));
});

test.each<[string, (peer: Awaited<ReturnType<typeof next>>, b: string) => string]>([
  ["an altered body", (peer, b) => peer.signed("invoke", b.replace("altered", "ALTERED"), { shownBody: b })],
  ["a number that was used", (peer, b) => peer.signed("invoke", b, { s: 1 })],
  ["a number too far", (peer, b) => peer.signed("invoke", b, { s: 7 })],
  ["another key under the same name", (peer, b) => peer.signed("invoke", b, { key: signingKey("edge-1") })],
  ["a key that is not pinned", (peer, b) => peer.signed("invoke", b, { key: signingKey("edge-9") })],
  ["a long name that nothing signed", (peer, b) => peer.signed("x".repeat(128), b, { s: 7 })],
  ["no signature", (_, b) => JSON.stringify({ t: "invoke", b })],
  ["no JSON", () => "{"],
  ["a body that does not fit", (peer) => peer.signed("invoke", "{}")],
  ["too many bytes", () => JSON.stringify({ t: "later", b: "x".repeat(1_100_000) })],
])("%s ends the connection with 4000, and nothing runs", async (_, forge) => {
  const peer = await host.peer;
  const id = commandId();
  const touched = host.path(id);
  const good = (await next(() => {
    const body = { command_id: id, fleet_command_id: commandId(), attempt: 1, tool: "cmd.run", altered: "altered" };
    const rest = { args: { command: "touch", args: [touched] }, security_context: null, timeout_ms: 1_000 };
    const by = { requested_by: { sub: "u", tenant_id: "t" }, max_output_bytes: 1_024 };
    const not_after = new Date(service.now() + 30_000).toISOString();
    peer.raw(forge(peer, JSON.stringify({ ...body, ...rest, ...by, not_after })));
  })) as typeof peer;
  expect(peer.closed?.code).toBe(4000);
  const ping = commandId();
  good.invoke({ command_id: ping, args: { command: "true" } });
  await good.resultOf(ping);
  expect(await Bun.file(touched).exists()).toBe(false);
});

test("a frame of a later version is ignored, and counts when it is signed", async () => {
  const peer = await host.peer;
  peer.raw(JSON.stringify({ t: "hint", b: "{}" }));
  peer.send("hint", { a: 1 });
  const id = commandId();
  peer.invoke({ command_id: id, args: { command: "true" } });
  expect((await peer.resultOf(id)).status).toBe("ok");
});

test("a result whose ack was forged is sent again", async () => {
  const peer = await host.peer;
  service.behaviour.acks = false;
  const id = commandId();
  peer.invoke({ command_id: id, args: { command: "true" } });
  await peer.resultOf(id);
  const again = await next(() => peer.raw(peer.signed("ack", '{"seq":9}', { key: signingKey("edge-1") })));
  expect(again.hello?.commands).toEqual([{ command_id: id, state: "finished" }]);
  expect((await again.resultOf(id)).status).toBe("ok");
  service.behaviour.acks = true;
  const last = await next(() => again.cut());
  await last.resultOf(id);
  const clean = await next(() => last.cut());
  expect(clean.hello?.commands).toEqual([]);
});

test("a link that is cut while a command runs has one start and one result", async () => {
  const peer = await host.peer;
  const id = commandId();
  const args = { command: "sh", args: ["-c", `echo >> ${host.path("cut")}; read line; echo done`], stdin: "" };
  peer.invoke({ command_id: id, args: { ...args, args: ["-c", `echo >> ${host.path("cut")}; sleep 0.5; echo done`] } });
  await until(() => peer.started.includes(id));
  const again = await next(() => peer.cut());
  expect(again.hello?.commands).toEqual([{ command_id: id, state: "running" }]);
  again.invoke({ command_id: id, args });
  expect(await again.resultOf(id)).toMatchObject({ status: "ok", stdout_tail: "done\n" });
  expect(again.started).toEqual([id]);
  expect(host.lines("cut")).toBe(1);
  again.invoke({ command_id: id, args });
  await until(() => again.results.filter(({ command_id }) => command_id === id).length === 2);
  expect(host.lines("cut")).toBe(1);
});

test("what a hello does not list was dropped, and starts only when it is sent again", async () => {
  let peer = await host.peer;
  for (let round = 0; round < 6; round++) {
    const id = commandId();
    const args = { command: "sh", args: ["-c", `echo >> ${host.path(id)}`] };
    const before = peer;
    peer = await next(() => {
      before.invoke({ command_id: id, args });
      // The first rounds leave no time at all.
      if (round < 3) before.cut();
      else setTimeout(() => before.cut(), round);
    });
    const isListed = peer.hello?.commands.some(({ command_id }) => command_id === id) ?? false;
    if (!isListed) {
      const other = commandId();
      peer.invoke({ command_id: other, args: { command: "true" } });
      await peer.resultOf(other);
      expect(host.lines(id)).toBe(0);
      peer.invoke({ command_id: id, args });
    }
    expect((await peer.resultOf(id)).status).toBe("ok");
    expect(host.lines(id)).toBe(1);
  }
});

test("a bare 4003, and one after a badly signed revoked, are no revocation", async () => {
  const peer = await host.peer;
  const id = commandId();
  peer.invoke({ command_id: id, args: sleeping });
  await until(() => peer.started.includes(id));
  const second = await next(() => peer.close(4003));
  expect(second.hello?.commands).toEqual([{ command_id: id, state: "running" }]);
  const third = await next(() => {
    const body = JSON.stringify({ node_id: second.hello?.node_id, revoked_at: "2031-01-01T00:00:00Z" });
    second.raw(second.signed("revoked", body, { key: signingKey("edge-1") }));
    second.close(4003);
  });
  expect(third.hello?.commands).toEqual([{ command_id: id, state: "running" }]);
  third.cancel(id, 100);
  expect(await third.resultOf(id)).toMatchObject({ status: "cancelled", error_kind: "cancelled" });
});

test("a 4010 that no welcome explains is no end", async () => {
  const peer = await host.peer;
  const again = await next(() => peer.close(4010));
  expect(again.hello?.node_id).toBe(peer.hello?.node_id ?? "");
});

test("the keys of a welcome take the place of the pins", async () => {
  const peer = await host.peer;
  const newer = signingKey("edge-2");
  service.behaviour.welcome = { service_keys: [published(newer)] };
  const second = await next(() => peer.cut());
  await until(() => readIdentity(host.state)?.service_keys[0]?.kid === "edge-2");
  service.behaviour.welcome = {};
  const old = service.key;
  service.key = newer;
  const third = await next(() => second.cut());
  expect(third.hello?.service_kids).toEqual(["edge-2"]);
  const id = commandId();
  third.invoke({ command_id: id, args: { command: "true" } });
  await third.resultOf(id);
  // The former key is trusted no longer, not even for a welcome.
  third.key = old;
  const fourth = await next(() => third.invoke({ command_id: commandId(), args: { command: "true" } }));
  expect(third.closed?.code).toBe(4000);
  expect(fourth.hello?.service_kids).toEqual(["edge-2"]);
});

test("a next key is tried first, given up for the present one, and kept once welcomed", async () => {
  const peer = await host.peer;
  const [present, key] = [readKey(host.state), newKey()];
  writeNextKey(host.state, key);
  service.behaviour.welcomes = false;
  const asNext = await next(() => host.child?.kill("SIGHUP"));
  expect(peer.closed?.code).toBe(1001);
  expect(asNext.hello?.public_key).toBe(key.publicKey);
  const asPresent = await next(() => asNext.close(4001));
  expect(asPresent.hello?.public_key).toBe(present?.publicKey ?? "");
  service.behaviour.welcomes = true;
  const again = await next(() => asPresent.close(4001));
  expect(again.hello?.public_key).toBe(key.publicKey);
  await until(() => readNextKey(host.state) === null);
  expect(readKey(host.state)?.publicKey).toBe(key.publicKey);
});

test("a host without a heartbeat's answer and without any frame connects anew", async () => {
  const peer = await host.peer;
  service.behaviour.welcome = { heartbeat_ms: 1, stale_ms: 1_600 };
  const quick = await next(() => peer.cut());
  await until(() => quick.heartbeats > 1);
  service.behaviour.acks = false;
  const again = await next(() => {});
  expect(quick.closed?.code).toBe(4002);
  // However often it was asked for.
  expect(quick.heartbeats).toBeLessThan(20);
  service.behaviour.acks = true;
  service.behaviour.welcome = {};
  await next(() => again.cut());
});

test("a refused upgrade, an overloaded node and a leaving one are waited for", async () => {
  const peer = await host.peer;
  const from = service.attempts.length;
  service.behaviour.refusal = { status: 503, headers: { "Retry-After": "1" } };
  peer.cut();
  // The attempt, and the question how long to wait.
  await until(() => service.attempts.length >= from + 2);
  service.behaviour.refusal = null;
  const second = await service.peer(service.peers.length);
  const [asked = 0, came = 0] = service.attempts.slice(from + 1);
  expect(came - asked).toBeGreaterThan(900);
  const before = service.attempts.length;
  const closedAt = performance.now();
  const third = await next(() => second.close(4013, "retry_after_ms=600"));
  expect((service.attempts[before] ?? 0) - closedAt).toBeGreaterThan(590);
  expect(third.hello).not.toBeNull();
});

test("what floods a daemon without any ack is closed with 4000; what runs goes on", async () => {
  const peer = await host.peer;
  service.behaviour.acks = false;
  const running = commandId();
  peer.invoke({ command_id: running, args: sleeping });
  await until(() => peer.started.includes(running));
  const again = await next(() => {
    for (let count = 0; count < 700; count++) {
      peer.cancel(commandId());
      peer.invoke({ command_id: commandId(), tool: "no.such" });
    }
  });
  expect(peer.closed).toEqual({ code: 4000, reason: "too much is not acknowledged" });
  expect(again.hello?.commands).toHaveLength(256);
  expect(again.hello?.commands[0]).toEqual({ command_id: running, state: "running" });
  await until(() => again.results.length === 1_024);
  // Full as it is, it does what adds nothing.
  again.cancel(running, 100);
  expect((await again.resultOf(running)).status).toBe("cancelled");
  const more = await next(() => again.cancel(commandId()));
  expect(again.closed?.code).toBe(4000);
  service.behaviour.acks = true;
  await until(() => more.results.length === 1_025);
  more.ack();
  const id = commandId();
  more.invoke({ command_id: id, args: { command: "true" } });
  expect((await more.resultOf(id)).status).toBe("ok");
}, 30_000);

test("a revoked host kills its commands and ends with 3, never to come back", async () => {
  const peer = await host.peer;
  const id = commandId();
  peer.invoke({ command_id: id, args: { command: `sh -c 'echo $$ > ${host.path("pid")}; sleep 300 & sleep 300'` } });
  await until(() => host.lines("pid") === 1);
  expect(processesOf(id).length).toBeGreaterThan(1);
  peer.revoke();
  peer.close(4003);
  expect(await host.child?.exited).toBe(3);
  expect(processesOf(id)).toEqual([]);
});

test("a machine whose clock is moved shakes hands anew before anything starts", async () => {
  const moved = new TestHost();
  const clock = moved.path("clock");
  writeFileSync(clock, "0");
  const peer = await moved.connected({ env: { EDGE_TEST_CLOCK: clock } });
  await until(() => moved.status()?.connected);
  writeFileSync(clock, "10000");
  const id = commandId();
  peer.invoke({ command_id: id, args: { command: "touch", args: [moved.path("ran")] } });
  const again = await moved.service.peer(1);
  expect(peer.started).toEqual([]);
  expect(again.hello?.commands).toEqual([]);
  expect(await Bun.file(moved.path("ran")).exists()).toBe(false);
  again.invoke({ command_id: id, args: { command: "true" } });
  expect((await again.resultOf(id)).status).toBe("ok");
  // By the service's time, however wrong the machine's is.
  moved.service.skew = 3_600_000;
  again.cut();
  const skewed = await moved.service.peer(2);
  const [late, right] = [commandId(), commandId()];
  skewed.invoke({
    command_id: late,
    args: { command: "true" },
    not_after: new Date(moved.service.now() - 1).toISOString(),
  });
  skewed.invoke({ command_id: right, args: { command: "true" } });
  expect(await skewed.resultOf(late)).toMatchObject({ status: "refused", error_kind: "expired", started_at: null });
  expect((await skewed.resultOf(right)).status).toBe("ok");
  await moved.end();
});

test("a daemon below the oldest version delivers what it has and ends with 5", async () => {
  const old = new TestHost();
  const peer = await old.connected({ args: ["--version", "0.3.0"] });
  expect(peer.hello?.agent_version).toBe("0.3.0");
  old.service.behaviour.welcome = { min_version: "0.4.0-rc.1" };
  peer.cut();
  const again = await old.service.peer(1);
  await until(() => old.status()?.min_version === "0.4.0-rc.1");
  again.close(4010);
  expect(await old.child?.exited).toBe(5);
  await old.end();
});

test("a daemon that stops gives its commands time, cancels the rest and delivers", async () => {
  const stopped = new TestHost(`${openConfig}shutdown_grace_secs: 1\n`);
  const peer = await stopped.connected();
  const [quick, slow] = [commandId(), commandId()];
  peer.invoke({ command_id: quick, args: { command: "sleep", args: ["0.3"] } });
  peer.invoke({
    command_id: slow,
    args: { command: `sh -c 'echo $$ > ${stopped.path("pid")}; sleep 300 & sleep 300'` },
  });
  await until(() => peer.started.length === 2);
  stopped.child?.kill("SIGTERM");
  await until(() => peer.accepting === false);
  const late = commandId();
  peer.invoke({ command_id: late, args: { command: "true" } });
  expect(await peer.resultOf(late)).toMatchObject({ status: "refused", error_kind: "daemon_shutdown" });
  expect((await peer.resultOf(quick)).status).toBe("ok");
  expect(await peer.resultOf(slow)).toMatchObject({ status: "cancelled", error_kind: "daemon_shutdown" });
  expect(processesOf(slow)).toEqual([]);
  expect(await stopped.child?.exited).toBe(0);
  expect(peer.closed?.code).toBe(1000);
  expect(stopped.status()?.connected).toBe(false);
  await stopped.end();
});

test("once is one connection, and a second daemon finds the directory in use", async () => {
  const once = new TestHost();
  const peer = await once.connected({ args: ["--once"] });
  const first = once.child;
  const second = once.start();
  expect(await second.exited).toBe(4);
  expect(once.log).toContain("is in use by process");
  peer.close(1001);
  expect(await first?.exited).toBe(0);
  writeFileSync(once.state.config, "slots: many\n");
  expect(await once.start().exited).toBe(2);
  await until(() => once.log.includes("slots: "));
  await once.end();
  expect(readFileSync(once.state.config, "utf8")).toBe("slots: many\n");
});
