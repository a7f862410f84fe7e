/** Commands on a host: what runs, with what, and what is told of it (docs/reference/edge-daemon.md). */
import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, renameSync, rmdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Invoke } from "../../../actors/edge/frames.ts";
import { profileText } from "../../../src/programs/edge-daemon/config/profiles.ts";
import { until } from "../../harness/until.ts";
import { commandId, openConfig, processesOf, TestHost } from "./harness.ts";

const host = new TestHost(`${openConfig}slots: 8
env: {pass: [PATH, HOME], allow: [COLOUR, LD_PRELOAD]}
labels: {zone: b}
`);
const plain = new TestHost(`${openConfig}sandbox: off\n`);
const standard = new TestHost(`reconnect: [0.05]\n${profileText("standard")}`);
afterAll(() => Promise.all([host, plain, standard].map((one) => one.end())));
const secrets = { SVC_USER_TOKEN: "t0ken", SECRET: "s" };
const peers = new Map([
  [host, await host.connected({ env: secrets })],
  [plain, await plain.connected({ env: secrets })],
  [standard, await standard.connected({ env: secrets })],
]);

async function run(given: Partial<Invoke>, on = host) {
  const peer = peers.get(on);
  if (peer === undefined) throw new Error("the host is not connected");
  const command_id = commandId();
  peer.invoke({ command_id, ...given });
  return { ...(await peer.resultOf(command_id)), shown: (name: "stdout" | "stderr") => peer.shown(command_id, name) };
}
const sh = (script: string, more: object = {}, on = host) =>
  run({ args: { command: "sh", args: ["-c", script], ...more } }, on);
const fs = (tool: string, args: Invoke["args"], on = host) => run({ tool: `fs.${tool}`, args }, on);

test("a command has its exit code, its streams and its standard input", async () => {
  expect(await sh("cat; echo err >&2; exit 3", { stdin: "in" })).toMatchObject({
    status: "err",
    error_kind: "nonzero_exit",
    exit_code: 3,
    stdout_tail: "in",
    stderr_tail: "err\n",
    stdout_bytes: 2,
    stderr_bytes: 4,
    truncated: false,
    structured: { exit_code: 3, stdout: "in", stderr: "err\n", timed_out: false, truncated: false },
  });
  expect(await sh("kill -9 $$")).toMatchObject({ status: "err", exit_code: 137, structured: { signal: "SIGKILL" } });
  expect(await run({ args: { command: "no-such-program" } })).toMatchObject({
    status: "err",
    error_kind: "spawn_failed",
    started_at: null,
  });
});

test("of the environment a command gets what the host names, and the rest is told", async () => {
  const additions = { COLOUR: "red", OTHER: "x", LD_PRELOAD: "/x.so", PATH: "/evil" };
  const result = await run({ args: { command: "env", env_additions: additions } });
  const names = result.stdout_tail
    .trim()
    .split("\n")
    .map((line) => line.split("=")[0]);
  expect(new Set(names)).toEqual(new Set(["PATH", "HOME", "PWD", "COLOUR", "SVC_EDGE_COMMAND_ID"]));
  expect(result.stdout_tail).toContain("COLOUR=red");
  expect(result.stdout_tail).toContain(`SVC_EDGE_COMMAND_ID=${result.command_id}\n`);
  expect(result.structured).toMatchObject({ dropped_env: ["LD_PRELOAD", "OTHER", "PATH"] });
});

test("50 MiB of no text: counted exactly, shown up to its cap, holding up nothing", async () => {
  const peer = peers.get(host);
  const bytes = 50 * 1024 * 1024;
  const script = `head -c ${bytes} /dev/zero | tr '\\0' '\\377'; printf 'end\\n'`;
  const big = run({ args: { command: "sh", args: ["-c", script] }, max_output_bytes: 1_048_576 });
  expect((await sh("echo beside")).stdout_tail).toBe("beside\n");
  const result = await big;
  expect(result).toMatchObject({ status: "ok", stdout_bytes: bytes + 4, truncated: true });
  expect(result.stdout_tail).toEndWith("\uFFFDend\n");
  expect(Buffer.byteLength(result.stdout_tail)).toBeLessThanOrEqual(8_192);
  expect(JSON.stringify(result.structured).length).toBeLessThanOrEqual(131_072);
  const shown = result.shown("stdout");
  expect(shown.length).toBeLessThanOrEqual(1_048_576);
  expect(shown.every((byte) => byte === 0xff)).toBe(true);
  expect(peer?.progress.every(({ data }) => Buffer.from(data, "base64").length <= 16_384)).toBe(true);
  expect(peer?.faults).toEqual([]);
});

