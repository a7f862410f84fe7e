/** Starting and stopping a node as a process: help, refusals, the banner, signals. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { defineFeature } from "../../src/features/feature.ts";
import { loadConfig } from "../../src/node/config.ts";
import { Disposer } from "../../src/node/disposer.ts";
import { startNode } from "../../src/node/node.ts";
import { stopHandler } from "../../src/node/stop-signals.ts";
import { StoreProxy } from "../faults/proxy.ts";
import { type NodeProcess, startNodeProcess } from "../harness/node/node-process.ts";
import { openPlace, RedisServer, serverSettings } from "../harness/redis/server.ts";
import { scratch } from "../harness/scratch.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";
import { until } from "../harness/until.ts";

const root = join(import.meta.dir, "../..");
let stores: TestStores;
beforeAll(async () => {
  stores = await freshStores();
});
afterAll(() => stores.dispose());

async function main(args: readonly string[], env: Record<string, string>, within: readonly string[] = []) {
  const child = Bun.spawn([...within, process.execPath, join(root, "src/main.ts"), ...args], {
    env: { PATH: process.env.PATH ?? "", ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { out, err, code };
}

test("--help prints every setting", async () => {
  const { out, code } = await main(["--help"], {});
  expect(code).toBe(0);
  for (const name of ["SVC_MODE", "SVC_PORT", "DATABASE_URL", "SVC_DRAIN_SECONDS"]) expect(out).toContain(name);
});

test("production without stores and realms does not start and lists what is missing", async () => {
  const { err, code } = await main([], { SVC_MODE: "production", SVC_PORT: "eighty" });
  expect(code).toBe(1);
  for (const name of ["DATABASE_URL", "REDIS_URL", "SVC_AUTH_REALMS", "SVC_MASTER_KEY", "SVC_PORT"])
    expect(err).toContain(name);
  expect(err).not.toContain("    at ");
});

const env = () => ({
  SVC_MODE: "development",
  SVC_PORT: "0",
  SVC_INTERNAL_PORT: "0",
  SVC_EGRESS_PORT: "0",
  SVC_DATA_DIR: scratch("node"),
  SVC_DATABASE_SCHEMA: stores.schema,
  SVC_REDIS_PREFIX: stores.prefix,
  DATABASE_URL: stores.databaseUrl,
  REDIS_URL: stores.redisUrl,
});

const productionEnv = () => ({
  ...env(),
  SVC_MODE: "production",
  SVC_MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
  SVC_AUTH_REALMS: JSON.stringify([
    { slug: "svc-system", kind: "system", issuer_url: "http://127.0.0.1:1/realms/x", audience: "svc" },
  ]),
});

test("production serves models from a key, and says so or that it serves none", async () => {
  const start = (more: Record<string, string>) => {
    const env = { ...productionEnv(), SVC_SANDBOX: "none", SVC_LOG_LEVEL: "warn", ...more };
    return startNodeProcess(stores, { env, dataDir: env.SVC_DATA_DIR });
  };
  const [keyed, empty] = await Promise.all([start({ OPENAI_API_KEY: "sk-test-0123456789" }), start({})]);
  await until(() => /fast, cheap/.test(keyed.output) && /models +NONE/.test(empty.output), { what: "both banners" });
  expect(keyed.output).toContain("default → gpt-5.1 at openai (OPENAI_API_KEY is set)");
  expect(keyed.output).toContain("fast, cheap → gpt-5-mini at openai");
  expect(keyed.output).not.toContain("sk-test");
  expect(empty.output).toMatch(/models +NONE: no model is served: every alias is unknown, .*OPENAI_API_KEY/);
  expect(empty.output).toMatch(/"level":"warn".*"reason":"no model is served.*"msg":"models"/);
  await Promise.all([keyed.dispose(), empty.dispose()]);
});

/** One sentence, and nothing of the program behind it. */
function sentence({ err, code }: { err: string; code: number }): string {
  expect(code).toBe(1);
  expect(err.trim()).toStartWith("The service cannot start: ");
  expect(err.trim()).not.toContain("\n");
  return err;
}

test.each(["SVC_PORT", "SVC_INTERNAL_PORT", "SVC_EGRESS_PORT", "SVC_METRICS_PORT"])(
  "%s taken: says so and which setting",
  async (name) => {
    using taken = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
    const end = await main([], {
      ...env(),
      SVC_METRICS_ENABLED: "true",
      SVC_METRICS_PORT: "0",
      [name]: String(taken.port),
    });
    expect(sentence(end)).toContain(`127.0.0.1:${taken.port} is taken: stop what listens there, or set ${name} `);
  },
);

