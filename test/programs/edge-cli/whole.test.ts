/** Three hosts on one machine, from their tokens to their end: a whole node, real daemons, the command line. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stateAt } from "../../../src/programs/edge-daemon/state/directory.ts";
import { readKey } from "../../../src/programs/edge-daemon/state/identity.ts";
import { EdgeFixture } from "../../features/edge/fixture.ts";
import { onLeave } from "../../harness/at-exit.ts";
import { scratch } from "../../harness/scratch.ts";
import { until } from "../../harness/until.ts";
import { edge } from "./harness.ts";

const main = join(import.meta.dir, "../../../src/programs/svc/edge/main.ts");
let at: EdgeFixture;
let env: Record<string, string>;
const json = (...words: readonly string[]) => edge(words, { env: { ...env, SVC_OUTPUT: "json" } });
const shown = (...words: readonly string[]) => edge(words, { env });

class Host {
  readonly state = stateAt(join(scratch("whole"), "state"));
  child: Bun.Subprocess | null = null;
  constructor(readonly name: string) {}

  async enroll(): Promise<this> {
    const { json: token } = await json("token", "create", "--name", this.name, "--tag", "try");
    const words = ["enroll", token.token, "--no-service", "--state-dir", this.state.path];
    const said = await edge(words, { env: { HOME: scratch("home") } });
    if (said.code !== 0) throw new Error(said.err);
    appendFileSync(this.state.config, "reconnect: [0.2]\n");
    // One context more, by name; all that is not named goes by the profile.
    const open = '  - {name: bulk, capabilities: [{tool_pattern: "cmd.run"}]}\n';
    const written = readFileSync(this.state.config, "utf8");
    writeFileSync(this.state.config, written.replace("contexts:\n", `contexts:\n${open}`));
    return this;
  }

  /** @returns when it is connected, by its own word */
  async start(): Promise<void> {
    const child = Bun.spawn([process.execPath, main, "edge", "daemon", "--state-dir", this.state.path], {
      env: { PATH: process.env.PATH ?? "", HOME: scratch("home") },
      stdio: ["ignore", "ignore", "ignore"],
    });
    this.child = child;
    onLeave(() => child.kill("SIGKILL"));
    await until(async () => (await edge(["status", "--state-dir", this.state.path])).code === 0, {
      what: `${this.name} to be connected`,
      timeoutMs: 20_000,
      everyMs: 100,
    });
  }
}

const hosts = ["try-1", "try-2", "try-3"].map((name) => new Host(name));
const [first, second, third] = hosts as [Host, Host, Host];

beforeAll(async () => {
  at = await EdgeFixture.open();
  const ann = await at.user("acme", "ann");
  await at.node.call("GET", "/v1/agents", undefined, ann);
  // A node that is started again signs tokens by another key; API keys stay.
  const { body } = await at.node.call("POST", "/v1/api-keys", { name: "cli", scopes: ["aegis.edge.*"] }, ann);
  env = { SVC_API_URL: at.node.url, SVC_USER_TOKEN: body.api_key };
  for (const host of hosts) await host.enroll();
  await Promise.all(hosts.map((host) => host.start()));
}, 60_000);
afterAll(async () => {
  for (const { child } of hosts) child?.kill("SIGKILL");
  await at?.close();
});

test("three hosts are connected, and run a command as it was typed", async () => {
  const list = await json("ls", "--tag", "try", "--connected");
  expect(list.json.items.map(({ name }: { name: string }) => name)).toEqual(hosts.map(({ name }) => name));
  const done = await shown("fleet", "run", "tags=try", "os=linux", "--", "echo", "a  b; id");
  expect([done.code, done.err]).toEqual([0, ""]);
  for (const { name } of hosts) expect(done.out).toContain(`${name} | a  b; id\n`);
  expect(done.out).toContain("run is complete: 3 ok\n");
  const files = await shown("fleet", "run", "tags=try", "fs.write", "--arg", "path=a.txt", "--arg", "content=there");
  expect(files.code).toBe(0);
  expect(readFileSync(join(first.state.work, "a.txt"), "utf8")).toBe("there");
  // What the profile does not list is refused by the host itself.
  const refused = await shown("fleet", "run", "tags=try", "--on-error=continue", "--", "uname", "-a");
  expect([refused.code, refused.out]).toEqual([1, expect.stringContaining("3 refused")]);
});