test("without credit output is dropped, and told by the offset of what follows", async () => {
  const peer = peers.get(host);
  if (peer === undefined) throw new Error("not connected");
  host.service.behaviour.credits = false;
  const before = peer.progress.length;
  const first = await run({ args: { command: "sh", args: ["-c", "head -c 600000 /dev/zero"] } });
  expect(first).toMatchObject({ status: "ok", stdout_bytes: 600_000, truncated: false });
  const sent = peer.progress.slice(before).reduce((sum, { data }) => sum + Buffer.from(data, "base64").length, 0);
  expect(sent).toBe(262_144);
  const id = commandId();
  peer.invoke({ command_id: id, args: { command: "sh", args: ["-c", "printf 12345; read go; printf 6789"] } });
  await peer.resultOf(id);
  expect(peer.shown(id).length).toBe(0);
  host.service.behaviour.credits = true;
  peer.ack(262_144);
  const gap = commandId();
  peer.invoke({ command_id: gap, args: { command: "echo", args: ["after"] } });
  await peer.resultOf(gap);
  expect(peer.shown(gap).toString()).toBe("after\n");
});

test.each([
  ["with bubblewrap", () => host],
  ["without it", () => plain],
])("a cancelled command takes its whole tree along, %s", async (_, on) => {
  const one = on();
  const peer = peers.get(one);
  if (peer === undefined) throw new Error("not connected");
  const id = commandId();
  const script = "trap '' TERM; (setsid sleep 300 &) ; sleep 300 & sleep 300";
  peer.invoke({ command_id: id, args: { command: "sh", args: ["-c", script] } });
  await until(() => processesOf(id).length >= 4);
  peer.cancel(id, 200);
  expect(await peer.resultOf(id)).toMatchObject({ status: "cancelled", error_kind: "cancelled", exit_code: null });
  await until(() => processesOf(id).length === 0);
});

test.each([
  ["with bubblewrap", () => host],
  ["without it", () => plain],
])("a command may end by itself when it is asked to, %s", async (_, on) => {
  const one = on();
  const peer = peers.get(one);
  const id = commandId();
  const script = `trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.05; done`;
  peer?.invoke({ command_id: id, args: { command: "sh", args: ["-c", script] } });
  await until(() => peer?.shown(id).toString() === "ready\n");
  peer?.cancel(id, 9_000);
  expect(await peer?.resultOf(id)).toMatchObject({ status: "cancelled", stdout_tail: "ready\nbye\n" });
});

test("a timeout is the shortest of those that bind", async () => {
  const result = await run({ args: { command: "sleep", args: ["60"] }, timeout_ms: 300 });
  expect(result).toMatchObject({ status: "timed_out", error_kind: "timeout", structured: { timed_out: true } });
  expect((await run({ args: { command: "sleep", args: ["60"], timeout_secs: 1 } })).status).toBe("timed_out");
});

test("a cancel of what is not known is on record, so that it never starts", async () => {
  const peer = peers.get(host);
  const id = commandId();
  peer?.cancel(id);
  expect(await peer?.resultOf(id)).toMatchObject({ status: "cancelled", started_at: null });
  peer?.invoke({ command_id: id, args: { command: "touch", args: [host.path("never")] } });
  await until(() => peer?.results.filter(({ command_id }) => command_id === id).length === 2);
  expect(existsSync(host.path("never"))).toBe(false);
});

test("no more commands run than there are slots", async () => {
  const peer = peers.get(plain);
  const ids = Array.from({ length: 5 }, commandId);
  for (const command_id of ids) peer?.invoke({ command_id, args: { command: "sleep", args: ["0.4"] } });
  const results = await Promise.all(ids.map((id) => peer?.resultOf(id)));
  expect(results.map((result) => result?.error_kind)).toEqual([null, null, null, null, "busy"]);
});

