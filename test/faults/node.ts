/**
 * One runtime node as a process of its own, for tests that kill it: counters, two activities, and
 * a crash point. Its settings are the first argument, its orders come over IPC; SIGTERM drains it.
 */
import { type Activity, type CrashPoint, implement, MailboxFull, type NodeRuntime } from "../../src/runtime/index.ts";
import { knownEffects } from "../../src/runtime/versions/knowledge.ts";
import { openRedis } from "../../src/store/redis/connections.ts";
import { jsonActivity } from "../harness/runtime/counter.ts";
import { startTestNode } from "../harness/runtime/runtime.ts";
import { deadlyProjection, slowCounter } from "./deadly.ts";
import { type FromNode, gateKey, type NodeSettings, type Numbered, type Request, runsKey, tenant } from "./protocol.ts";
import { actorsOf, laterEffect } from "./versions/kinds.ts";

const settings = JSON.parse(process.argv[2] ?? "") as NodeSettings;
const redis = openRedis(settings.stores.redisServers ?? settings.stores.redisUrl);
const { prefix } = settings.stores;

function say(message: FromNode): void {
  process.send?.(message);
}

let passed = 0;
function crash(point: CrashPoint): void {
  if (point !== settings.crash?.point) return;
  passed++;
  if (passed === settings.crash.nth) process.kill(process.pid, "SIGKILL");
}

const echo: Activity = implement(
  jsonActivity("echo"),
  { concurrency: 8, retry: { attempts: 5, firstDelayMs: 50 } },
  (input) => Promise.resolve(input),
);
const activities: readonly Activity[] = [
  ...(settings.version === "earlier" ? [] : [echo]),
  // Work that takes as long as the test wants; leaves a trace of each attempt.
  implement(
    jsonActivity("gated"),
    { concurrency: 8, retry: { attempts: 5, firstDelayMs: 50 } },
    async (input, { id, attempt, resumed, signal }) => {
      await redis.rpush(runsKey(prefix, id), `${runtime?.nodeId} ${attempt} ${resumed}`);
      while (!signal.aborted && (await redis.exists(gateKey(prefix))) === 0) await Bun.sleep(20);
      return input;
    },
  ),
  // Work that ends its process.
  implement(
    jsonActivity("deadly"),
    { concurrency: 8, retry: { attempts: 5, firstDelayMs: 50 } },
    async (input, { id }) => {
      await redis.rpush(runsKey(prefix, id), "begun");
      process.kill(process.pid, "SIGKILL");
      return input;
    },
  ),
];

if (settings.version === "earlier") {
  // The list is a constant of the program, readonly to others; a version that knows less has a shorter one.
  const effects = knownEffects as unknown as string[];
  effects.splice(effects.indexOf(laterEffect), 1);
}

let runtime: NodeRuntime | null = null;
const { stores, crash: _crash, version, ...options } = settings;
const node = await startTestNode(stores, {
  ...options,
  activities,
  actors: version === null ? [slowCounter] : actorsOf[version],
  projections: [deadlyProjection],
  crash,
});
runtime = node.runtime;

async function flood({ tenant, messages, atOnce, ...said }: Extract<Request, { verb: "flood" }>): Promise<number> {
  const body = { ...said.body, pad: "x".repeat(said.characters) };
  let next = 0;
  let answered = 0;
  const send = async () => {
    for (let index = next++; index < messages; index = next++) {
      const to = { kind: "counter", key: `${tenant}-${index % 500}`, tenant };
      // As a client does that is told when to come back.
      for (let done = false; !done; ) {
        done = await node.runtime.ask(to, "add", body, { unordered: true }).then(
          () => true,
          async (error: Error) => {
            if (!(error instanceof MailboxFull)) throw error;
            await Bun.sleep(50);
            return false;
          },
        );
      }
      answered++;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, send));
  return answered;
}

async function measure({ tenant, messages, direct }: Extract<Request, { verb: "measure" }>): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < messages; index++) {
    const began = performance.now();
    const to = { kind: "counter", key: `${tenant}-${index % 50}`, tenant };
    await node.runtime.ask(to, "add", {}, direct ? { unordered: true } : {});
    times.push(performance.now() - began);
  }
  return times;
}

/** Of the actor as this node's version knows it. */
function addressOf({ kind, key }: { readonly kind: string; readonly key: string }) {
  const known = version === null ? undefined : actorsOf[version].find((actor) => actor.kind === kind)?.version;
  return { kind, key, tenant, ...(known === undefined ? {} : { version: known }) };
}

function obey(request: Request) {
  switch (request.verb) {
    case "tell":
      return node.runtime.tell(addressOf(request), request.type, request.body);
    case "tellCommitted":
      return node.runtime.tellCommitted(addressOf(request), request.type, request.body);
    case "ask":
      return node.runtime.ask(addressOf(request), request.type, request.body, {
        deadlineMs: request.deadlineMs ?? 30_000,
      });
    case "flood":
      return flood(request);
    case "measure":
      return measure(request);
    case "status":
      return node.runtime.status();
    case "counts":
      return Promise.resolve(node.runtime.counts());
  }
}

process.on("message", ({ id, request }: Numbered) => {
  obey(request).then(
    (value) => say({ id, value: value === undefined ? null : value }),
    (error: Error) => say({ id, failure: { name: error.name, message: error.message } }),
  );
});

process.on("SIGTERM", () => {
  node.stop().then(
    () => process.exit(0),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
// The test is gone: nobody would stop this node any more.
process.on("disconnect", () => process.exit(2));

say({ ready: node.runtime.nodeId });