test("a run is previewed, listed and shown as the service has it", async () => {
  const preview = await shown("fleet", "preview", "tags=try", "--mode=rolling=2");
  expect(preview.out).toMatch(/try-1 +[0-9a-f-]{36} +1 +connected\n[\s\S]*try-3 +[0-9a-f-]{36} +2 +connected\n/);
  expect(preview.out).toEndWith("3 of 3 hosts, 2 waves\n");
  const done = await json("fleet", "run", "tags=try", "--", "whoami");
  const id = done.lines[0].data.fleet_command_id;
  expect((await shown("fleet", "runs", "--tool", "cmd.run", "--limit", "1")).out).toContain(id);
  expect((await json("fleet", "runs", id)).json).toMatchObject({
    args: { command: "whoami", args: [] },
    policy: { mode: "Parallel", failure_policy: "FailFast" },
    per_node: hosts.map(({ name }) => ({ name, status: "ok" })),
  });
  expect((await shown("fleet", "runs", id)).out).toMatch(/try-1 +[0-9a-f-]{36} +ok +1 +0 +\d+/);
  const again = await json("fleet", "runs", id, "--follow");
  const lasting = ({ event }: { event: string }) => event !== "command_progress";
  expect([again.code, again.lines.filter(lasting)]).toEqual([0, done.lines.filter(lasting)]);
});

test("50 MiB of no text from one host: exact counts, its link and the others unharmed", async () => {
  const bytes = 50 * 1024 * 1024;
  const linkOf = async (name: string) =>
    (await json("ls", "--tag", "try")).json.items.find((one: { name: string }) => one.name === name);
  const before = await linkOf("try-1");
  const script = `head -c ${bytes} /dev/zero | tr '\\0' '\\377'; printf end`;
  const flood = json("fleet", "run", `@${before.node_id}`, "--security-context", "bulk", "--", "sh", "-c", script);
  const beside = await shown("fleet", "run", "tags=try", "--", "echo", "beside");
  expect([beside.code, beside.out]).toEqual([0, expect.stringContaining("3 ok")]);
  const done = await flood;
  const { summary, fleet_command_id: id } = done.lines.at(-1).data;
  expect([done.code, summary.ok]).toEqual([0, 1]);
  const [one] = (await json("fleet", "runs", id)).json.per_node;
  expect(one).toMatchObject({ status: "ok", stdout_bytes: bytes + 3, stderr_bytes: 0, truncated: true });
  expect(one.stdout_tail).toEndWith("\uFFFDend");
  expect(Buffer.byteLength(one.stdout_tail)).toBeLessThanOrEqual(8_192);
  const after = await linkOf("try-1");
  expect(after).toMatchObject({ status: "connected", accepting: true, connection: before.connection });
});

test("commands fail fast and end with 6, too few hosts with 9, none with 5", async () => {
  expect((await shown("fleet", "run", "tags=try", "--", "false")).code).toBe(6);
  const unmet = await shown("fleet", "run", "tags=try", "--require-min", "4", "--", "true");
  expect([unmet.code, unmet.out]).toEqual([9, expect.stringContaining("RequireMinNotSatisfied")]);
  const none = await shown("fleet", "run", "tags=no-such", "--", "true");
  expect([none.code, none.out]).toEqual([5, expect.stringContaining("EdgeUnavailable")]);
  expect((await shown("fleet", "run", "tags=try", "no.such.tool")).code).toBe(2);
  expect((await shown("fleet", "run", "group:no-such", "--", "true")).code).toBe(4);
});

test("a run is paused, resumed and cancelled; its follower ends with 7", async () => {
  const following = json("fleet", "run", "tags=try", "--mode=sequential", "--", "sleep", "60");
  const running = await until(async () => (await json("fleet", "runs", "--status", "running")).json.items[0], {
    what: "the run",
  });
  const id = running.fleet_command_id;
  expect((await json("fleet", "pause", id)).json).toMatchObject({ status: "paused", pause_reasons: ["requested"] });
  expect((await json("fleet", "resume", id)).json.pause_reasons).toEqual([]);
  await until(async () => (await json("fleet", "runs", id)).json.per_node[0].status === "running", {
    what: "the command to run",
  });
  expect((await json("fleet", "cancel", id, "--reason", "a mistake")).json.cancelled).toBe(3);
  const done = await following;
  expect([done.code, done.lines.at(-1).data.summary]).toEqual([
    7,
    expect.objectContaining({ cancelled: 1, not_started: 2 }),
  ]);
  expect((await json("fleet", "pause", id)).code).toBe(4);
  expect((await json("fleet", "cancel", id)).json.cancelled).toBe(0);
});

