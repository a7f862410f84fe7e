/** A node as a process of its own for a bench, and how to talk to it. */
import { join } from "node:path";
import { systemTenant } from "../../actors/identity/identity.ts";
import { openPostgres } from "../../src/store/postgres/pool.ts";
import { liftRates } from "../harness/rates.ts";
import type { BenchStores } from "./stores.ts";

export interface BenchService {
  readonly url: string;
  readonly internalUrl: string;
  readonly egressPort: number;
  readonly pid: number;
  /** A development token; for another tenant than the system's with `X-Tenant-Id`. */
  readonly token: string;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  /** The token an execution's (stubbed) instance was launched with, once it is. */
  tokenOf(executionId: string): Promise<string>;
  /** Likewise what it shows the egress proxy. */
  egressPasswordOf(executionId: string): Promise<string>;
  stop(): Promise<void>;
}

export async function startBenchService(
  stores: BenchStores,
  name: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<BenchService> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "node.ts"), ...args], {
    stdout: "pipe",
    stderr: "inherit",
    env: {
      PATH: process.env.PATH ?? "",
      SVC_MODE: "development",
      SVC_LOG_LEVEL: "warn",
      DATABASE_URL: stores.databaseUrl,
      REDIS_URL: stores.redisUrl,
      SVC_DATABASE_SCHEMA: name,
      SVC_REDIS_PREFIX: name,
      SVC_DATA_DIR: join(stores.dataDir, name),
      SVC_PORT: "0",
      SVC_INTERNAL_PORT: "0",
      SVC_EGRESS_PORT: "0",
      SVC_PUBLIC_URL: "http://bench.test",
      SVC_LOOP_MAX_ROUNDS: "200",
      // Options of Bun for nodes, such as `--cpu-prof`.
      ...(process.env.BENCH_NODE_OPTIONS === undefined ? {} : { BUN_OPTIONS: process.env.BENCH_NODE_OPTIONS }),
      ...env,
    },
  });
  const lines = new Lines(child.stdout);
  const { port, internalPort, egressPort } = await lines.find((line) => "port" in line);
  const url = `http://127.0.0.1:${port}`;
  const sql = openPostgres({ url: stores.databaseUrl, schema: name, poolSize: 1 });
  // Benches act in this tenant for the most part; what they use is counted like any use, and limited by nothing.
  await liftRates(sql, systemTenant);
  await sql.end({ timeout: 2 });
  const form = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: "svc-dev",
    client_secret: "svc-dev-secret",
    expires_in: "86400",
  });
  const granted = await fetch(`${url}/realms/svc-system/protocol/openid-connect/token`, { method: "POST", body: form });
  const { access_token: token } = (await granted.json()) as { access_token: string };
  return {
    url,
    internalUrl: `http://127.0.0.1:${internalPort}`,
    egressPort: Number(egressPort),
    pid: child.pid,
    token,
    post: (path, body, headers = {}) =>
      fetch(url + path, {
        method: "POST",
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    async tokenOf(executionId) {
      const { token: executionToken } = await lines.find((line) => line.launched === executionId);
      return String(executionToken);
    },
    async egressPasswordOf(executionId) {
      const { egress } = await lines.find((line) => line.launched === executionId);
      return String(egress);
    },
    async stop() {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}

/** What the node says on its standard output: one JSON object a line. */
class Lines {
  private readonly seen: Record<string, unknown>[] = [];
  private wake: (() => void) | null = null;
  private ended = false;

  constructor(stream: ReadableStream<Uint8Array>) {
    void this.read(stream);
  }

  async find(matches: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> {
    for (;;) {
      const index = this.seen.findIndex(matches);
      if (index >= 0) return this.seen.splice(index, 1)[0] ?? {};
      if (this.ended) throw new Error("the node ended");
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  private async read(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of stream) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      this.seen.push(...lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line)));
      this.wake?.();
    }
    this.ended = true;
    this.wake?.();
  }
}

/** An agent that exists only to be started. */
export async function deployBenchAgent(
  service: BenchService,
  name: string,
  instruction = "Stand still.",
  security: Record<string, unknown> = {},
): Promise<string> {
  const manifest = {
    apiVersion: "svc.dev/v1",
    kind: "Agent",
    metadata: { name, version: "1.0.0" },
    spec: {
      runtime: { language: "python", version: "3.11" },
      task: { instruction },
      tools: ["cmd.run", "fs.*"],
      security: { resources: { timeout: "1h" }, ...security },
    },
  };
  const answer = await service.post("/v1/agents?force=true", manifest);
  if (!answer.ok) throw new Error(`deploy: ${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { agent_id: string }).agent_id;
}

/** Resident memory of a process, MiB. */
export async function residentMiB(pid: number): Promise<number> {
  const status = await Bun.file(`/proc/${pid}/status`).text();
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}
