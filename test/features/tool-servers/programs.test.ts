/** Tool servers that are programs: their lives and their calls on real nodes' parts (docs/reference/tool-servers.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { Sandboxes } from "../../../src/adapters/sandbox/port.ts";
import { until } from "../../harness/until.ts";
import { type Scene, type SceneNode, toolServerScene } from "./harness.ts";

let scene: Scene;
let node: SceneNode;
beforeAll(async () => {
  scene = await toolServerScene("odd", "filesystem");
  node = scene.node("one");
}, 60_000);
afterAll(() => scene.dispose());

/** Until it is known what the server lists. */
async function started(name: string, on = node): Promise<void> {
  on.host.start((await scene.row(name)).id);
  await until(async () => (await on.tools()).some((tool) => tool.startsWith(`${name}.`)), { timeoutMs: 40_000 });
}

test("stdio: listed, callable, restarted when it is killed, gone when it is disabled", async () => {
  await scene.define("life");
  await started("life");
  expect(await node.tools()).toEqual(["life.echo", "life.act"]);
  expect(await node.text("life.echo", { text: "hello" })).toBe("hello");
  const pid = await until(async () => (await scene.instances("life"))[0]?.pid);
  process.kill(pid, "SIGKILL");
  await until(async () => {
    const [instance] = await scene.instances("life");
    return instance?.status === "running" && instance.pid !== pid && instance.restarts === 1;
  });
  expect(await node.text("life.echo", { text: "again" })).toBe("again");
  const second = await until(async () => (await scene.instances("life"))[0]?.pid);
  await scene.change("life", { enabled: false });
  await until(async () => (await scene.instances("life")).length === 0, { timeoutMs: 20_000 });
  expect([pid, second].filter((each) => existsSync(`/proc/${each}/exe`))).toEqual([]);
  expect((await scene.sandbox.list()).map(({ executionId }) => executionId)).not.toContain(
    (await scene.row("life")).id,
  );
}, 60_000);

test("a real server from npm works inside the sandbox", async () => {
  await scene.define("files", { args: [scene.programs.program("filesystem"), "/tmp"] });
  await started("files");
  await node.call("files.write_file", { path: "/tmp/note.txt", content: "kept" });
  expect(await node.text("files.read_text_file", { path: "/tmp/note.txt" })).toBe("kept");
}, 60_000);

test("a tool that echoes its injected credential answers [redacted], and so do logs", async () => {
  scene.secrets.set("ops/tickets", "s3cret-of-tickets");
  await scene.define("tickets", { credentials: { ODD_TOKEN: "secret:ops/tickets" } });
  await started("tickets");
  const environment = await node.text("tickets.act", { do: "env" });
  expect(environment).toContain('"ODD_TOKEN":"[redacted]"');
  const encoded = Buffer.from("s3cret-of-tickets").toString("base64");
  expect(await node.text("tickets.echo", { text: `x ${encoded} y` })).toBe(
    "x [redacted]= y".replace("=", encoded.endsWith("=") ? "=" : ""),
  );
  expect(await node.call("tickets.act", { do: "refuse", text: "no s3cret-of-tickets" })).toMatchObject({
    status: "failed",
    code: "upstream_error",
    message: "The tool server refused: no [redacted]",
  });
  const lines = await until(async () => {
    const read = await node.logs.read((await scene.row("tickets")).id, 10);
    return read.length > 0 && read.map(({ line }) => line);
  });
  expect(lines).toContain("begun [redacted]");
}, 60_000);

test("a rotated credential takes a new connection", async () => {
  scene.secrets.set("ops/rotated", "first-value-1");
  await scene.define("rotated", { credentials: { ODD_TOKEN: "secret:ops/rotated" } });
  await started("rotated");
  const before = (await scene.instances("rotated"))[0]?.pid;
  scene.secrets.set("ops/rotated", "second-value-2");
  await until(
    async () => {
      const now = (await scene.instances("rotated"))[0]?.pid;
      return now !== undefined && now !== before;
    },
    { timeoutMs: 40_000, what: "another instance" },
  );
  // A call may still reach the former instance, which does not know the new value.
  await until(async () => (await node.text("rotated.echo", { text: "second-value-2" })) === "[redacted]");
}, 60_000);

test("pinned tools that a server changes are withheld, with an incident", async () => {
  await scene.define("pinned", { definitions: "pinned" });
  await started("pinned");
  await node.call("pinned.act", { do: "change" });
  await until(async () => !(await node.tools()).includes("pinned.echo"));
  expect(await node.tools()).toContain("pinned.act");
  expect(await node.tools()).not.toContain("pinned.fresh");
  expect(await node.text("pinned.echo", { text: "x" })).toBe("tool_changed");
  expect(await node.text("pinned.fresh", {})).toBe("tool_changed");
  expect(scene.incidents).toContainEqual(
    expect.objectContaining({
      category: "tool_changed",
      details: { tool_server: "pinned", tools: ["echo", "fresh"], count: 2 },
    }),
  );
  const [entry] = await scene.sql`
    select details from audit_entries where action = 'tool_server.tools_changed' and target_id = 'pinned'
    order by at desc limit 1`;
  expect(entry?.details).toMatchObject({ added: ["fresh"], changed: ["echo"], removed: [] });
}, 60_000);

