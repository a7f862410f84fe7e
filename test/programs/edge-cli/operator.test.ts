/** Enrolment and the verbs of operators against a whole node (docs/reference/edge-cli.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stateAt } from "../../../src/programs/edge-daemon/state/directory.ts";
import { readIdentity, readKey, readNextKey } from "../../../src/programs/edge-daemon/state/identity.ts";
import { takeLock } from "../../../src/programs/edge-daemon/state/lock.ts";
import { EdgeFixture, type Headers } from "../../features/edge/fixture.ts";
import { scratch } from "../../harness/scratch.ts";
import { edge, type Said } from "./harness.ts";

let at: EdgeFixture;
let ann: Headers;
let env: Record<string, string>;
beforeAll(async () => {
  at = await EdgeFixture.open();
  ann = await at.user("acme", "ann");
  await at.node.call("GET", "/v1/agents", undefined, ann);
  env = { SVC_API_URL: at.node.url, SVC_USER_TOKEN: ann.Authorization?.slice("Bearer ".length) ?? "" };
});
afterAll(() => at?.close());

const run = (...words: readonly string[]): Promise<Said> => edge([...words, "--json"], { env });
const shown = (...words: readonly string[]): Promise<Said> => edge(words, { env });

/** A state directory that is not there yet. */
const fresh = () => stateAt(join(scratch("edge"), "state"));
/** The words that enroll without a service, on a directory. */
const into = ({ path }: ReturnType<typeof stateAt>) => ["--state-dir", path, "--no-service"];
/** What a verb on a host needs: no operator's token. */
const onHost = (...words: readonly string[]): Promise<Said> =>
  edge([...words, "--json"], { env: { HOME: scratch("home") } });

async function enrolled(...words: readonly string[]) {
  const state = fresh();
  const { json: token } = await run("token", "create", ...words);
  const said = await onHost("enroll", token.token, ...into(state));
  if (said.code !== 0) throw new Error(said.err);
  return { state, id: said.json.node_id as string, token };
}

test("an enrolled host's state is closed to others, and has the service's keys", async () => {
  const { state, id, token } = await enrolled("--name", "web-1", "--tag", "web", "--tag", "a", "--ttl", "5m");
  expect(Date.parse(token.expires_at) - Date.now()).toBeLessThan(301_000);
  const identity = readIdentity(state);
  expect(identity).toMatchObject({ node_id: id, name: "web-1", tenant_id: "acme", api_url: at.node.url });
  expect(identity?.connect_url).toBe(`${at.node.url.replace("http", "ws")}/v1/edge/connect`);
  const modes = ["", "node.json", "node.key", "config.yaml"].map(
    (name) => statSync(join(state.path, name)).mode & 0o777,
  );
  expect(modes).toEqual([0o700, 0o600, 0o600, 0o600]);
  expect(readdirSync(state.path).filter((name) => name.includes("enrolling"))).toEqual([]);
  const host = (await at.call("GET", `hosts/${id}`, ann)).body;
  expect([host.name, host.tags, host.agent_version]).toEqual(["web-1", ["a", "web"], "0.1.0"]);
  const { body } = await at.node.call("GET", "/.well-known/jwks.json");
  expect(body.keys.map(({ kid }: { kid: string }) => kid)).toContain(identity?.service_keys[0]?.kid);
});

test("an identity is kept, refused or archived, as is said; a dry run does nothing", async () => {
  const { state, id } = await enrolled("--name", "db-1");
  const key = readKey(state)?.publicKey;
  const { json: token } = await run("token", "create");
  expect((await onHost("enroll", token.token, ...into(state))).code).toBe(4);
  expect((await onHost("enroll", token.token, ...into(state), "--keep-existing")).json).toMatchObject({
    node_id: id,
    kept: true,
  });
  const dry = await onHost("enroll", token.token, ...into(state), "--force", "--dry-run", "--minimal");
  expect(dry.json).toMatchObject({ dry_run: true, tenant: "acme", profile: "locked", service: at.node.url });
  expect([readIdentity(state)?.node_id, readKey(state)?.publicKey]).toEqual([id, key]);
  // A daemon that runs on the former identity is not pulled from under itself.
  const release = takeLock(state);
  expect((await onHost("enroll", token.token, ...into(state), "--force")).code).toBe(4);
  release();
  expect((await onHost("enroll", token.token, ...into(state), "--profile", "full")).code).toBe(4);
  const forced = await onHost("enroll", token.token, ...into(state), "--force", "--profile", "full");
  expect(forced.code).toBe(0);
  expect(forced.json.node_id).not.toBe(id);
  expect(readFileSync(state.config, "utf8")).toContain('"*"');
  const [archived = ""] = readdirSync(state.archive);
  expect(readFileSync(join(state.archive, archived, "node.json"), "utf8")).toContain(id);
});

