/** Programs that replace each other, whatever dies meanwhile (docs/reference/edge-cli.md). */
import { expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { prepare, stateAt } from "../../../src/programs/edge-daemon/state/directory.ts";
import { takeLock } from "../../../src/programs/edge-daemon/state/lock.ts";
import type { DaemonStatus } from "../../../src/programs/edge-daemon/state/status.ts";
import { Failure } from "../../../src/programs/svc/edge/command/exit.ts";
import type { InstallStep } from "../../../src/programs/svc/edge/update/install.ts";
import { putBack } from "../../../src/programs/svc/edge/update/install.ts";
import { releaseKeys } from "../../../src/programs/svc/edge/update/keys.ts";
import { piecesOf } from "../../../src/programs/svc/edge/update/release-source.ts";
import {
  announceTrial,
  beginTrial,
  failTrial,
  hasFailed,
  holdTrial,
  isWelcomed,
} from "../../../src/programs/svc/edge/update/trial.ts";
import { restartOnTrial } from "../../../src/programs/svc/edge/update/update.ts";
import { scratch } from "../../harness/scratch.ts";
import { until } from "../../harness/until.ts";
import { trusted, writeRelease } from "./releases.ts";

/** A program that says its version, and nothing else. */
const saying = (version: string) => `#!/bin/sh\n# ${"x".repeat(4096)}\necho ${version}\n`;

function place() {
  const folder = scratch("install");
  const [bin, releases] = [join(folder, "bin"), join(folder, "releases")];
  mkdirSync(bin);
  mkdirSync(releases);
  const program = join(bin, "svc-edge");
  writeFileSync(program, saying("0.1.0"), { mode: 0o755 });
  const state = stateAt(join(folder, "state"));
  prepare(state);
  return { program, bin, releases, state };
}
type Place = ReturnType<typeof place>;

async function install({ program, state }: Place, release: string, step = "") {
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, "install-program.ts"), program, state.path, release, step],
    { env: { PATH: process.env.PATH ?? "" }, stdio: ["ignore", "ignore", "pipe"] },
  );
  const err = (await new Response(child.stderr).text()).trim();
  await child.exited;
  return { err, code: child.exitCode, signal: child.signalCode };
}

const says = (program: string): string => Bun.spawnSync([program, "--version"]).stdout.toString().trim();

test("a release is installed; the former program stays beside it", async () => {
  const at = place();
  chmodSync(at.program, 0o750);
  const done = await install(at, writeRelease(at.releases, { version: "0.2.0", bytes: saying("0.2.0") }));
  expect(done).toMatchObject({ code: 0, err: "" });
  expect([says(at.program), says(`${at.program}.previous`)]).toEqual(["0.2.0", "0.1.0"]);
  expect(statSync(at.program).mode & 0o777).toBe(0o750);
  expect(readdirSync(at.bin).sort()).toEqual(["svc-edge", "svc-edge.previous"]);
});

const steps: readonly InstallStep[] = ["locked", "begun", "downloaded", "probed", "kept", "renamed"];

test.each(steps)("kill -9 when it is %s leaves a program that works, and a next update", async (step) => {
  const at = place();
  const release = writeRelease(at.releases, { version: "0.2.0", bytes: saying("0.2.0") });
  const killed = await install(at, release, step);
  expect(killed.signal).toBe("SIGKILL");
  expect(says(at.program)).toBe(step === "renamed" ? "0.2.0" : "0.1.0");
  // From the rename on, a daemon that starts holds the trial itself.
  const trial = beginTrial({ state: at.state, program: at.program, version: "0.2.0" });
  if (step === "renamed") expect(trial).toBe("trying");
  expect((await install(at, release)).code).toBe(0);
  expect([says(at.program), says(`${at.program}.previous`)]).toEqual(["0.2.0", step === "renamed" ? "0.2.0" : "0.1.0"]);
  expect(readdirSync(at.bin).sort()).toEqual(["svc-edge", "svc-edge.previous"]);
});

