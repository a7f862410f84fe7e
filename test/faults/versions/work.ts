/** Load of every kind on nodes of two versions, with a memory of what was accepted. */

import { expect } from "bun:test";
import type { Sql } from "../../../src/store/postgres/pool.ts";
import { signed } from "../../features/stimuli/fixture.ts";
import { Followed } from "../../harness/events.ts";
import type { LooseJson } from "../../harness/loose-json.ts";
import { manifest, say } from "../../harness/manifests.ts";
import type { Answer, NodeProcess } from "../../harness/node/node-process.ts";
import { until } from "../../harness/until.ts";

/** How long a client goes on with one thing, ms. */
const patienceMs = 90_000;
const secret = "a-secret-of-both-versions";

const asks = { kind: "Human", prompt: "Go on?" };
const end = { kind: "System", command: "noop", transitions: [] };
const onward = (condition: string) => [{ condition, target: "END" }];

/** By name: the state in which a run begins. From there it goes to its end. */
const workflows = {
  approved: { ...asks, transitions: onward("approved") },
  waited: { ...asks, timeout: "2s", transitions: onward("on_timeout") },
  nested: {
    kind: "Subworkflow",
    workflow_id: "approved",
    mode: "blocking",
    result_key: "below",
    transitions: onward("always"),
  },
  routed: { kind: "System", command: "noop", transitions: onward("always") },
} as const;

export class Work {
  /** Those that clients call. */
  nodes: readonly NodeProcess[] = [];
  /** Runs of workflows that clients started, with the status that each must end with. */
  private readonly runs = new Map<string, string>();
  private readonly executions = new Set<string>();
  private readonly deliveries = new Set<string>();
  private readonly errors: string[] = [];
  private done = 0;
  private agent = "";
  private next = 0;
  private stopping = false;
  private running: readonly Promise<void>[] = [];

  constructor(private readonly sql: Sql) {}

  async begin(): Promise<void> {
    for (const [name, BEGIN] of Object.entries(workflows)) {
      const spec = { initial_state: "BEGIN", states: { BEGIN, END: end } };
      await this.ok("POST", "/v1/workflows", { apiVersion: "svc.dev/v1", kind: "Workflow", metadata: { name }, spec });
    }
    for (const acknowledge of ["routed", "received"]) {
      await this.ok("POST", "/v1/stimulus-routes", { source: acknowledge, workflow: "routed", secret, acknowledge });
    }
    this.agent = (await this.ok("POST", "/v1/agents", manifest({ script: [say("done")], tools: [] }))).agent_id;
    const acts = [
      async () => this.approve(await this.start("approved", "completed")),
      () => this.nest(),
      () => this.wait(),
      () => this.execute(),
      () => this.deliver("routed"),
      () => this.deliver("received"),
    ];
    this.running = acts.map((act) => this.keepOn(act));
  }

  private async keepOn(act: () => Promise<void>): Promise<void> {
    while (!this.stopping) {
      await act().then(
        () => this.done++,
        (error: Error) => this.errors.push(error.message),
      );
    }
  }

  /** Waits until as many more things were done. */
  async more(count: number): Promise<void> {
    const goal = this.done + count;
    await until(() => this.done >= goal, { what: `${count} more`, timeoutMs: patienceMs });
  }

  /** Starts a run that waits until its own time is up. */
  async leave(seconds: number): Promise<void> {
    await this.start("approved", "timed_out", { timeout_seconds: seconds });
  }

  private async start(workflow: keyof typeof workflows, status: string, body: object = {}): Promise<string> {
    const { execution_id: id } = await this.ok("POST", `/v1/workflows/${workflow}/run`, body);
    this.runs.set(id, status);
    return id;
  }

  private async approve(run: string): Promise<void> {
    const { waiting_for } = await this.reached(run, (record) => record.waiting_for !== null);
    await this.ok("POST", `/v1/human-approvals/${waiting_for.approval_id}/approve`);
  }

  /** A run that waits for another one, which is approved. */
  private async nest(): Promise<void> {
    const run = await this.start("nested", "completed");
    const child = await until(
      async () => (await this.ok("GET", `/v1/workflows/executions?parent_execution_id=${run}`)).executions[0]?.id,
      { what: "the child", timeoutMs: patienceMs },
    );
    this.runs.set(child, "completed");
    await this.approve(child);
    await this.reached(run, ({ ended_at }) => ended_at !== null);
  }

  /** A run that goes on when its state's time is up. */
  private async wait(): Promise<void> {
    const run = await this.start("waited", "completed");
    await this.reached(run, ({ ended_at }) => ended_at !== null);
  }