test("a configuration that the owner has written stays", async () => {
  const state = fresh();
  mkdirSync(state.path);
  writeFileSync(state.config, "slots: 2\n");
  for (const more of [[], ["--force"]]) {
    const { json: token } = await run("token", "create");
    expect((await onHost("enroll", token.token, ...into(state), ...more)).code).toBe(0);
    expect(readFileSync(state.config, "utf8")).toBe("slots: 2\n");
  }
});

test("a token is an argument, a code or standard input; a bad one ends with 2 or 3", async () => {
  const { json: token } = await run("token", "create");
  const state = fresh();
  const home = { HOME: scratch("home") };
  const words = ["enroll", "-", ...into(state), "--json", "--name", "from-input"];
  const said = await edge(words, { env: home, input: `svc-edge-enroll://${token.token}\n` });
  expect([said.code, said.json.name]).toEqual([0, "from-input"]);
  // The same token by another key, one that was revoked, one that was altered, and what is none.
  expect((await onHost("enroll", token.token, ...into(fresh()))).code).toBe(4);
  const { json: other } = await run("token", "create");
  expect((await run("token", "revoke", other.id)).code).toBe(0);
  expect((await onHost("enroll", other.token, ...into(fresh()))).code).toBe(3);
  const parts = token.token.split(".");
  const altered = [parts[0], parts[1], parts[2].replace(/^./, (sign: string) => (sign === "A" ? "B" : "A"))].join(".");
  expect((await onHost("enroll", altered, ...into(fresh()))).code).toBe(3);
  for (const text of ["", "a.b.c", "nonsense", parts[1]])
    expect((await onHost("enroll", text, ...into(fresh()))).code).toBe(2);
  expect((await onHost("enroll", ...into(fresh()))).code).toBe(2);
  // A person is asked, and may say no.
  const { json: third } = await run("token", "create");
  const place = fresh();
  const declined = await edge(["enroll", ...into(place)], { env: home, answers: [third.token, "n"] });
  expect([declined.code, existsSync(place.path)]).toEqual([1, false]);
  const agreed = await edge(["enroll", ...into(place)], { env: home, answers: [third.token, "y"] });
  expect(agreed.code).toBe(0);
});

test("a service that cannot be installed does not undo the enrolment", async () => {
  const { json: token } = await run("token", "create", "--name", "bare-1");
  const state = fresh();
  const words = ["enroll", token.token, "--state-dir", state.path, "--json"];
  const said = await edge(words, { env: { HOME: scratch("home"), PATH: "/nowhere" } });
  expect([said.code, said.json.name, said.json.service]).toEqual([0, "bare-1", null]);
  expect(said.err).toContain("the service is not installed");
  expect(readIdentity(state)?.node_id).toBe(said.json.node_id);
});

/** The node with something in between that changes what it answers. */
function between(change: (answer: Record<string, unknown>) => unknown) {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const url = new URL(request.url);
      const answer = await fetch(at.node.url + url.pathname, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: await request.text(),
      });
      const changed = change((await answer.json()) as Record<string, unknown>);
      return changed === null ? new Response(null, { status: 502 }) : Response.json(changed, { status: answer.status });
    },
  });
  /** A token whose address is the one in between; only the address of it is changed, so that no service takes it. */
  return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}

test("a service whose key is not the token's is not believed, and nothing is stored", async () => {
  const foreign = "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=";
  const middle = between((answer) => ({ ...answer, service_keys: [{ kid: "edge-x", public_key: foreign }] }));
  try {
    // The node says of itself where it is reached: here through the one in between.
    const issued = await fetch(`${at.node.url}/v1/edge/enrollment-tokens`, {
      method: "POST",
      headers: { ...ann, "Content-Type": "application/json", Host: new URL(middle.url).host },
      body: "{}",
    });
    const { token, controller_url } = (await issued.json()) as { token: string; controller_url: string };
    expect(controller_url).toBe(middle.url);
    const state = fresh();
    const said = await onHost("enroll", token, ...into(state));
    expect([said.code, said.err]).toEqual([3, expect.stringContaining("none of the service's keys")]);
    expect([existsSync(state.identity), existsSync(state.key)]).toEqual([false, false]);
  } finally {
    middle.stop();
  }
});

test("after a lost answer the same key asks again and gets the same host", async () => {
  let answers = 0;
  const middle = between((answer) => (++answers < 5 ? null : answer));
  try {
    const issued = await fetch(`${at.node.url}/v1/edge/enrollment-tokens`, {
      method: "POST",
      headers: { ...ann, "Content-Type": "application/json", Host: new URL(middle.url).host },
      body: '{"name":"lost-1"}',
    });
    const { token } = (await issued.json()) as { token: string };
    const state = fresh();
    expect((await onHost("enroll", token, ...into(state))).code).toBe(5);
    const said = await onHost("enroll", token, ...into(state));
    expect([said.code, answers]).toEqual([0, 5]);
    const { body } = await at.call("GET", "hosts", ann);
    expect(body.items.filter(({ name }: { name: string }) => name === "lost-1").length).toBe(1);
  } finally {
    middle.stop();
  }
});