test("a server whose tools are followed offers what it lists now", async () => {
  await scene.define("followed");
  await started("followed");
  await node.call("followed.act", { do: "change" });
  await until(async () => (await node.tools()).includes("followed.fresh"));
}, 60_000);

test("a 501st tool, a schema of 65 KiB and an answer of 11 MiB keep the bounds", async () => {
  await scene.define("many", {}, "tools:600");
  await scene.define("large", {}, "odd-tools");
  await started("many");
  await started("large");
  expect((await node.tools()).filter((name) => name.startsWith("many."))).toHaveLength(500);
  expect((await node.tools()).filter((name) => name.startsWith("large."))).toEqual(["large.echo", "large.act"]);
  expect(await node.call("large.act", { do: "large", bytes: 11 * 2 ** 20 })).toMatchObject({
    status: "refused",
    error_code: 2007,
    code: "output_size_exceeded",
  });
  const warned = await until(async () => {
    const lines = await node.logs.read((await scene.row("large")).id, 100);
    return lines.some(({ line }) => line.includes("large-schema")) && lines;
  });
  expect(warned.map(({ line }) => line).filter((line) => line.startsWith("[svc]"))).toHaveLength(3);
}, 90_000);

test("a list without end is read as far as its bounds in bytes", async () => {
  await scene.define("endless", {}, "endless-list");
  await started("endless");
  expect((await node.tools()).filter((name) => name.startsWith("endless."))).toEqual(["endless.echo", "endless.act"]);
  const lines = await until(async () => {
    const read = await node.logs.read((await scene.row("endless")).id, 100);
    return read.some(({ line }) => line.includes("what comes behind")) && read.map(({ line }) => line);
  });
  expect(lines.join("\n")).toContain("more than 16777216 bytes");
  // Of hundreds of tools that are left out the first are named.
  expect(lines.filter((line) => line.includes("bad name"))).toHaveLength(50);
}, 60_000);

test("a change that is announced during a listing is seen", async () => {
  await scene.define("changing", {}, "changing-list");
  await started("changing");
  await until(async () => (await node.tools()).includes("changing.fresh"));
}, 60_000);

test("a slow call fails, and a call that ends its server is not made twice", async () => {
  await scene.define("odd", { call_timeout_seconds: 1 });
  await started("odd");
  expect(await node.text("odd.echo", { do: "hang" })).toBe("timeout");
  expect(await node.text("odd.act", { do: "crash" })).toBe("upstream_error");
  await until(async () => (await node.text("odd.echo", { text: "back" })) === "back");
}, 60_000);

test("a call that only reads is made once more after a crash", async () => {
  await scene.define("again");
  await started("again");
  const pid = await until(async () => (await scene.instances("again"))[0]?.pid);
  const hung = node.text("again.echo", { do: "hang-before", at: Date.now() + 5, text: "answered" });
  await Bun.sleep(20);
  process.kill(pid, "SIGKILL");
  expect(await hung).toBe("answered");
}, 60_000);

test("servers that crash, hang or print while they start take nothing with them", async () => {
  const modes = ["crash:start", "crash:initialize", "crash:list", "hang:probe", "crash:probe", "noise:initialize"];
  const lasting = modes.slice(0, 3);
  const names = new Map(modes.map((mode) => [mode, mode.replace(":", "-")]));
  await Promise.all([...names].map(([mode, name]) => scene.define(name, {}, mode)));
  for (const name of names.values()) node.host.start((await scene.row(name)).id);
  for (const [mode, name] of names) {
    if (lasting.includes(mode)) {
      const failing = async () => ((await scene.instances(name))[0]?.restarts ?? 0) > 1;
      await until(failing, { timeoutMs: 40_000 });
      expect((await scene.instances(name))[0]?.last_error).not.toBeNull();
    } else await until(async () => (await node.text(`${name}.echo`, { text: "x" })) === "x", { timeoutMs: 40_000 });
    await scene.change(name, { enabled: false });
  }
  const ended = async () => (await Promise.all([...names.values()].map(scene.instances))).flat().length === 0;
  await until(ended, { timeoutMs: 20_000 });
}, 90_000);

test("each node has a process of its own, and both are in the record", async () => {
  const other = scene.node("two");
  await scene.define("shared");
  await started("shared");
  expect((await scene.instances("shared")).map(({ node_id }) => node_id)).toEqual(["one"]);
  expect(await other.text("shared.echo", { text: "from two" })).toBe("from two");
  expect((await scene.instances("shared")).map(({ node_id }) => node_id)).toEqual(["one", "two"]);
  const pids = (await scene.instances("shared")).map(({ pid }) => pid);
  await scene.change("shared", { call_timeout_seconds: 30 });
  await until(async () => (await scene.instances("shared")).every(({ pid }) => pid !== null && !pids.includes(pid)));
  await other.stop();
  expect((await scene.instances("shared")).map(({ node_id }) => node_id)).toEqual(["one"]);
}, 90_000);

test("without a sandbox a program is sandbox_unavailable", async () => {
  const bare = scene.node("bare", new Sandboxes([]));
  const row = await scene.define("unheld");
  bare.host.start(row.id);
  const [instance] = await until(async () => {
    const found = await scene.instances("unheld");
    return found[0]?.status === "failed" && found;
  });
  expect(instance?.last_error).toContain("sandbox_unavailable");
  await bare.stop();
}, 60_000);
