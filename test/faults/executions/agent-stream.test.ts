/** An agent's stream read at one node while the node that runs its executions is killed. */
import { expect, test } from "bun:test";
import { Followed } from "../../harness/events.ts";
import { manifest, say, shell } from "../../harness/manifests.ts";
import { startNodeProcess } from "../../harness/node/node-process.ts";
import { freshStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

test("nothing is lost or repeated when the writing or the reading node dies", async () => {
  const stores = await freshStores();
  const env = { SVC_LOG_LEVEL: "warn" };
  const writer = await startNodeProcess(stores, { env });
  const reader = await startNodeProcess(stores, { dataDir: writer.dataDir, env });
  try {
    const script = [shell("echo working"), say("done")];
    const agentId = (await writer.call("POST", "/v1/agents", manifest({ script }))).body.agent_id;
    const headers = { Authorization: `Bearer ${await reader.token()}` };
    const followed = new Followed(`${reader.url}/v1/agents/${agentId}/stream`, headers);
    const start = () => writer.call("POST", "/v1/executions", { agent_id: agentId, input: "" });
    const began = await Promise.all(Array.from({ length: 4 }, start));
    expect(began.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await until(() => followed.names.includes("instance_spawned"), { timeoutMs: 30_000, what: "a run under way" });
    await writer.kill();
    const ends = ({ names }: Followed) => names.filter((name) => name === "execution_completed").length;
    await until(() => ends(followed) === 4, { timeoutMs: 60_000, what: "all runs to end" });
    const ids = [...followed.ids];
    expect(ids).toEqual(Array.from({ length: ids.length }, (_, at) => at + 1));
    await reader.kill();
    await reader.restart();
    const again = new Followed(`${reader.url}/v1/agents/${agentId}/stream?from=0&follow=false`, headers);
    await again.done;
    expect(again.frames.slice(0, ids.length).map(({ id, body }) => [id, body])).toEqual(
      followed.frames.slice(0, ids.length).map(({ id, body }) => [id, body]),
    );
  } finally {
    // The folder is the writer's.
    await reader.dispose();
    await writer.dispose();
    await stores.dispose();
  }
}, 150_000);