test("stores that cannot be had: which one, why, and which setting", async () => {
  const closed = await closedPort();
  const other = new URL(stores.databaseUrl);
  other.pathname = "/no_such_database";
  const production = productionEnv();
  const ends = [
    main([], { ...production, DATABASE_URL: `postgres://svc:pass-w0rd@127.0.0.1:${closed}/svc` }),
    main([], { ...production, REDIS_URL: `redis://:pass-w0rd@127.0.0.1:${closed}` }),
    main([], { ...production, DATABASE_URL: other.href }),
  ];
  const [database = "", redis = "", refusal = ""] = (await Promise.all(ends)).map(sentence);
  expect(database).toMatch(/PostgreSQL at 127\.0\.0\.1:\d+ cannot be reached \(.+\)\. Check DATABASE_URL\./);
  expect(redis).toMatch(/Redis at 127\.0\.0\.1:\d+ cannot be reached \(.*ECONNREFUSED.*\)\. Check REDIS_URL\./);
  expect(refusal).toMatch(/PostgreSQL at \S+ refuses: .*no_such_database.*\. Check DATABASE_URL\./);
  expect(database + redis).not.toContain("pass-w0rd");
});

test("stores weaker than promised are warned of; production refuses one that evicts", async () => {
  const place = await openPlace();
  const [port = 0] = await place.ports(1);
  const redis = new RedisServer(place.program, place.folder, port, [
    ...serverSettings(place.folder, port),
    "appendonly no",
    "maxmemory-policy allkeys-lru",
  ]);
  let node: NodeProcess | null = null;
  try {
    await redis.start();
    const bare = {
      ...productionEnv(),
      REDIS_URL: `redis://127.0.0.1:${port}`,
      SVC_SANDBOX: "none",
      SVC_LOG_LEVEL: "warn",
    };
    expect(sentence(await main([], bare))).toContain("maxmemory-policy is allkeys-lru. Set it to noeviction.");
    await redis.admin.config("SET", "maxmemory-policy", "noeviction");
    node = await startNodeProcess(stores, { dataDir: bare.SVC_DATA_DIR, env: bare });
    const ready = (await (await fetch(`${node.url}/health/ready`)).json()) as {
      status: string;
      warnings: { code: string }[];
    };
    const codes = ready.warnings.map(({ code }) => code);
    expect(ready.status).toBe("degraded");
    // The tests' PostgreSQL has no standby, and gives up safety for speed.
    expect(codes).toEqual(expect.arrayContaining(["redis_appendonly", "postgres_standby"]));
    expect(codes).not.toContain("redis_maxmemory_policy");
    for (const code of ["redis_appendonly", "postgres_standby"]) {
      expect(node.output).toMatch(new RegExp(`"level":"warn".*"code":"${code}".*"msg":"stores"`));
    }
  } finally {
    await node?.dispose();
    await redis.dispose();
    place.remove();
  }
}, 60_000);

const bwrap = Bun.which("bwrap");
test.skipIf(bwrap === null)("production without anything that holds agents starts only if told so", async () => {
  // The whole machine as it is, but for this one program.
  const without = [bwrap ?? "", "--dev-bind", "/", "/", "--ro-bind", "/dev/null", realpathSync(bwrap ?? "/")];
  const bare = { ...productionEnv(), SVC_DOCKER_SOCKET: "/nowhere.sock" };
  expect(sentence(await main([], bare, without))).toMatch(/bubblewrap.*it is missing.*SVC_SANDBOX=none/);
  const wanted = { ...env(), SVC_SANDBOX: "bubblewrap", SVC_DOCKER_SOCKET: "/nowhere.sock" };
  const hidden = [...without, "--ro-bind-try", "/dev/null", "/usr/bin/apt-get"];
  expect(sentence(await main([], wanted, hidden))).toContain("bubblewrap (bwrap) cannot run (it is missing)");
  const dataDir = bare.SVC_DATA_DIR;
  chmodSync(dataDir, 0o755);
  const trusting = { ...bare, SVC_SANDBOX: "none", SVC_LOG_LEVEL: "warn" };
  const node = await startNodeProcess(stores, { dataDir, env: trusting });
  expect((await node.call("GET", "/health/ready")).body.warnings).toContainEqual({
    code: "unsandboxed",
    message: "process: The agent runs without a sandbox on this node",
  });
  expect(node.output).toContain("agents run WITHOUT a sandbox");
  expect((await lstat(node.dataDir)).mode & 0o777).toBe(0o700);
  await node.dispose();
});

/** A port that nothing on this host listens on. */
async function closedPort(): Promise<number> {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const port = server.port ?? 0;
  await server.stop(true);
  return port;
}

