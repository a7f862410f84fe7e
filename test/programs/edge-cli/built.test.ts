/** The program as one file: built, published, started, updated over HTTPS (docs/reference/edge-cli.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createPrivateKey } from "node:crypto";
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scratch } from "../../harness/scratch.ts";
import { until } from "../../harness/until.ts";
import { TestHost } from "../edge-daemon/harness.ts";
import { type HttpsFolder, serveFolder } from "./https-folder.ts";
import { here, sha256, writeRelease } from "./releases.ts";
import { Supervisor } from "./supervisor.ts";

const root = join(import.meta.dir, "../../..");
const work = scratch("built");
const keyFile = join(work, "release.key");
const built = (version: string) => join(work, version, `svc-edge-${here.os}-${here.arch}`);
let releases: HttpsFolder;
let publicKey: { readonly kid: string; readonly public_key: string };

async function spawn(command: readonly string[], env: Readonly<Record<string, string>> = {}, cwd = work) {
  const child = Bun.spawn([...command], {
    cwd,
    env: { PATH: process.env.PATH ?? "", HOME: work, TMPDIR: process.env.TMPDIR ?? "/tmp", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, out: out.trim(), err: err.trim() };
}

/** What a publisher runs. */
async function publisher(...words: readonly string[]) {
  const done = await spawn([process.execPath, join(root, "src/programs/svc/edge/release/main.ts"), ...words, "--json"]);
  if (done.code !== 0) throw new Error(done.err);
  return JSON.parse(done.out);
}

beforeAll(async () => {
  releases = serveFolder();
  publicKey = await publisher("keygen", "--out", keyFile);
  await publisher("build", "--version", "0.1.0", "--out", join(work, "0.1.0"));
  const key = `${publicKey.kid}=${publicKey.public_key}`;
  await publisher("build", "--version", "0.2.0", "--out", join(work, "0.2.0"), "--release-key", key);
}, 120_000);
afterAll(() => releases?.close());

/** A fresh copy of the program, and its state. */
function installed(version = "0.1.0") {
  const folder = scratch("program");
  const program = join(folder, "svc-edge");
  // Another name of the same file: an update gives the name to another file, and changes none.
  linkSync(built(version), program);
  const state = join(folder, "state");
  mkdirSync(state);
  const config = (url: string | null = `${releases.url}release.json`) =>
    writeFileSync(join(state, "config.yaml"), `update: {url: ${url}, keys: [${JSON.stringify(publicKey)}]}\n`);
  config();
  const env = { NODE_EXTRA_CA_CERTS: releases.authority, SVC_EDGE_STATE_DIR: state, SVC_OUTPUT: "json" };
  const update = async (...words: readonly string[]) => {
    const { code, out, err } = await spawn([program, "edge", "update", ...words], env);
    const last = JSON.parse(err.split("\n").at(-1) || "{}");
    return { code, said: out === "" ? null : JSON.parse(out), error: last.error?.code ?? null };
  };
  const version_ = async () => (await spawn([program, "--version"])).out;
  return { program, state, config, env, update, version: version_ };
}

const publish = (version: string, ...words: readonly string[]) =>
  publisher(
    ...["publish", "--key", keyFile, "--version", version, "--out", releases.folder],
    ...["--file", `${here.os}/${here.arch}=${built("0.2.0")}`, ...words],
  );

test("the program starts by itself, reads nothing of the folder where it is started", async () => {
  const at = installed();
  const odd = scratch("odd");
  writeFileSync(join(odd, ".env"), "SVC_OUTPUT=json\n");
  writeFileSync(join(odd, "bunfig.toml"), 'preload = ["./no-such-file.ts"]\n');
  expect([await at.version(), (await spawn([at.program, "edge", "--version"], {}, odd)).out]).toEqual([
    "0.1.0",
    "0.1.0",
  ]);
  const status = await spawn([at.program, "status", "--state-dir", at.state], {}, odd);
  expect([status.code, status.out, status.err]).toEqual([4, "", `${at.state} is not enrolled`]);
  expect((await spawn([at.program])).out).toContain("fleet preview");
});

