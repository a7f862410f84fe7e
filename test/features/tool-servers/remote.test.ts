/** Tool servers that are reached by streamable HTTP (docs/reference/tool-servers.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { legacyRemote, modernRemote, type RemoteTools } from "../../harness/outside/remote-tools.ts";
import { until } from "../../harness/until.ts";
import { type Scene, type SceneNode, toolServerScene } from "./harness.ts";

let scene: Scene;
let node: SceneNode;
const remotes: RemoteTools[] = [];
beforeAll(async () => {
  scene = await toolServerScene();
  node = scene.node("one");
}, 60_000);
afterAll(async () => {
  await scene.dispose();
  for (const remote of remotes) await remote.stop();
});

const opened = (remote: RemoteTools): RemoteTools => {
  remotes.push(remote);
  return remote;
};

async function started(name: string): Promise<void> {
  node.host.start((await scene.row(name)).id);
  await until(async () => (await node.tools()).some((tool) => tool.startsWith(`${name}.`)), { timeoutMs: 40_000 });
}

const remote = (url: string, more: object = {}) => ({ transport: "streamable_http" as const, url, ...more });

test.each([
  ["2025-11-25", legacyRemote],
  ["2026-07-28", modernRemote],
] as const)(
  "a streamable-HTTP server of %s is listed and callable; changes are withheld",
  async (version, make) => {
    const name = `r${version.slice(0, 4)}`;
    const at = opened(make());
    scene.secrets.set("REMOTE_TOKEN", "Bearer token-of-the-remote");
    await scene.define(name, remote(at.url, { credentials: { Authorization: "env:REMOTE_TOKEN" } }));
    await started(name);
    expect((await scene.row(name)).protocol_version).toBe(version);
    expect(await node.text(`${name}.echo`, { text: "hi token-of-the-remote" })).toBe("hi token-of-the-remote");
    expect(await node.text(`${name}.echo`, { text: "Bearer token-of-the-remote" })).toBe("[redacted]");
    expect(new Set(at.authorizations)).toEqual(new Set(["Bearer token-of-the-remote"]));
    expect((await scene.row(name)).definition.definitions).toBe("pinned");
    at.change();
    await until(async () => (await node.text(`${name}.echo`, { text: "x" })) === "tool_changed");
    expect(await node.tools()).not.toContain(`${name}.echo`);
  },
  60_000,
);

test("a call that takes too long is cancelled at the server, in both revisions", async () => {
  const [before, now] = [opened(legacyRemote()), opened(modernRemote())];
  await scene.define("slow-before", remote(before.url, { call_timeout_seconds: 1 }));
  await scene.define("slow-now", remote(now.url, { call_timeout_seconds: 1 }));
  await Promise.all([started("slow-before"), started("slow-now")]);
  const calls = [node.text("slow-before.act", { do: "hang" }), node.text("slow-now.hang")];
  expect(await Promise.all(calls)).toEqual(["timeout", "timeout"]);
  await until(() => before.cancelled() > 0 && now.cancelled() > 0);
}, 60_000);

test("an answer too large or too deep and a connection that breaks off fail one call", async () => {
  const at = opened(legacyRemote());
  await scene.define("bounds", remote(at.url));
  await started("bounds");
  expect(await node.text("bounds.act", { do: "large", bytes: 11 * 2 ** 20 })).toBe("output_size_exceeded");
  for (const levels of [300, 20_000]) {
    expect(await node.text("bounds.act", { do: "deep", levels })).toBe("upstream_error");
  }
  expect(await node.call("bounds.act", { do: "deep", levels: 100 })).toMatchObject({ status: "succeeded" });
  expect(await node.text("bounds.act", { do: "crash" })).toBe("upstream_error");
  expect(await node.text("bounds.echo", { text: "still" })).toBe("still");
}, 60_000);

test("an endless event and an error page of 100 MB are not read to their end", async () => {
  const at = opened(legacyRemote());
  await scene.define("endless", remote(at.url, { call_timeout_seconds: 20 }));
  await started("endless");
  const chunk = new Uint8Array(1_024 * 1_024).fill(0x78);
  let sent = 0;
  const endless = (type: string, status: number) => () => {
    sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += chunk.length;
        if (sent > 100 * 2 ** 20) controller.close();
        else controller.enqueue(chunk);
      },
    });
    return new Response(body, { status, headers: { "Content-Type": type } });
  };
  at.answerWith(endless("text/event-stream", 200));
  expect(await node.text("endless.echo", {})).toBe("output_size_exceeded");
  expect(sent).toBeLessThan(60 * 2 ** 20);
  at.answerWith(endless("text/html", 500));
  expect(["upstream_error", "output_size_exceeded"]).toContain(await node.text("endless.echo", {}));
  expect(sent).toBeLessThan(60 * 2 ** 20);
}, 60_000);

test("no redirect to another origin, and no address that an operator did not open", async () => {
  const at = opened(legacyRemote());
  let asked = 0;
  const elsewhere = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch() {
      asked += 1;
      return new Response("");
    },
  });
  at.answerWith(() => Response.redirect(`http://127.0.0.1:${elsewhere.port}/mcp`, 307));
  await scene.define("away", remote(at.url));
  await scene.define("metadata", remote("http://169.254.169.254/mcp"));
  for (const name of ["away", "metadata"]) node.host.start((await scene.row(name)).id);
  const errorOf = async (name: string) => (await scene.instances(name))[0]?.last_error ?? "";
  await until(async () => (await errorOf("away")) !== "" && (await errorOf("metadata")) !== "");
  expect(asked).toBe(0);
  expect(await errorOf("metadata")).toContain("metadata_address");
  await elsewhere.stop(true);
}, 60_000);

test("a tenth fault in a row fails it with an incident; a change of it begins anew", async () => {
  const at = opened(legacyRemote());
  let asked = 0;
  at.answerWith(() => {
    asked += 1;
    return new Response("", { status: 503 });
  });
  await scene.define("hopeless", remote(at.url));
  const waited: number[] = [];
  const delayOf = (ms: number) => {
    waited.push(ms);
    return 1;
  };
  const hasty = scene.node("hasty", undefined, { delayOf });
  const { id } = await scene.row("hopeless");
  hasty.host.start(id);
  const standing = async () => (await scene.instances("hopeless")).find(({ node_id }) => node_id === "hasty");
  await until(async () => (await standing())?.status === "failed", { timeoutMs: 20_000 });
  // The first start is at once; nine follow.
  expect([waited.length, waited.slice(1).every((ms) => ms >= 500)]).toEqual([10, true]);
  expect(scene.incidents).toContainEqual(
    expect.objectContaining({
      category: "tool_server_failed",
      details: { tool_server: "hopeless", node_id: "hasty" },
    }),
  );
  const before = asked;
  at.answerWith(null);
  await scene.change("hopeless", { enabled: true });
  await until(async () => (await standing())?.status === "running", { timeoutMs: 20_000 });
  expect(asked).toBe(before);
  expect(await hasty.text("hopeless.echo", { text: "well" })).toBe("well");
  await hasty.stop();
}, 60_000);

test("a server that stops answering is unhealthy and connected anew", async () => {
  const at = opened(legacyRemote());
  const health_check = { interval_seconds: 1, timeout_seconds: 1 };
  await scene.define("sick", remote(at.url, { health_check }));
  await started("sick");
  at.answerWith(() => new Response("", { status: 503 }));
  await until(async () => ((await scene.instances("sick"))[0]?.restarts ?? 0) > 0, { timeoutMs: 20_000 });
  at.answerWith(null);
  await until(async () => (await node.text("sick.echo", { text: "well" })) === "well", { timeoutMs: 20_000 });
}, 60_000);
