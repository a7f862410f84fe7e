/** A daemon that dies at the worst moments: every command starts at most once and ends exactly once. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Invoke } from "../../../actors/edge/frames.ts";
import { type CrashPoint, crashPoints } from "../../../src/programs/edge-daemon/journal/crash-points.ts";
import type { EdgePeer } from "../../harness/outside/edge-service.ts";
import { processesWith } from "../../harness/processes.ts";
import { until } from "../../harness/until.ts";
import { commandId, openConfig, processesOf, TestHost } from "./harness.ts";

const counting = (host: TestHost): Pick<Invoke, "args"> => ({
  args: { command: "sh", args: ["-c", `echo >> ${host.path("count")}; echo done`] },
});

/** Does as the service: what a hello of the same journal does not list goes out again under its id. */
async function settle(host: TestHost, peer: EdgePeer, id: string, journal: string | undefined) {
  const listed = peer.hello?.commands.find(({ command_id }) => command_id === id);
  const isSame = peer.hello?.journal_id === journal;
  expect(isSame).toBe(true);
  if (listed === undefined) peer.invoke({ command_id: id, ...counting(host) });
  return await peer.resultOf(id);
}

const atWork = crashPoints.filter((point) => !point.startsWith("compaction"));

test.concurrent.each(atWork)(
  "killed at %s, a command starts once at most and has one end",
  async (point: CrashPoint) => {
    const host = new TestHost();
    const first = await host.connected({ env: { SVC_EDGE_CRASH_AT: point } });
    const id = commandId();
    first.invoke({ command_id: id, ...counting(host) });
    await host.child?.exited;
    expect(host.child?.signalCode).toBe("SIGKILL");
    const second = await host.connected();
    expect(second.hello?.journal_seq).toBeGreaterThanOrEqual(first.hello?.journal_seq ?? 0);
    expect(second.hello?.boot_id).not.toBe(first.hello?.boot_id ?? "");
    const told = first.results.filter(({ command_id }) => command_id === id);
    // What was acknowledged before is not told again.
    const result = point === "acknowledged" ? told[0] : await settle(host, second, id, first.hello?.journal_id);
    const [beforeStart, ran] = [
      /^started-(unwritten|torn)$/.test(point),
      /^(finished-(unsynced|synced)|sent|acknowledged)$/.test(point),
    ];
    if (beforeStart || ran) expect(result).toMatchObject({ status: "ok", stdout_tail: "done\n" });
    if (point === "started-synced") expect(result).toMatchObject({ status: "lost", error_kind: "daemon_restarted" });
    for (const other of told) expect(other).toEqual(result as typeof other);
    expect(host.lines("count")).toBeLessThanOrEqual(1);
    expect(host.lines("count")).toBe(result?.status === "ok" ? 1 : Math.min(1, host.lines("count")));
    expect(processesOf(id)).toEqual([]);
    // Once more, and after one more start: the same end, and no other start.
    second.invoke({ command_id: id, ...counting(host) });
    await until(
      () => second.results.filter(({ command_id }) => command_id === id).length >= (point === "acknowledged" ? 1 : 2),
    );
    await host.kill();
    const third = await host.connected();
    third.invoke({ command_id: id, ...counting(host) });
    expect((await third.resultOf(id)).status).toBe(result?.status ?? "ok");
    expect(host.lines("count")).toBeLessThanOrEqual(1);
    await host.end();
  },
  60_000,
);

test.each(crashPoints.filter((point) => point.startsWith("compaction")))(
  "killed at %s, the journal is the former or the new one, whole",
  async (point) => {
    const host = new TestHost();
    host.service.behaviour.acks = false;
    const first = await host.connected();
    const id = commandId();
    first.invoke({ command_id: id, ...counting(host) });
    await first.resultOf(id);
    await host.kill();
    const dying = host.start({ env: { SVC_EDGE_CRASH_AT: point } });
    await dying.exited;
    expect(dying.signalCode).toBe("SIGKILL");
    const second = await host.connected();
    expect(second.hello?.journal_id).toBe(first.hello?.journal_id ?? "");
    expect(second.hello?.commands).toEqual([{ command_id: id, state: "finished" }]);
    expect(await second.resultOf(id)).toMatchObject({ status: "ok", stdout_tail: "done\n" });
    expect(host.lines("count")).toBe(1);
    await host.end();
  },
  30_000,
);