test.each<[string, Partial<Invoke>, string]>([
  ["a command outside the list", { args: { command: "cat", args: ["/etc/hostname"] } }, "policy_violation"],
  ["a shell where none is listed", { args: { command: "echo a; id" } }, "policy_violation"],
  ["date with a file", { args: { command: "date -f /etc/passwd" } }, "policy_violation"],
  ["ps with an argument", { args: { command: "ps e" } }, "policy_violation"],
  ["uname with an argument", { args: { command: "uname", args: ["-a"] } }, "policy_violation"],
  ["a directory beside", { args: { command: "uname", cwd: "/etc" } }, "path_not_allowed"],
  ["a directory by ..", { args: { command: "uname", cwd: "../../x" } }, "path_not_allowed"],
  ["a link out as the directory", { args: { command: "uname", cwd: "out" } }, "path_not_allowed"],
  ["the state directory by a link", { args: { command: "uname", cwd: "state" } }, "path_not_allowed"],
  ["a file by ..", { tool: "fs.read", args: { path: "../node.key" } }, "path_not_allowed"],
  ["a file behind a link", { tool: "fs.read", args: { path: "out/hostname" } }, "path_not_allowed"],
  ["a new file behind a link", { tool: "fs.write", args: { path: "out/edge-x", content: "x" } }, "path_not_allowed"],
  ["the state directory", { tool: "fs.list", args: { path: "state" } }, "path_not_allowed"],
  [
    "a context that is not there",
    { security_context: "other", args: { command: "uname" } },
    "security_context_not_found",
  ],
  ["a tool that no host has", { tool: "web.fetch", args: { url: "http://x" } }, "tool_not_supported"],
  ["arguments that do not fit", { tool: "fs.read", args: { path: "x", max_bytes: 65_537 } }, "invalid_args"],
])("%s is refused, and nothing is touched", async (_, given, kind) => {
  for (const [name, target] of [
    ["out", "/etc"],
    ["state", standard.state.path],
  ] as const) {
    if (!existsSync(join(standard.state.work, name))) symlinkSync(target, join(standard.state.work, name));
  }
  expect(await run(given, standard)).toMatchObject({ status: "refused", error_kind: kind });
  expect(existsSync("/etc/edge-x")).toBe(false);
});

test("the standard profile runs what it lists", async () => {
  expect((await run({ args: { command: "uname" } }, standard)).status).toBe("ok");
  expect((await run({ args: { command: "echo a b" } }, standard)).stdout_tail).toBe("a b\n");
  const added = await run({ args: { command: "echo x", env_additions: { A: "1" } } }, standard);
  expect(added.structured).toMatchObject({ dropped_env: ["A"] });
  expect(peers.get(standard)?.hello?.capabilities.tools).toContain("fs.grep");
});

test("what is allowed everywhere still never enters the state directory", async () => {
  const { key, work, path } = host.state;
  for (const given of [{ path: key }, { path: `${work}/../node.key` }]) {
    expect(await fs("read", given)).toMatchObject({ status: "refused", error_kind: "path_not_allowed" });
  }
  expect(await fs("delete", { path, recursive: true })).toMatchObject({ status: "refused" });
  expect(await sh("pwd", { cwd: path })).toMatchObject({ status: "refused", error_kind: "path_not_allowed" });
  expect(existsSync(key)).toBe(true);
  // Commands do not see it at all where bubblewrap isolates them.
  expect(await sh(`ls -a ${path}; cat ${key}`)).toMatchObject({ stdout_tail: ".\n..\nwork\n", exit_code: 1 });
});

test("bubblewrap gives a command its own processes, and no new privileges", async () => {
  const { stdout_tail } = await sh("cat /proc/self/status; ls -d /proc/[0-9]* | wc -l");
  expect(stdout_tail).toMatch(/^NoNewPrivs:\s+1$/m);
  // CAP_SYS_ADMIN is bit 21.
  const effective = BigInt(`0x${/^CapEff:\s+([0-9a-f]+)$/m.exec(stdout_tail)?.[1]}`);
  expect((effective >> 21n) & 1n).toBe(0n);
  expect(Number(stdout_tail.trim().split("\n").at(-1))).toBeLessThan(8);
  expect(host.status()?.sandbox).toBe("bubblewrap");
  expect(plain.status()?.sandbox).toBe("none: switched off");
});