test("tokens are listed without their text, and revoked once", async () => {
  const { json: token } = await run("token", "create", "--name", "list-1", "--tag", "x");
  const list = await shown("token", "ls", "--status", "outstanding");
  expect(list.out).toContain("list-1");
  expect(list.out.includes(token.token)).toBe(false);
  const plain = await shown("token", "create");
  expect(plain.out.trim().split(".").length).toBe(3);
  expect(plain.err).toContain("svc edge enroll ");
  expect((await run("token", "revoke", token.id)).code).toBe(0);
  expect((await run("token", "revoke", "list-1")).code).toBe(2);
  expect((await run("token", "revoke", crypto.randomUUID())).code).toBe(4);
  expect((await run("token", "create", "--ttl", "16m")).code).toBe(2);
});

test("hosts are listed, tagged, held, accepted and revoked, by id or name", async () => {
  const { id } = await enrolled("--name", "ops-1", "--tag", "ops");
  const listed = await run("ls", "--tag", "ops");
  expect(listed.json.items.map(({ node_id }: { node_id: string }) => node_id)).toEqual([id]);
  expect((await run("ls", "--tag", "ops", "--connected")).json.items).toEqual([]);
  expect((await shown("ls", "--tag", "ops", "--connected=false")).out).toMatch(/^NAME .*\nops-1 +/);
  expect((await shown("ls", "--tag", "no-such")).out).toBe("none\n");
  expect((await run("tag", "add", "ops-1", "a", "b")).json.tags).toEqual(["a", "b", "ops"]);
  expect((await run("tag", "rm", `@${id}`, "ops", "a")).json.tags).toEqual(["b"]);
  expect((await run("tag", "add", "ops-1", "bad tag")).code).toBe(2);
  expect((await run("host", "hold", id)).json).toMatchObject({ accepting: false, not_accepting: ["held"] });
  // A host that is away takes no commands either, whichever reasons are left.
  expect((await run("host", "accept", "ops-1")).json.not_accepting).toEqual([]);
  const declined = await edge(["host", "revoke", id], { env, answers: ["no"] });
  expect([declined.code, (await run("ls", "--tag", "b")).json.items.length]).toEqual([1, 1]);
  expect((await run("host", "revoke", "ops-1", "--yes")).code).toBe(0);
  expect((await run("keys", "revoke-remote", id, "--yes")).code).toBe(4);
  expect((await run("host", "hold", "ops-1")).code).toBe(4);
  expect((await run("ls", "--revoked")).json.items.some((host: { node_id: string }) => host.node_id === id)).toBe(true);
});

test("a name that several hosts have is refused with their ids", async () => {
  const one = await enrolled("--name", "twin");
  const two = await enrolled("--name", "twin");
  const said = await run("host", "hold", "twin");
  expect(said.code).toBe(4);
  expect([one.id, two.id].every((id) => said.err.includes(id))).toBe(true);
});

test("groups are made by a selector and by hosts, changed and deleted", async () => {
  const { id } = await enrolled("--name", "grp-1", "--tag", "grp");
  const made = await run("group", "create", "canaries", "--selector", "tags=grp", "--pin", "grp-1");
  expect(made.json).toMatchObject({ name: "canaries", pinned_members: [id], resolved_member_count: 1 });
  expect((await run("group", "create", "canaries")).code).toBe(4);
  expect((await run("group", "create", "x", "--selector", "tag=grp")).code).toBe(2);
  expect((await run("group", "create", "x", "--selector", " ")).code).toBe(2);
  expect((await run("group", "create", "x", "--pin", "no-such")).code).toBe(4);
  expect((await run("group", "create", "everyone", "--selector", "all")).json.selector).toMatchObject({ tags: [] });
  expect((await run("group", "create", "by-hand")).json.selector).toBeNull();
  expect((await shown("group", "ls")).out).toMatch(/canaries +[0-9a-f-]{36} +1 +1/);
  expect((await run("group", "set-pinned", "canaries")).json.pinned_members).toEqual([]);
  expect((await shown("group", "set-pinned", made.json.id, "grp-1")).out).toBe("group canaries has 1 host pinned\n");
  expect((await run("group", "rm", "canaries")).code).toBe(0);
  expect((await run("group", "rm", "canaries")).code).toBe(4);
});