test("a release key is closed; a program of another version is not published", async () => {
  expect(statSync(keyFile).mode & 0o777).toBe(0o600);
  await expect(publisher("keygen", "--out", keyFile)).rejects.toThrow("is there already");
  await expect(publish("0.3.0")).rejects.toThrow("says it is 0.2.0");
  expect(existsSync(join(releases.folder, "release.json"))).toBe(false);
  const published = await publisher(
    ...["--key", keyFile, "--version", "0.2.0", "--out", releases.folder],
    ...["--file", `${here.os}/${here.arch}=${built("0.2.0")}`],
  );
  const [file] = published.files;
  expect([file.url, file.sha256]).toEqual([
    `svc-edge-0.2.0-${here.os}-${here.arch}`,
    sha256(readFileSync(built("0.2.0"))),
  ]);
  expect(Date.parse(published.expires_at) - Date.parse(published.published_at)).toBe(90 * 86_400_000);
});

test("update over HTTPS: bad releases change nothing, a good one is installed", async () => {
  const at = installed();
  const before = statSync(at.program).ino;
  const folder = join(releases.folder, "bad");
  mkdirSync(folder);
  const key = createPrivateKey(readFileSync(keyFile));
  const bad = async (written: object) => {
    writeRelease(folder, { version: "0.2.0", bytes: "a program", kid: publicKey.kid, ...written });
    at.config(`${releases.url}bad/release.json`);
    const done = await at.update();
    expect([statSync(at.program).ino, existsSync(`${at.program}.previous`)]).toEqual([before, false]);
    return [done.code, done.error];
  };
  expect(await bad({})).toEqual([3, "bad_release"]);
  expect(await bad({ key, release: { expires_at: "2026-01-02T00:00:00.000Z" } })).toEqual([3, "release_expired"]);
  expect(await bad({ key, file: { sha256: "0".repeat(64) } })).toEqual([3, "bad_program"]);
  expect(await bad({ key, version: "0.0.9" })).toEqual([4, "release_older"]);
  expect(await at.version()).toBe("0.1.0");
  at.config(`${releases.url}no-such-file.json`);
  expect(await at.update()).toMatchObject({ code: 5, error: "unreachable" });
  expect((await spawn([at.program, "update"], { ...at.env, NODE_EXTRA_CA_CERTS: "" })).code).toBe(5);
  at.config(null);
  expect((await at.update()).code).toBe(2);
  at.config();
  const offer = { current: "0.1.0", latest: "0.2.0", update_available: true };
  expect(await at.update("--check")).toEqual({ code: 0, said: offer, error: null });
  expect([await at.version(), existsSync(`${at.program}.previous`)]).toEqual(["0.1.0", false]);
  expect((await at.update()).said).toEqual({ ...offer, restarted: false });
  expect(await at.version()).toBe("0.2.0");
  expect(statSync(`${at.program}.previous`).ino).toBe(before);
  // The program that was built with a key needs none in the configuration, and is current.
  writeFileSync(join(at.state, "config.yaml"), "");
  const again = await at.update("--from", `${releases.url}release.json`);
  expect([again.code, again.said.update_available]).toEqual([0, false]);
});

test("an older release is installed from a file where that is asked for", async () => {
  const at = installed("0.2.0");
  const folder = scratch("older");
  await publisher(
    ...["publish", "--key", keyFile, "--version", "0.1.0", "--out", folder],
    ...["--file", `${here.os}/${here.arch}=${built("0.1.0")}`],
  );
  const from = ["--from", join(folder, "release.json")];
  expect((await at.update(...from)).code).toBe(4);
  expect((await at.update(...from, "--allow-downgrade")).code).toBe(0);
  expect(await at.version()).toBe("0.1.0");
});

/** An enrolled host whose service runs the program, at a service that a test scripts. */
function hosted(version: string, update = "") {
  const at = installed(version);
  const trust = `keys: [${JSON.stringify(publicKey)}]${update}`;
  const host = new TestHost(`reconnect: [0.05]\nupdate: {url: ${releases.url}release.json, ${trust}}\n`);
  const { path } = host.state;
  const home = { HOME: host.top, NODE_EXTRA_CA_CERTS: releases.authority };
  const unit = () => {
    const folder = join(host.top, ".config/systemd/user");
    const [name] = existsSync(folder) ? readdirSync(folder) : [];
    return name === undefined ? "" : readFileSync(join(folder, name), "utf8");
  };
  const supervisor = new Supervisor(
    [at.program, "daemon", "--state-dir", path],
    { PATH: "/usr/bin:/bin", ...home },
    unit,
  );
  const env = { ...home, PATH: `${supervisor.bin}:/usr/bin:/bin`, SVC_OUTPUT: "json" };
  const run = (...words: readonly string[]) => spawn([at.program, ...words, "--state-dir", path], env);
  /** The newest connection, once it said hello as this version. */
  const peer = (of: string) =>
    until(() => {
      const last = host.service.peers.at(-1);
      return last?.hello?.agent_version === of && last.closed === null ? last : null;
    });
  const end = async () => {
    await supervisor.end();
    await host.end();
  };
  return { ...at, host, supervisor, run, peer, end, trial: join(path, "update.json") };
}

