/** A whole node and what tests of workflows do with it over and over. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Followed } from "../../../harness/events.ts";
import type { LooseJson } from "../../../harness/loose-json.ts";
import { type AgentOptions, manifest } from "../../../harness/manifests.ts";
import { type Answer, type NodeProcess, startNodeProcess } from "../../../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../../../harness/stores.ts";
import { until } from "../../../harness/until.ts";

const samples = join(import.meta.dir, "../../../../src/features/workflows/sample");

export class NodeFixture {
  constructor(
    readonly stores: TestStores,
    readonly node: NodeProcess,
  ) {}

  static async open(env: Readonly<Record<string, string>> = {}): Promise<NodeFixture> {
    const stores = await freshStores();
    return new NodeFixture(stores, await startNodeProcess(stores, { env: { SVC_LOG_LEVEL: "warn", ...env } }));
  }

  async close(): Promise<void> {
    await this.node.dispose();
    await this.stores.dispose();
  }

  /** Registers or deploys a sample of the project, as it is or with what a test makes of it. */
  async sample(path: string, made: (text: string) => string = (text) => text): Promise<void> {
    const text = made(readFileSync(join(samples, `${path}.yaml`), "utf8"));
    await this.ok("POST", path.startsWith("agents/") ? "/v1/agents" : "/v1/workflows", text);
  }

  async deploy(options: AgentOptions): Promise<string> {
    return (await this.ok("POST", "/v1/agents", manifest(options))).agent_id;
  }

  /** Registers a workflow of these states; the first one begins. */
  async register(
    name: string,
    states: Readonly<Record<string, object>>,
    more: { spec?: object; metadata?: object } = {},
  ) {
    const spec = { initial_state: Object.keys(states)[0], states, ...more.spec };
    const document = { apiVersion: "svc.dev/v1", kind: "Workflow", metadata: { name, ...more.metadata }, spec };
    return this.ok("POST", "/v1/workflows", document);
  }

  async start(name: string, body: object = {}): Promise<string> {
    return (await this.ok("POST", `/v1/workflows/${name}/run`, body)).execution_id;
  }

  async record(id: string): Promise<LooseJson> {
    return this.ok("GET", `/v1/workflows/executions/${id}`);
  }

  /** Waits until the record is as wished. @returns the record */
  reached(id: string, isWished: (record: LooseJson) => boolean, what: string): Promise<LooseJson> {
    return until(
      async () => {
        const record = await this.record(id);
        return isWished(record) ? record : null;
      },
      { timeoutMs: 60_000, what, everyMs: 30 },
    );
  }

  ended(id: string): Promise<LooseJson> {
    return this.reached(id, ({ ended_at }) => ended_at !== null, "the run to end");
  }

  /** The approval that a run waits for. */
  async approvalOf(id: string): Promise<string> {
    const { waiting_for } = await this.reached(id, (record) => record.waiting_for !== null, "the run to wait");
    return waiting_for.approval_id;
  }

  async approve(id: string): Promise<Answer> {
    return this.node.call("POST", `/v1/human-approvals/${await this.approvalOf(id)}/approve`);
  }

  /** Executions of agents that a run started. */
  async agentsOf(id: string): Promise<{ agent_name: string; status: string; id: string }[]> {
    return (await this.ok("GET", `/v1/executions?workflow_execution_id=${id}`)).executions;
  }

  async logOf(id: string): Promise<LooseJson[]> {
    return (await this.ok("GET", `/v1/workflows/executions/${id}/logs?limit=500`)).events;
  }

  async follow(id: string, query = ""): Promise<Followed> {
    const headers = { Authorization: `Bearer ${await this.node.token()}` };
    return new Followed(`${this.node.url}/v1/workflows/executions/${id}/logs/stream${query}`, headers);
  }

  async ok(method: string, path: string, body?: unknown): Promise<LooseJson> {
    const answer = await this.node.call(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }
}