test("files are written, listed, searched, edited and removed", async () => {
  expect(await fs("write", { path: "a/b.txt", content: "one\ntwo\n" })).toMatchObject({
    status: "ok",
    structured: { bytes_written: 8, created: true },
  });
  expect(await fs("read", { path: "a/b.txt", offset: 4 })).toMatchObject({
    structured: { content: "two\n", size_bytes: 8 },
  });
  expect(await fs("edit", { path: "a/b.txt", target_content: "two", replacement_content: "2" })).toMatchObject({
    structured: { replacements: 1 },
  });
  expect(await fs("grep", { pattern: "^2$" })).toMatchObject({
    structured: { matches: [{ line_number: 2, line: "2" }] },
  });
  expect(await fs("glob", { pattern: "**/*.txt" })).toMatchObject({ structured: { count: 1 } });
  expect(await fs("list", {})).toMatchObject({ structured: { entries: [{ name: "a", file_type: "directory" }] } });
  expect(await fs("delete", { path: "a", recursive: true })).toMatchObject({ structured: { deleted: true } });
  expect(await fs("read", { path: "a/b.txt" })).toMatchObject({ status: "err", error_kind: "not_found" });
});

test("a line that is cut within a character is none that breaks the connection", async () => {
  await fs("write", { path: "long", content: `${"a".repeat(1_999)}😀` });
  const found = await fs("grep", { pattern: "a", path: "long" });
  expect(found).toMatchObject({ status: "ok", structured: { matches: [{ line: `${"a".repeat(1_999)}\uFFFD` }] } });
  expect(peers.get(host)?.faults).toEqual([]);
});

test("commands in 64 slots that all write hold up no control frame", async () => {
  const busy = new TestHost(`${openConfig}slots: 64\n`);
  busy.service.behaviour.welcome = { heartbeat_ms: 100, stale_ms: 5_000 };
  const peer = await busy.connected();
  const ids = Array.from({ length: 64 }, commandId);
  const writing = { command: "sh", args: ["-c", "head -c 200000 /dev/zero; sleep 300"] };
  for (const command_id of ids) peer.invoke({ command_id, args: writing });
  await until(() => ids.every((id) => peer.started.includes(id)), { timeoutMs: 25_000 });
  const before = peer.heartbeats;
  for (const id of ids) peer.cancel(id, 100);
  const results = await Promise.all(ids.map((id) => peer.resultOf(id)));
  expect(new Set(results.map(({ status }) => status))).toEqual(new Set(["cancelled"]));
  await until(() => peer.heartbeats > before);
  expect([peer.closed, peer.faults]).toEqual([null, []]);
  await busy.end();
}, 30_000);

test("a result that is larger than its frame may hold is an error", async () => {
  const many = host.path("many");
  mkdirSync(many);
  for (let index = 0; index < 1_200; index++) writeFileSync(join(many, `${index}-${"x".repeat(60)}`), "");
  expect(await fs("list", { path: many, limit: 2_000 })).toMatchObject({
    status: "err",
    error_kind: "output_too_large",
    structured: null,
  });
});

test("what a command leaves running ends with it", async () => {
  const result = await sh(`(sleep 300; touch ${plain.path("late")}) & echo started`, {}, plain);
  expect(result).toMatchObject({ status: "ok", stdout_tail: "started\n" });
  await until(() => processesOf(result.command_id).length === 0);
});

test("the metrics page counts what ended, by tool and status, and names no one", async () => {
  const free = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = free;
  free.stop(true);
  const shown = new TestHost(`${openConfig}metrics: {listen: "127.0.0.1:${port}"}\n`);
  const peer = await shown.connected();
  const id = commandId();
  peer.invoke({ command_id: id, args: { command: "true" } });
  await peer.resultOf(id);
  const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(page).toContain('svc_edge_daemon_commands_total{tool="cmd.run",status="ok"} 1\n');
  for (const line of ["connected 1", "reconnects_total 0", "journal_errors_total 0"])
    expect(page).toContain(`svc_edge_daemon_${line}\n`);
  expect(page).not.toContain("acme");
  await shown.end();
});

test("nothing runs while the state directory is not where it was", async () => {
  const away = `${plain.state.path}.away`;
  renameSync(plain.state.path, away);
  mkdirSync(plain.state.path);
  const key = join(away, "node.key");
  const moved = [await sh(`cat ${key}`, { cwd: "/" }, plain), await fs("read", { path: key }, plain)];
  rmdirSync(plain.state.path);
  renameSync(away, plain.state.path);
  expect(moved.map(({ status, error_kind }) => [status, error_kind])).toEqual([
    ["refused", "io_error"],
    ["refused", "io_error"],
  ]);
  expect((await sh("echo back", { cwd: "/" }, plain)).stdout_tail).toBe("back\n");
});