test("a run that waits for another person tells its approval, and can be cancelled", async () => {
  const following = shown("fleet", "run", "tags=try", "--approval", "--", "true");
  const waiting = await until(
    async () => (await json("fleet", "runs", "--status", "awaiting_approval")).json.items[0],
    { what: "the run that waits" },
  );
  expect((await json("fleet", "preview", "tags=try", "--approval")).json.requires_approval).toBe(true);
  expect((await json("fleet", "cancel", waiting.fleet_command_id)).code).toBe(0);
  const done = await following;
  expect(done.code).toBe(7);
  expect(done.out).toContain(`run is awaiting_approval, approval ${waiting.approval_id}`);
});

test("a canary that fails halts the roll-out; the failed subset is retried", async () => {
  // Only the first host of the order lacks the file.
  for (const { state } of [second, third]) writeFileSync(join(state.work, "release.txt"), "1");
  const run = ["fleet", "run", "tags=try", "--mode=rolling=1", "--canary=1", "fs.read", "--arg", "path=release.txt"];
  const halted = await shown(...run);
  expect([halted.code, halted.out]).toEqual([6, expect.stringContaining("canary_failed")]);
  expect(halted.out).toContain("1 err, 2 not started");
  const [, id = ""] = /^run ([0-9a-f-]{36}):/m.exec(halted.out) ?? [];
  writeFileSync(join(first.state.work, "release.txt"), "1");
  const retried = await shown("fleet", "retry", id);
  expect([retried.code, retried.out]).toEqual([0, expect.stringContaining("try-1: ok")]);
});

test("a host's key is replaced without a break", async () => {
  const before = readKey(second.state)?.publicKey;
  const said = await json("keys", "rotate", "--state-dir", second.state.path);
  expect([said.code, said.json.pending]).toEqual([0, false]);
  expect(readKey(second.state)?.publicKey === before).toBe(false);
  await until(async () => (await shown("status", "--state-dir", second.state.path)).code === 0, { what: "the link" });
  const done = await shown("fleet", "run", "tags=try", "--", "hostname");
  expect([done.code, done.out]).toEqual([0, expect.stringContaining("3 ok")]);
});

test("kill -9 of the node in the middle of a run: it is followed to its end", async () => {
  const following = json("fleet", "run", "tags=try", "--mode=rolling=1", "--", "sleep", "1");
  await until(async () => (await json("fleet", "runs", "--status", "running")).json.items.length > 0, {
    what: "the run",
  });
  await at.node.kill();
  await at.node.restart();
  const done = await following;
  expect([done.code, done.lines.at(-1).data.summary.ok]).toEqual([0, 3]);
  const ids = done.lines.map(({ id }: { id: number }) => id);
  expect(ids).toEqual(ids.toSorted((one: number, other: number) => one - other));
  expect(new Set(ids).size).toBe(ids.length);
  expect(done.err).toContain("the service is back");
});

test("a host that is held is skipped, one that is revoked ends by itself with 3", async () => {
  expect((await json("host", "hold", "try-3")).json.accepting).toBe(false);
  const done = await shown("fleet", "run", "tags=try", "--", "true");
  expect([done.code, done.out]).toEqual([0, expect.stringContaining("try-3: skipped, NotAccepting")]);
  expect((await json("host", "accept", "try-3")).json.accepting).toBe(true);
  expect((await json("host", "revoke", "try-1", "--yes")).code).toBe(0);
  expect(await first.child?.exited).toBe(3);
  const words = ["logout", "--no-service", "--state-dir", second.state.path];
  expect((await edge(words, { env })).code).toBe(0);
  expect(await second.child?.exited).toBe(3);
  expect(existsSync(second.state.path)).toBe(false);
  const left = await json("ls", "--tag", "try");
  expect(left.json.items.map(({ name }: { name: string }) => name)).toEqual(["try-3"]);
});