test("a key is rotated: the next one is kept before the service is asked", async () => {
  const { state, id } = await enrolled("--name", "rot-1");
  const before = readKey(state)?.publicKey;
  const said = await onHost("keys", "rotate", "--state-dir", state.path, "--keep-old", "1h");
  expect(said.json).toMatchObject({ node_id: id, pending: true });
  const next = readNextKey(state)?.publicKey;
  expect([readKey(state)?.publicKey === before, next === before]).toEqual([true, false]);
  // Again is the same rotation, not another one.
  const again = await onHost("keys", "rotate", "--state-dir", state.path);
  expect([again.json.key_fingerprint, readNextKey(state)?.publicKey]).toEqual([said.json.key_fingerprint, next]);
  expect((await onHost("status", "--state-dir", state.path)).json).toMatchObject({
    ...{ node_id: id, daemon_running: false, connected: false, key_rotation_pending: true },
  });
  // A service that is away says nothing about the key; one that refuses it does.
  const identity = JSON.parse(readFileSync(state.identity, "utf8"));
  writeFileSync(state.identity, JSON.stringify({ ...identity, api_url: "http://127.0.0.1:1" }));
  expect((await onHost("keys", "rotate", "--state-dir", state.path)).code).toBe(5);
  expect(readNextKey(state)?.publicKey).toBe(next);
  writeFileSync(state.identity, JSON.stringify({ ...identity, node_id: crypto.randomUUID() }));
  expect((await onHost("keys", "rotate", "--state-dir", state.path)).code).toBe(3);
  expect(readNextKey(state)).toBeNull();
});

test("logout wipes no directory that holds no host", async () => {
  const home = scratch("edge-no-host");
  for (const name of ["work", "archive"]) mkdirSync(join(home, name));
  writeFileSync(join(home, "config.yaml"), "mine");
  const words = ["logout", "--state-dir", home, "--no-service", "--force", "--json"];
  const said = await edge(words);
  expect([said.code, said.json.wiped, readdirSync(home).sort()]).toEqual([
    0,
    false,
    ["archive", "config.yaml", "work"],
  ]);
  // One that is damaged is one.
  writeFileSync(join(home, "node.json"), "{");
  expect([(await edge(words.filter((word) => word !== "--force"))).code, (await edge(words)).code]).toEqual([4, 0]);
  expect(existsSync(home)).toBe(false);
});

test("logout revokes the host and wipes its state; a host that is unknown is done", async () => {
  const { state, id } = await enrolled("--name", "out-1");
  writeFileSync(join(state.path, "notes.txt"), "mine");
  const words = ["logout", "--state-dir", state.path, "--no-service", "--json"];
  // Without an operator's token there is none to revoke by, and nothing is wiped.
  expect([(await edge(words)).code, existsSync(state.key)]).toEqual([3, true]);
  const release = takeLock(state);
  release();
  const said = await edge(words, { env });
  expect([said.code, said.json.node_id]).toEqual([0, id]);
  expect(readdirSync(state.path)).toEqual(["notes.txt"]);
  expect((await at.call("GET", `hosts/${id}`, ann)).body.status).toBe("revoked");
  expect((await edge(words, { env })).code).toBe(4);
  expect((await edge([...words, "--force"], { env })).code).toBe(0);
  const other = await enrolled("--name", "out-2");
  await run("host", "revoke", other.id, "--yes");
  expect((await edge(["logout", "--state-dir", other.state.path, "--no-service"], { env })).code).toBe(0);
  expect(existsSync(other.state.path)).toBe(false);
  const third = await enrolled("--name", "out-3");
  const kept = await edge(["logout", "--state-dir", third.state.path, "--no-service", "--no-server"]);
  expect([kept.code, (await at.call("GET", `hosts/${third.id}`, ann)).body.status]).toEqual([0, "disconnected"]);
});

test("SVC_TENANT says in which tenant a machine and an administrator act", async () => {
  const { id } = await enrolled("--name", "of-acme", "--tag", "acme-only");
  const admin = (await at.operator("admin")).Authorization?.slice("Bearer ".length) ?? "";
  for (const SVC_USER_TOKEN of [await at.node.token(), admin]) {
    const there = { ...env, SVC_USER_TOKEN };
    const words = ["ls", "--tag", "acme-only", "--json"];
    expect((await edge(words, { env: there })).json.items).toEqual([]);
    const { items } = (await edge(words, { env: { ...there, SVC_TENANT: "acme" } })).json;
    expect(items.map(({ node_id }: { node_id: string }) => node_id)).toEqual([id]);
  }
});

test("a person without the scope is told which one is missing", async () => {
  const readonly = await at.operator("readonly");
  const said = await edge(["token", "create"], {
    env: { ...env, SVC_USER_TOKEN: readonly.Authorization?.slice("Bearer ".length) ?? "" },
  });
  expect([said.code, said.err]).toEqual([3, expect.stringContaining("aegis.edge.enroll")]);
});