  /** An agent, whose events are followed to the end at any node. */
  private async execute(): Promise<void> {
    const { execution_id: id } = await this.ok("POST", "/v1/executions", { agent_id: this.agent, input: "" });
    this.executions.add(id);
    for (let isOver = false; !isOver; ) {
      const node = this.nodes[this.next++ % this.nodes.length] as NodeProcess;
      const headers = { Authorization: `Bearer ${await node.token().catch(() => "")}` };
      const followed = new Followed(`${node.url}/v1/executions/${id}/stream`, headers);
      const late = setTimeout(() => followed.close(), patienceMs);
      await followed.done;
      clearTimeout(late);
      isOver = followed.names.at(-1) === "execution_completed";
      if (!isOver && this.stopping && followed.ended) throw new Error(`a stream ended with ${followed.names.at(-1)}`);
      if (!isOver) await Bun.sleep(50);
    }
  }

  private async deliver(source: string): Promise<void> {
    const key = crypto.randomUUID();
    const headers = { "X-Idempotency-Key": key, "X-Svc-Signature": signed(key, secret) };
    this.deliveries.add(key);
    await this.call(`delivery to ${source}`, async ({ url }) => {
      const response = await fetch(`${url}/v1/webhooks/${source}`, { method: "POST", headers, body: key });
      // Taken before: the answer did not come.
      return { status: response.status === 409 ? 200 : response.status, body: await response.text() };
    });
  }

  private reached(run: string, isWished: (record: LooseJson) => boolean): Promise<LooseJson> {
    return until(
      async () => {
        const record = await this.ok("GET", `/v1/workflows/executions/${run}`);
        return isWished(record) && record;
      },
      { what: `run ${run}`, timeoutMs: patienceMs, everyMs: 50 },
    );
  }

  private async ok(method: string, path: string, body?: unknown): Promise<LooseJson> {
    const headers = method === "POST" ? { "Idempotency-Key": crypto.randomUUID() } : {};
    return (await this.call(`${method} ${path}`, (node) => node.call(method, path, body, headers))).body;
  }

  /** A call that fails for the service's sake is sent to the next node, as the same call. */
  private async call<A extends Pick<Answer, "status" | "body">>(what: string, send: (node: NodeProcess) => Promise<A>) {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      const answer = await send(this.nodes[this.next++ % this.nodes.length] as NodeProcess).catch(() => null);
      if (answer !== null && answer.status < 300) return answer;
      if ((answer !== null && answer.status < 500) || performance.now() > deadline)
        throw new Error(`${what}: ${answer?.status} ${JSON.stringify(answer?.body)}`);
      await Bun.sleep(50);
    }
  }

  /** Ends the load. Everything accepted must end, once and as it should, and nothing else may have come to be. */
  async settle(): Promise<void> {
    const { sql } = this;
    this.stopping = true;
    await Promise.all(this.running);
    expect(this.errors).toEqual([]);
    const open = () => sql`
      select 'run' as what, run_id::text as id, started_at from workflow_runs where ended_at is null
      union all select 'execution', execution_id::text, started_at from executions where ended_at is null
      union all select 'stimulus', id::text, received_at from stimuli where status = 'received'`;
    await until(async () => (await open()).length === 0, { what: "all to end", timeoutMs: 40_000 }).catch(async () => {
      throw new Error(`still open: ${JSON.stringify(await open())}`);
    });
    const runs = await sql<{ id: string; status: string; stimulus: string | null }[]>`
      select run_id::text as id, status, stimulus_id::text as stimulus from workflow_runs`;
    const started = runs.filter(({ stimulus }) => stimulus === null).map(({ id, status }) => [id, status] as const);
    expect(new Map(started)).toEqual(this.runs);
    const stimuli = await sql<{ key: string; id: string; status: string }[]>`
      select idempotency_key as key, id::text as id, status from stimuli`;
    expect(stimuli.map(({ key }) => key).toSorted()).toEqual([...this.deliveries].toSorted());
    expect(stimuli.filter(({ status }) => status !== "classified")).toEqual([]);
    const routed = runs.flatMap(({ stimulus, status }) => (stimulus === null ? [] : [`${stimulus} ${status}`]));
    expect(routed.toSorted()).toEqual(stimuli.map(({ id }) => `${id} completed`).toSorted());
    const executions = await sql`select execution_id::text as id, status from executions`;
    expect(new Map(executions.map(({ id, status }) => [id, status]))).toEqual(
      new Map([...this.executions].map((id) => [id, "completed"])),
    );
    expect([...(await sql`select kind, type, error from runtime_dead_letters`)]).toEqual([]);
  }
}
