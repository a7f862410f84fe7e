/** The program as one file: built, published, started, updated over HTTPS (docs/reference/edge-cli.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scratch } from "../../harness/scratch.ts";
import { type HttpsFolder, serveFolder } from "./https-folder.ts";
import { here, sha256, writeRelease } from "./releases.ts";

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
  const done = await spawn([process.execPath, join(root, "src/programs/edge-cli/release/main.ts"), ...words, "--json"]);
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
  copyFileSync(built(version), program);
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

// edge-fleet 51
test("update over HTTPS: bad releases change nothing, a good one is installed", async () => {
  const at = installed();
  const before = sha256(readFileSync(at.program));
  const good = readFileSync(built("0.2.0"));
  const bad = async (written: object) => {
    writeRelease(releases.folder, { version: "0.2.0", bytes: good, kid: publicKey.kid, ...written });
    const done = await at.update();
    expect([sha256(readFileSync(at.program)), await at.version()]).toEqual([before, "0.1.0"]);
    return [done.code, done.error];
  };
  const { createPrivateKey } = await import("node:crypto");
  const key = createPrivateKey(readFileSync(keyFile));
  expect(await bad({})).toEqual([3, "bad_release"]);
  expect(await bad({ key, release: { expires_at: "2026-01-02T00:00:00.000Z" } })).toEqual([3, "release_expired"]);
  expect(await bad({ key, file: { sha256: "0".repeat(64) } })).toEqual([3, "bad_program"]);
  expect(await bad({ key, version: "0.0.9" })).toEqual([4, "release_older"]);
  at.config(`${releases.url}no-such-file.json`);
  expect(await at.update()).toMatchObject({ code: 5, error: "unreachable" });
  expect((await spawn([at.program, "update"], { ...at.env, NODE_EXTRA_CA_CERTS: "" })).code).toBe(5);
  at.config(null);
  expect((await at.update()).code).toBe(2);
  at.config();
  await publish("0.2.0");
  const offer = { current: "0.1.0", latest: "0.2.0", update_available: true };
  expect(await at.update("--check")).toEqual({ code: 0, said: offer, error: null });
  expect([await at.version(), existsSync(`${at.program}.previous`)]).toEqual(["0.1.0", false]);
  expect((await at.update()).said).toEqual({ ...offer, restarted: false });
  expect(await at.version()).toBe("0.2.0");
  expect(sha256(readFileSync(`${at.program}.previous`))).toBe(before);
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
