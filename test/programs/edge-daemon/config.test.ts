/** The state directory and its configuration (docs/reference/edge-daemon.md). */
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, realpathSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "../../../src/programs/edge-daemon/config/config.ts";
import { type Profile, profileText, writeProfile } from "../../../src/programs/edge-daemon/config/profiles.ts";
import { prepare, type StateDirectory, stateAt } from "../../../src/programs/edge-daemon/state/directory.ts";
import {
  dropNextKey,
  newKey,
  promoteNextKey,
  pruneArchive,
  readIdentity,
  readKey,
  readNextKey,
  replacePins,
  writeIdentity,
  writeKey,
  writeNextKey,
} from "../../../src/programs/edge-daemon/state/identity.ts";
import { isLocked, lockHolder, takeLock } from "../../../src/programs/edge-daemon/state/lock.ts";
import { scratch } from "../../harness/scratch.ts";

const top = realpathSync(scratch("edge-config"));
let made = 0;
function fresh(): StateDirectory {
  const state = stateAt(join(top, String(made++)));
  prepare(state);
  return state;
}
const faultsOf = (text: string): string => {
  try {
    readConfig(text, stateAt("/s"));
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

test("an absent configuration has the defaults, and allows nothing", () => {
  expect(readConfig("", stateAt("/s"))).toEqual({
    labels: {},
    slots: 4,
    workdir: "/s/work",
    env: { pass: ["PATH", "HOME", "LANG", "TZ"], allow: [] },
    runAs: null,
    reconnect: [1, 2, 5, 15, 60],
    shutdownGraceSecs: 30,
    sandbox: "auto",
    metricsListen: null,
    update: { url: null, keys: [], auto: false },
    contexts: new Map(),
  });
});

test.each([
  ["slot: 4", "slot: is not known"],
  ["slots: 65", "slots: "],
  ["slots: 4\nslots: 5", "line 2"],
  ["a: [", "line "],
  ["- 1", "must be a mapping"],
  ["labels: {zone: 1}", "labels.zone: "],
  ["metrics: {listen: '9100'}", "metrics.listen: must be host:port"],
  ["contexts: [{name: default, deny_lst: [fs.delete]}]", "contexts.0.deny_lst: "],
  ["contexts: [{name: a}, {name: a}]", "contexts.1.name: a is there twice"],
  [
    "contexts: [{name: a, capabilities: [{tool_pattern: '*', path_allowlist: [/a/../b]}]}]",
    "contexts.0.capabilities.0.path_allowlist.0: must not contain `..`",
  ],
  [
    "contexts: [{name: a, capabilities: [{tool_pattern: '*', approval: {}}]}]",
    "contexts.0.capabilities.0.approval: no person can be asked on a host",
  ],
  [`update: {keys: [{kid: r, public_key: "${"A".repeat(43)}="}]}`, "update.keys.0.public_key: is no Ed25519 key"],
])("%s is refused, and the place is told", (text, told) => {
  expect(faultsOf(text)).toContain(told);
});

test("paths begin at the working directory, and a link is allowed under both names", () => {
  const state = fresh();
  const real = join(state.path, "real");
  mkdirSync(real);
  symlinkSync(real, join(state.path, "link"));
  const { contexts } = readConfig(
    `workdir: ${state.path}/link
contexts: [{name: default, capabilities: [{tool_pattern: "fs.*", path_allowlist: [a, /srv/x, ".", "logs/*"]}]}]`,
    state,
  );
  expect(contexts.get("default")?.capabilities[0]?.path_allowlist).toEqual([
    `${state.path}/link/a`,
    "/srv/x",
    `${state.path}/link`,
    real,
    `${state.path}/link/logs/*`,
  ]);
});

test.each<[Profile, boolean, number]>([
  ["standard", false, 2],
  ["full", true, 1],
  ["locked", false, 0],
])("the profile %s can be read", (profile, all, capabilities) => {
  const state = fresh();
  expect(writeProfile(state, profile, false)).toBe(true);
  expect(writeProfile(state, "full", false)).toBe(false);
  const { env, contexts } = readConfig(profileText(profile), state);
  expect(env.allow).toEqual(all ? ["*"] : []);
  expect(contexts.get("default")?.capabilities ?? []).toHaveLength(capabilities);
});

test("the directory is closed to others, and files are replaced whole", () => {
  const state = fresh();
  writeKey(state, newKey());
  expect([statSync(state.path).mode & 0o777, statSync(state.key).mode & 0o777]).toEqual([0o700, 0o600]);
  expect(readdirSync(state.path).sort()).toEqual(["archive", "node.key", "work"]);
});

test("keys and pins are kept, and a next key takes over", () => {
  const state = fresh();
  const [one, two] = [newKey(), newKey()];
  expect(readKey(state)).toBeNull();
  writeKey(state, one);
  writeNextKey(state, two, 5_000);
  expect([readKey(state)?.publicKey, readNextKey(state)?.publicKey]).toEqual([one.publicKey, two.publicKey]);
  dropNextKey(state);
  expect(readNextKey(state)).toBeNull();
  writeNextKey(state, two, 5_000);
  promoteNextKey(state, 1_000);
  expect([readKey(state)?.publicKey, readNextKey(state)]).toEqual([two.publicKey, null]);
  expect(readdirSync(state.archive)).toEqual(["node.key.6000"]);
  pruneArchive(state, 5_999);
  expect(readdirSync(state.archive)).toHaveLength(1);
  pruneArchive(state, 6_000);
  expect(readdirSync(state.archive)).toHaveLength(0);

  const service_keys = [{ kid: "edge-1", public_key: one.publicKey }];
  const identity = {
    node_id: "n",
    tenant_id: "t",
    name: "h",
    connect_url: "u",
    api_url: "a",
    enrolled_at: "e",
    service_keys,
  };
  expect(readIdentity(state)).toBeNull();
  writeIdentity(state, identity);
  expect(readIdentity(state)).toEqual(identity);
  const next = [{ kid: "edge-2", public_key: two.publicKey }];
  expect(replacePins(state, identity, next)).toEqual({ ...identity, service_keys: next });
  expect(readIdentity(state)?.service_keys).toEqual(next);
  writeFileSync(state.identity, "{");
  expect(() => readIdentity(state)).toThrow("damaged");
  writeFileSync(state.key, "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\n");
  expect(() => readKey(state)).toThrow("no Ed25519 key");
});

test("one process holds the lock", () => {
  const state = fresh();
  expect(isLocked(state)).toBe(false);
  const release = takeLock(state);
  expect([isLocked(state), lockHolder(state)]).toEqual([true, process.pid]);
  expect(() => takeLock(state)).toThrow(`in use by process ${process.pid}`);
  release();
  expect(isLocked(state)).toBe(false);
  takeLock(state)();
});

test("a look at the lock keeps no daemon out", async () => {
  const state = fresh();
  takeLock(state)();
  const look = Bun.spawn(["flock", "--shared", state.lock, "sh", "-c", "echo held; sleep 0.2"], { stdout: "pipe" });
  await look.stdout.getReader().read();
  expect(isLocked(state)).toBe(false);
  takeLock(state)();
  await look.exited;
});