test("a start that fails early leaves no connection to Redis open", async () => {
  const redis = await StoreProxy.to(stores.redisUrl);
  let during = 0;
  const broken = defineFeature({
    name: "broken",
    open: async () => {
      await until(() => redis.connections >= 2, { what: "the runtime's connections" });
      during = redis.connections;
      throw new Error("does not open");
    },
  });
  const config = loadConfig({ ...env(), SVC_LOG_LEVEL: "silent", REDIS_URL: redis.url });
  await expect(startNode(config, () => {}, { features: [broken] })).rejects.toThrow("does not open");
  expect(during).toBeGreaterThanOrEqual(2);
  await until(() => redis.connections === 0, { what: "the connections to close" });
  redis.close();
});

describe("signals to stop", () => {
  /** What the process does, signal by signal. */
  function asked(stop: () => Promise<void>) {
    const done: string[] = [];
    let now = 0;
    const handle = stopHandler({
      stop: () => {
        done.push("stop");
        return stop();
      },
      say: (line) => void done.push(line),
      exit: (code) => void done.push(`exit ${code}`),
      now: () => now,
    });
    return {
      done,
      at(ms: number) {
        now = ms;
        handle();
      },
    };
  }
  const never = () => new Promise<void>(() => {});

  test("within two seconds are one; a later one ends the process at once", () => {
    const { done, at } = asked(never);
    for (const ms of [0, 1, 1_999]) at(ms);
    expect(done).toEqual(["stopping …", "stop"]);
    at(2_000);
    expect(done.at(-1)).toBe("exit 130");
  });

  test("end it with 0 once it has stopped, with 1 where it could not", async () => {
    const fine = asked(async () => {});
    const broken = asked(() => Promise.reject(new Error("no")));
    for (const { at } of [fine, broken]) at(0);
    await Bun.sleep(0);
    expect([fine.done.at(-1), broken.done.at(-1)]).toEqual(["exit 0", "exit 1"]);
  });

  test("leave what takes too long, but never the stores", async () => {
    const disposer = new Disposer();
    const done: string[] = [];
    disposer.push(async () => void done.push("stores"), { always: true });
    disposer.push(() => done.push("skipped"));
    disposer.push(never);
    disposer.push(() => Promise.reject(new Error("no")));
    disposer.push(() => done.push("first"));
    await disposer.dispose((error) => done.push(String(error)), 1);
    expect(done).toEqual(["first", "Error: no", "stores"]);
  });
});

describe.each([
  ["Ctrl-C at its terminal", (shell: Bun.Subprocess) => void shell.terminal?.write("\x03")],
  ["the end of its terminal", (shell: Bun.Subprocess) => shell.terminal?.close()],
])("a node of `npm start` after %s", (_, leave) => {
  test("finishes what is under way and leaves no store running", async () => {
    const dataDir = scratch("npm-start");
    let output = "";
    const shell = Bun.spawn(["npm", "start"], {
      cwd: root,
      env: {
        PATH: process.env.PATH ?? "",
        HOME: dataDir,
        SVC_PORT: "0",
        SVC_INTERNAL_PORT: "0",
        SVC_EGRESS_PORT: "0",
        SVC_DATA_DIR: dataDir,
        SVC_LOG_LEVEL: "warn",
      },
      terminal: {
        data: (_, bytes) => {
          output += Buffer.from(bytes).toString();
        },
      },
    });
    await until(() => output.includes("svc is ready"), { what: "the banner", timeoutMs: 60_000 });
    const stores = ["postgres.pid", "redis.pid"].map((name) =>
      Number(readFileSync(join(dataDir, "stores", name), "utf8")),
    );
    const [card = ""] = readdirSync(dataDir).filter((name) => /^node-\d+\.json$/.test(name));
    const node = Number(/\d+/.exec(card)?.[0]);
    const alive = (pid: number) =>
      existsSync(`/proc/${pid}/cmdline`) && readFileSync(`/proc/${pid}/cmdline`).length > 0;
    expect([...stores, node].map(alive)).toEqual([true, true, true]);
    leave(shell);
    await until(() => !alive(node), { what: "the node to end", timeoutMs: 30_000 });
    expect(stores.map(alive)).toEqual([false, false]);
    // What a node that drained removes.
    expect(existsSync(join(dataDir, card))).toBe(false);
    if (!shell.terminal?.closed) expect(output).toContain("stopping …");
    await shell.exited;
  }, 120_000);
});

test("the banner says where it is and what to type", async () => {
  const node = await startNodeProcess(stores, { env: { SVC_LOG_LEVEL: "silent" } });
  await until(() => node.output.includes(`http://localhost:${node.port}`), { what: "the banner" });
  expect(node.output).toContain("npm run -s svc -- run src/features/agents/sample/hello-agent.yaml");
  expect(node.output).toContain("scripted");
  expect((await node.call("GET", "/health/ready")).body.status).toBe("ready");
  expect(await node.stop("SIGINT")).toBe(0);
  await node.dispose();
});