test.each([
  ["a digest of something else", { file: { sha256: "0".repeat(64) } }, "authentication bad_program"],
  ["fewer bytes than it has", { file: { size: 10 } }, "authentication bad_program"],
  ["more bytes than it has", { file: { size: 100_000 } }, "authentication bad_program"],
  ["a program that is another version", { bytes: saying("0.3.0") }, "authentication bad_program"],
  ["a program that does not start", { bytes: "no program" }, "authentication bad_program"],
  ["a program that is not there", { file: { url: "no-such-file" } }, "unavailable unreachable"],
  ["no program for this machine", { file: { arch: "aarch64", os: "macos" } }, "conflict no_program"],
  ["an end that has passed", { release: { expires_at: "2026-01-02T00:00:00Z" } }, "authentication release_expired"],
  ["an older version", { version: "0.0.9" }, "conflict release_older"],
  ["a key that is not trusted", { kid: "release-2" }, "authentication bad_release"],
])("a release with %s changes nothing", async (_, change, error) => {
  const at = place();
  const written = { version: "0.2.0", bytes: saying("0.2.0"), ...change };
  expect((await install(at, writeRelease(at.releases, written))).err).toBe(error);
  expect([says(at.program), readdirSync(at.bin)]).toEqual(["0.1.0", ["svc-edge"]]);
});

test("root takes no release keys from a file that another user can change", () => {
  const folder = scratch("keys");
  const config = join(folder, "config.yaml");
  writeFileSync(config, "");
  const isRoots = process.getuid?.() === 0;
  const takes = (isRoot = true) => {
    try {
      return releaseKeys([trusted], config, isRoot).length === 1;
    } catch (error) {
      if (error instanceof Failure && error.exit === "authentication") return false;
      throw error;
    }
  };
  expect([takes(), takes(false)]).toEqual([isRoots, true]);
  chmodSync(config, 0o664);
  expect([takes(), takes(false)]).toEqual([false, true]);
  chmodSync(config, 0o644);
  chmodSync(folder, 0o777);
  expect([takes(), takes(false)]).toEqual([false, true]);
  expect(() => releaseKeys([], config)).toThrow("update.keys in the configuration is empty");
});

test("every step of a redirect must be allowed, and no secret of an address is told", async () => {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request): Response {
      const { pathname, port } = new URL(request.url);
      const to = (name: string, host = "127.0.0.1") => Response.redirect(`http://${host}:${port}/${name}`, 302);
      if (pathname === "/once") return to("file");
      // Not this machine by its name, as an attacker on the way would be.
      if (pathname === "/away") return to("once", "0.0.0.0");
      if (pathname === "/round") return to("round");
      return pathname === "/file" ? new Response("bytes") : new Response("", { status: 404 });
    },
  });
  const read = async (path: string, isPlain = false) => {
    let text = "";
    try {
      for await (const piece of piecesOf(new URL(`http://u:secret@127.0.0.1:${server.port}${path}`), isPlain))
        text += new TextDecoder().decode(piece);
      return text;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      expect(error.message).not.toContain("secret");
      return error.exit;
    }
  };
  expect(await Promise.all(["/once", "/away", "/round", "/none?key=secret"].map((path) => read(path)))).toEqual([
    "bytes",
    "usage",
    "unavailable",
    "unavailable",
  ]);
  expect(await read("/away", true)).toBe("bytes");
  await server.stop(true);
});

test("a place that is not writable ends with 4, and a second update at once too", async () => {
  const at = place();
  const release = writeRelease(at.releases, { version: "0.2.0", bytes: saying("0.2.0") });
  // Where a folder has the draft's name, no draft can be.
  mkdirSync(join(`${at.program}.next`, "x"), { recursive: true });
  expect((await install(at, release)).err).toBe("conflict program_not_writable");
  const other = place();
  const holder = Bun.spawn(["sleep", "60"]);
  const { identify } = await import("../../../src/lib/processes/process-table.ts");
  const lock = `${other.program}.update-lock`;
  writeFileSync(lock, JSON.stringify(identify(holder.pid)));
  expect((await install(other, release)).err).toBe("conflict update_under_way");
  holder.kill("SIGKILL");
  await holder.exited;
  expect((await install(other, release)).err).toBe("");
  expect(existsSync(lock)).toBe(false);
});

const status = (more: Partial<DaemonStatus>): DaemonStatus => ({
  ...{ node_id: "n", pid: 1, boot_id: "b-1", agent_version: "0.1.0", connected: true, since: "x", epoch: 1 },
  ...{ last_heartbeat_at: null, accepting: true, not_accepting: [], running: 0, slots: 4, unacknowledged: 0 },
  ...{ reconnects: 0, last_close: null, last_error: null, min_version: null, sandbox: "none" },
  ...{ journal: { id: "j", seq: 1 }, updated_at: "x" },
  ...more,
});