test("a running daemon is updated: its service restarts it, and it is welcomed", async () => {
  const at = hosted("0.1.0");
  try {
    at.supervisor.start();
    await at.peer("0.1.0");
    expect((await at.run("service", "install")).code).toBe(0);
    await at.peer("0.1.0");
    const connected = await until(async () => {
      const { code, out } = await at.run("status");
      return code === 0 && JSON.parse(out);
    });
    expect(connected).toMatchObject({ connected: true, daemon_running: true, last: { agent_version: "0.1.0" } });
    const updated = await at.run("update");
    expect(updated).toMatchObject({ code: 0, err: "" });
    expect(JSON.parse(updated.out)).toMatchObject({ latest: "0.2.0", restarted: true });
    await at.peer("0.2.0");
    await until(() => !existsSync(at.trial), { what: "the end of the trial" });
    expect(await at.version()).toBe("0.2.0");
    // As a unit counts it: a daemon that is told to stop before it listens for that ends by the signal.
    expect(at.supervisor.codes.filter((code) => code !== 0 && code !== 143)).toEqual([]);
  } finally {
    await at.end();
  }
});

test("a daemon that is too old ends with 5, or updates itself where that is allowed", async () => {
  for (const [allowed, codes] of [
    ["", [5]],
    [", auto: true", [0]],
  ] as const) {
    const at = hosted("0.1.0", allowed);
    try {
      at.host.service.behaviour.welcome = { min_version: "0.2.0" };
      at.supervisor.start();
      expect((await at.run("service", "install")).code).toBe(0);
      const before = at.supervisor.codes.length;
      const outdated = await at.peer("0.1.0");
      outdated.close(4010);
      await until(() => at.supervisor.codes.length > before, { what: "the daemon's end", timeoutMs: 30_000 });
      expect(at.supervisor.codes.slice(before)).toEqual([...codes]);
      if (allowed === "") {
        expect(await at.version()).toBe("0.1.0");
        continue;
      }
      await at.peer("0.2.0");
      await until(() => !existsSync(at.trial), { what: "the end of the trial" });
    } finally {
      await at.end();
    }
  }
});

test("a new program that dies before its welcome gives the former one its place", async () => {
  const at = hosted("0.2.0");
  try {
    linkSync(built("0.1.0"), `${at.program}.previous`);
    writeFileSync(at.trial, JSON.stringify({ program: at.program, version: "0.2.0", state: "trying", starts: 3 }));
    at.supervisor.start();
    await at.peer("0.1.0");
    expect(at.supervisor.codes).toEqual([1]);
    expect(at.supervisor.log).toContain("the former program is back");
    expect(JSON.parse(readFileSync(at.trial, "utf8"))).toMatchObject({ state: "failed", version: "0.2.0" });
  } finally {
    await at.end();
  }
});

test("files are read on a host by the same program", async () => {
  const at = hosted("0.1.0");
  try {
    writeFileSync(
      join(at.host.state.path, "config.yaml"),
      'contexts: [{name: default, capabilities: [{tool_pattern: "*"}]}]\n',
    );
    writeFileSync(join(at.host.state.path, "work/a.txt"), "what a host has");
    at.supervisor.start();
    const peer = await at.peer("0.1.0");
    const id = crypto.randomUUID();
    peer.invoke({ command_id: id, tool: "fs.read", args: { path: "a.txt" } });
    const result = await peer.resultOf(id);
    expect([result.status, JSON.stringify(result.structured)]).toEqual([
      "ok",
      expect.stringContaining("what a host has"),
    ]);
  } finally {
    await at.end();
  }
});
