/** A node and what tests of executions do with it over and over. */

import { Followed, type Frame } from "../../harness/events.ts";
import { type AgentOptions, manifest } from "../../harness/manifests.ts";
import { type Answer, type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

export class ExecutionFixture {
  private constructor(
    readonly stores: TestStores,
    readonly node: NodeProcess,
  ) {}

  /** @param program instead of the service's own, from the project's root */
  static async open(env: Readonly<Record<string, string>> = {}, program?: string): Promise<ExecutionFixture> {
    const stores = await freshStores();
    return new ExecutionFixture(
      stores,
      await startNodeProcess(stores, { env: { SVC_LOG_LEVEL: "warn", ...env }, ...(program && { program }) }),
    );
  }

  async close(): Promise<void> {
    await this.node.dispose();
    await this.stores.dispose();
  }

  async deploy(options: AgentOptions = {}, headers: Readonly<Record<string, string>> = {}): Promise<string> {
    const answer = await this.node.call("POST", "/v1/agents", manifest(options), headers);
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    return answer.body.agent_id;
  }

  start(
    agentId: string,
    body: Record<string, unknown> = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    return this.node.call("POST", "/v1/executions", { agent_id: agentId, input: "", ...body }, headers);
  }

  /** Deploys, starts, and gives the execution's id. */
  async launch(options: AgentOptions, body: Record<string, unknown> = {}): Promise<string> {
    const answer = await this.start(await this.deploy(options), body);
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    return answer.body.execution_id;
  }

  async follow(executionId: string, query = "", headers: Readonly<Record<string, string>> = {}): Promise<Followed> {
    const bearer = { Authorization: `Bearer ${await this.node.token()}`, ...headers };
    return new Followed(`${this.node.url}/v1/executions/${executionId}/stream${query}`, bearer);
  }

  /** Every event of an execution, read to the end. */
  async events(executionId: string, query = ""): Promise<Frame[]> {
    const followed = await this.follow(executionId, query);
    await followed.done;
    return followed.frames;
  }

  async record(executionId: string, query = "") {
    return (await this.node.call("GET", `/v1/executions/${executionId}${query}`)).body;
  }

  /** Deploys, starts, and waits for the end. @returns the record */
  async run(options: AgentOptions, body: Record<string, unknown> = {}) {
    const executionId = await this.launch(options, body);
    return this.ended(executionId);
  }

  async ended(executionId: string) {
    return until(
      async () => {
        const record = await this.record(executionId, "?wait_seconds=10&include=llm");
        return /^(pending|running)$/.test(record.status) ? null : record;
      },
      { timeoutMs: 60_000, what: "the execution to end" },
    );
  }

  /** Waits until the stream has shown an event. */
  static seen(followed: Followed, name: string): Promise<Frame> {
    return until(() => followed.frames.find((frame) => frame.name === name), { timeoutMs: 30_000, what: name });
  }
}
