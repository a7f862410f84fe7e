/** A whole node as a real process on stores of its own, to be asked, killed and started again. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HostAndPort } from "../../../src/store/redis/servers.ts";
import type { LooseJson } from "../loose-json.ts";
import { processesWith } from "../processes.ts";
import { liftRates } from "../rates.ts";
import type { TestStores } from "../stores.ts";
import { until } from "../until.ts";

const root = join(import.meta.dir, "../../..");
/** Answers of the node are checked as those of this process are. */
const checks = join(import.meta.dir, "node-with-answer-checks.ts");

export interface NodeOptions {
  /** Shared by nodes that shall share sandboxes; own one when absent. */
  readonly dataDir?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Instead of the service's own, from the project's root. */
  readonly program?: string;
  /** A checkout of another version, whose service is run instead. */
  readonly checkout?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // What a body holds is what the test is about.
  readonly body: LooseJson;
}

const maxRestarts = 5;

export class NodeProcess {
  #child: Bun.Subprocess<"ignore", "pipe", "pipe"> | null = null;
  #output = "";
  readonly #tokens = new Map<string, string>();
  port = 0;
  internalPort = 0;

  constructor(
    readonly dataDir: string,
    readonly env: Readonly<Record<string, string>>,
    private readonly ownsData: boolean,
    private readonly program = "src/main.ts",
    private readonly checkout: string | null = null,
  ) {}

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }
  get internalUrl(): string {
    return `http://127.0.0.1:${this.internalPort}`;
  }
  get pid(): number {
    return this.#child?.pid ?? 0;
  }
  /** Everything it wrote so far. */
  get output(): string {
    return this.#output;
  }

  async start(): Promise<this> {
    // The checks are those of this version's answers.
    const preload = this.checkout === null ? ["--preload", checks] : [];
    const child = Bun.spawn([process.execPath, ...preload, join(this.checkout ?? root, this.program)], {
      cwd: this.checkout ?? root,
      env: { ...this.env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) void this.#collect(stream);
    const card = await until(
      () =>
        child.exitCode === null
          ? JSON.parse(readFileSync(join(this.dataDir, `node-${child.pid}.json`), "utf8"))
          : { ended: true },
      { timeoutMs: 50_000, what: "the node to be ready" },
    ).catch((error: unknown) => {
      child.kill("SIGKILL");
      throw new Error(`${error}\n${this.#output}`);
    });
    if (card.ended) throw new Error(`the node ended: ${this.#output}`);
    this.port = card.port;
    this.internalPort = card.internal_port;
    return this;
  }

  /** Starts it again under the same ports, as an operator would who finds one taken. */
  async restart(): Promise<void> {
    const env = { ...this.env, SVC_PORT: String(this.port), SVC_INTERNAL_PORT: String(this.internalPort) };
    Object.assign(this, { env });
    for (let attempt = 1; ; attempt += 1) {
      const before = this.#output.length;
      try {
        await this.start();
        return;
      } catch (error) {
        // For a moment one of its ports may be the near end of another connection.
        const isTaken = this.#output.slice(before).includes(" is taken: ");
        if (!isTaken || attempt === maxRestarts) throw error;
      }
    }
  }

  /** `kill -9`. */
  async kill(): Promise<void> {
    this.#child?.kill("SIGKILL");
    await this.#child?.exited;
  }

  /** @returns the exit code */
  async stop(signal: "SIGTERM" | "SIGINT" = "SIGTERM"): Promise<number> {
    this.#child?.kill(signal);
    return (await this.#child?.exited) ?? 0;
  }

  async dispose(): Promise<void> {
    if (this.#child?.exitCode === null) await this.stop();
    if (!this.ownsData) return;
    // Agents and commands outlive a node that stops, for the next one; here none follows.
    for (const pid of processesWith(this.dataDir)) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It ended with one of the others.
      }
    }
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  /** A development token. @param tenant of an enterprise, by a token of its realm; the system's when absent */
  async token(fields: Readonly<Record<string, string>> = {}, realm = "svc-system"): Promise<string> {
    const key = JSON.stringify([fields, realm]);
    const known = this.#tokens.get(key);
    if (known !== undefined) return known;
    const credentials =
      realm === "svc-system"
        ? { grant_type: "client_credentials", client_id: "svc-dev", client_secret: "svc-dev-secret" }
        : { grant_type: "password", username: "newUser", password: "dev" };
    const response = await fetch(`${this.url}/realms/${realm}/protocol/openid-connect/token`, {
      method: "POST",
      body: new URLSearchParams({ ...credentials, expires_in: "3600", ...fields }),
    });
    const { access_token } = (await response.json()) as { access_token: string };
    this.#tokens.set(key, access_token);
    return access_token;
  }

  /** One call by the system's service account, or by whoever the headers say. */
  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const isText = typeof body === "string";
    const response = await fetch(this.url + path, {
      method,
      headers: {
        Authorization: `Bearer ${await this.token()}`,
        ...(body === undefined ? {} : { "Content-Type": isText ? "application/yaml" : "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === "" ? null : JSON.parse(text) };
  }

  async #collect(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of stream) this.#output += decoder.decode(chunk, { stream: true });
  }
}

/** The settings that say where Redis is. */
function redisSettings({ redisUrl, redisServers = redisUrl }: TestStores): Record<string, string> {
  if (typeof redisServers === "string") return { REDIS_URL: redisServers };
  if ("url" in redisServers) return { REDIS_URL: redisServers.url };
  const list = (hosts: readonly HostAndPort[]) => hosts.map(({ host, port }) => `${host}:${port}`).join(",");
  if ("cluster" in redisServers) return { REDIS_CLUSTER: list(redisServers.cluster) };
  return { REDIS_SENTINELS: list(redisServers.sentinels), REDIS_SENTINEL_NAME: redisServers.name };
}

/**
 * Starts a node in development mode on any free ports. The system's tenant, which most tests call by, gets overrides that
 * lift its rates; other tenants have those of their tiers.
 */
export async function startNodeProcess(
  stores: TestStores,
  { dataDir, env = {}, program, checkout }: NodeOptions = {},
): Promise<NodeProcess> {
  const folder = dataDir ?? mkdtempSync(join(tmpdir(), "svc-node-"));
  const node = new NodeProcess(
    folder,
    {
      PATH: process.env.PATH ?? "",
      HOME: process.env.HOME ?? "",
      SVC_MODE: "development",
      SVC_PORT: "0",
      SVC_INTERNAL_PORT: "0",
      SVC_EGRESS_PORT: "0",
      SVC_PUBLIC_URL: "http://svc.test",
      SVC_DATA_DIR: folder,
      // Nodes on the same stores open what the others sealed, whatever folder they have.
      SVC_MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
      SVC_DATABASE_SCHEMA: stores.schema,
      SVC_REDIS_PREFIX: stores.prefix,
      DATABASE_URL: stores.databaseUrl,
      ...redisSettings(stores),
      SVC_LEASE_TTL_MS: "1500",
      // Whatever container engine this machine may have.
      SVC_RUNTIME_DEFAULT: "process",
      ...env,
    },
    dataDir === undefined,
    program,
    checkout,
  );
  await node.start();
  // A former version has another table.
  if (checkout === undefined) await liftRates(stores.sql, "svc-system");
  return node;
}