test.each([
  ["with bubblewrap", openConfig],
  ["without it", `${openConfig}sandbox: off\n`],
])(
  "a daemon killed while it runs a command leaves no process, %s",
  async (_, config) => {
    const host = new TestHost(config);
    const first = await host.connected();
    const id = commandId();
    const script = `echo >> ${host.path("count")}; (setsid sleep 300 &) ; sleep 300 & sleep 300`;
    first.invoke({ command_id: id, args: { command: "sh", args: ["-c", script] } });
    await until(() => host.lines("count") === 1 && processesOf(id).length >= 4);
    await host.kill();
    const second = await host.connected();
    expect(second.hello?.commands).toEqual([{ command_id: id, state: "finished" }]);
    expect(await second.resultOf(id)).toMatchObject({ status: "lost", error_kind: "daemon_restarted" });
    expect(processesOf(id)).toEqual([]);
    expect(host.lines("count")).toBe(1);
    await host.end();
  },
  30_000,
);

test("a daemon on an older image of its disk is known by its number", async () => {
  const host = new TestHost();
  const first = await host.connected();
  const id = commandId();
  first.invoke({ command_id: id, args: { command: "sleep", args: ["300"] } });
  await until(() => first.started.includes(id));
  const image = readFileSync(host.state.journal);
  const refused = commandId();
  first.invoke({ command_id: refused, tool: "no.such" });
  await first.resultOf(refused);
  first.cut();
  const second = await host.service.peer(1);
  await host.kill();
  writeFileSync(host.state.journal, image);
  const restored = await host.connected();
  expect(restored.hello?.commands).toEqual([{ command_id: id, state: "finished" }]);
  expect(restored.hello?.journal_id).toBe(second.hello?.journal_id ?? "");
  expect(restored.hello?.journal_seq).toBeLessThan(second.hello?.journal_seq ?? 0);
  expect(await restored.resultOf(id)).toMatchObject({ status: "lost", error_kind: "daemon_restarted" });
  await host.end();
}, 30_000);

test("a full disk refuses commands, and is used again once it has room", async () => {
  const host = new TestHost(`${openConfig}sandbox: off\n`);
  const small = host.path("small");
  const copied = ["sh", "-c", `cp -a ${host.state.path}/. ${small}/ && exec "$@" --state-dir ${small}`, "sh"];
  const before = [
    "bwrap",
    "--die-with-parent",
    "--dev-bind",
    "/",
    "/",
    "--size",
    "262144",
    "--tmpfs",
    small,
    ...copied,
  ];
  const peer = await host.connected({ before });
  const roots = processesWith(small).map((pid) => `/proc/${pid}/root${small}`);
  const inside = `${roots.find((root) => existsSync(`${root}/journal`))}/fill`;
  const running = commandId();
  peer.invoke({
    command_id: running,
    args: { command: "sh", args: ["-c", `read -r line < ${host.path("go")}; echo done`] },
  });
  Bun.spawnSync(["mkfifo", host.path("go")]);
  await until(() => peer.started.includes(running));
  expect(() => writeFileSync(inside, Buffer.alloc(400_000))).toThrow("ENOSPC");
  // What is left of the journal's last page takes some more records.
  const refused = await until(async () => {
    const id = commandId();
    peer.invoke({ command_id: id, args: { command: "sh", args: ["-c", `echo ${id} >> ${host.path("ran")}`] } });
    const result = await peer.resultOf(id);
    return result.status === "refused" ? result : null;
  });
  expect(refused.error_kind).toBe("io_error");
  await until(() => peer.accepting === false);
  // An end that is not on disk is told once it is.
  writeFileSync(host.path("go"), "on\n");
  await until(() => processesOf(running).length === 0);
  expect(peer.results.some(({ command_id }) => command_id === running)).toBe(false);
  rmSync(inside);
  await until(() => peer.accepting === true);
  expect(await peer.resultOf(running)).toMatchObject({ status: "ok", stdout_tail: "done\n" });
  expect(readFileSync(host.path("ran"), "utf8")).not.toContain(refused.command_id);
  const id = commandId();
  peer.invoke({ command_id: id, args: { command: "true" } });
  expect((await peer.resultOf(id)).status).toBe("ok");
  await host.end();
}, 30_000);