/** A program that was replaced, with a daemon of the former one in its status. */
function replaced() {
  const at = place();
  writeFileSync(`${at.program}.previous`, saying("0.1.0"), { mode: 0o755 });
  writeFileSync(at.program, saying("0.2.0"), { mode: 0o755 });
  announceTrial(at.state, at.program, "0.2.0");
  const write = (more: Partial<DaemonStatus>) => writeFileSync(at.state.status, JSON.stringify(status(more)));
  write({});
  return { ...at, write, trial: { state: at.state, program: at.program, version: "0.2.0" } };
}
const timing = { idleMs: 10_000, welcomeMs: 300 };

test("a new daemon that is welcomed ends the trial", async () => {
  const { trial, write, program } = replaced();
  const restart = async () => write({ boot_id: "b-2", agent_version: "0.2.0" });
  await restartOnTrial({ ...trial, restart, note: () => {}, timing });
  expect([says(program), beginTrial(trial)]).toEqual(["0.2.0", "none"]);
});

test.each([
  ["is not connected", { boot_id: "b-2", agent_version: "0.2.0", connected: false }],
  ["is the former one still", {}],
  ["is another version", { boot_id: "b-2" }],
])("a daemon that %s is no welcome: the former program comes back", async (_, more) => {
  const { trial, write, program, state } = replaced();
  const restarts: string[] = [];
  const restart = async () => {
    restarts.push(says(program));
    write(more);
  };
  const failing = restartOnTrial({ ...trial, restart, note: () => {}, timing });
  expect(await failing.catch((error) => [error.exit, error.code])).toEqual(["failed", "rolled_back"]);
  expect(restarts).toEqual(["0.2.0", "0.1.0"]);
  expect([says(program), hasFailed(state, "0.2.0"), beginTrial(trial)]).toEqual(["0.1.0", true, "none"]);
});

test("commands that run end first; what a dead daemon wrote is waited for by none", async () => {
  const { trial, write, state } = replaced();
  write({ running: 2 });
  const release = takeLock(state);
  let restarted = false;
  const restart = async () => {
    restarted = true;
    write({ boot_id: "b-2", agent_version: "0.2.0" });
  };
  const notes: string[] = [];
  const work = restartOnTrial({ ...trial, restart, note: (text) => notes.push(text), timing });
  await until(() => notes.length > 0, { what: "the wait for commands" });
  expect(restarted).toBe(false);
  write({ running: 0 });
  await work;
  release();
  expect([restarted, notes]).toEqual([true, ["waiting for 2 commands that run"]]);
  const dead = replaced();
  dead.write({ running: 2 });
  await restartOnTrial({
    ...dead.trial,
    restart: async () => dead.write({ boot_id: "b-2", agent_version: "0.2.0" }),
    note: (text) => notes.push(text),
    timing,
  });
  expect(notes.length).toBe(1);
});

test("a daemon on trial puts the former program back when it is not welcomed in time", async () => {
  const late = replaced();
  late.write({ pid: process.pid, connected: false });
  const failed = holdTrial(late.trial, process.pid, 200);
  expect([failed.isOver, await failed.verdict]).toEqual([false, "was not welcomed by the service in time"]);
  expect([says(late.program), hasFailed(late.state, "0.2.0")]).toEqual(["0.1.0", true]);
  const good = replaced();
  const held = holdTrial(good.trial, process.pid, 10_000);
  good.write({ pid: process.pid, agent_version: "0.2.0" });
  expect([await held.verdict, says(good.program), beginTrial(good.trial)]).toEqual([null, "0.2.0", "none"]);
  expect(await holdTrial(good.trial, process.pid).verdict).toBeNull();
});

test("a program that dies at its start again and again is put away by its daemon", async () => {
  const { trial, program, state } = replaced();
  expect([1, 2, 3, 4].map(() => beginTrial(trial))).toEqual(["trying", "trying", "trying", "spent"]);
  expect(await failTrial(state, program, "0.2.0")).toBe(true);
  expect([says(program), await putBack(program), beginTrial(trial)]).toEqual(["0.1.0", false, "none"]);
  // Another program, or another version of it, is on no trial.
  announceTrial(state, program, "0.3.0");
  expect(beginTrial(trial)).toBe("none");
  expect(await isWelcomed(state, () => true, 0)).toBe(true);
  expect(readFileSync(join(state.path, "update.json"), "utf8")).toContain('"0.3.0"');
});
