/** Nodes that classify, over real stores; the executions of the router agents are what a test says they are. */

import type { StartRequest } from "../../../../actors/execution/start/request.ts";
import type { Arrival, Stimulus } from "../../../../actors/stimulus/stimulus.ts";
import {
  type Classifier,
  type ClassifierOptions,
  createClassifier,
} from "../../../../src/features/stimuli/classification/classify.ts";
import { createAcceptance } from "../../../../src/features/stimuli/intake/acceptance.ts";
import type { Router, StimulusSource } from "../../../../src/features/stimuli/sources/port.ts";
import { workflowChoices } from "../../../../src/features/workflows/definitions/choices.ts";
import { globalOwner, workflowRecords } from "../../../../src/features/workflows/definitions/records.ts";
import type { TailListener } from "../../../../src/runtime/port.ts";
import { fakeRuntime } from "../../../harness/runtime/fake-runtime.ts";
import { freshStores, type TestStores } from "../../../harness/stores.ts";

const newId = () => Bun.randomUUIDv7();

/** The event an execution ends with. */
export const completed = (output: unknown) => ({
  execution_completed: { final_output: typeof output === "string" ? output : JSON.stringify(output) },
});
export const choice = (workflow: string, confidence = 1) => completed({ workflow, confidence });

/** What routers' executions do, wherever they are started. */
class Executions {
  readonly started: { id: string; fresh: boolean; request: StartRequest }[] = [];
  readonly cancelled: string[] = [];
  /** Those that run now. */
  readonly running = new Set<string>();
  /** Called at a start; may refuse it, and say how the execution ends. */
  onStart: (id: string, request: StartRequest) => unknown = () => null;
  private readonly ends = new Map<string, unknown>();
  private readonly followers = new Map<string, TailListener[]>();

  async startAs(id: string, fresh: boolean, request: StartRequest): Promise<void> {
    if (!fresh && this.started.some((one) => one.id === id)) return;
    const end = await this.onStart(id, request);
    this.started.push({ id, fresh, request });
    this.running.add(id);
    if (end) this.end(id, end);
  }

  end(id: string, event: unknown): void {
    if (this.ends.has(id)) return;
    this.ends.set(id, event);
    this.running.delete(id);
    for (const listener of this.followers.get(id) ?? []) listener([{ seq: 1, at: 0, entry: event as never }], false);
  }

  readonly runtime = fakeRuntime({
    tail: ({ key }, _, listener) => {
      this.followers.set(key, [...(this.followers.get(key) ?? []), listener]);
      if (this.ends.has(key)) {
        queueMicrotask(() => listener([{ seq: 1, at: 0, entry: this.ends.get(key) as never }], false));
      }
      return () => {
        this.followers.set(
          key,
          (this.followers.get(key) ?? []).filter((one) => one !== listener),
        );
      };
    },
    ask: async ({ key }, type, body) => {
      if (type !== "cancel") throw new Error(type);
      this.cancelled.push(key);
      this.end(key, { execution_cancelled: body });
    },
  });
}

let tenants = 0;
let prefixes = 0;

/** @param shared stores to use the database of; queues are apart */
export async function openRouting(shared?: TestStores) {
  const stores =
    shared === undefined
      ? await freshStores()
      : { ...shared, prefix: `${shared.prefix}-${++prefixes}`, dispose: () => Promise.resolve() };
  const executions = new Executions();
  const routes = new Map<string, Pick<StimulusSource, "workflow" | "workflowVersion" | "enabled">>();
  const reports: string[] = [];
  const open: Classifier[] = [];
  const records = workflowRecords(stores.sql);
  const acceptance = createAcceptance({ sql: stores.sql, now: Date.now, newId, newRunId: newId });

  return {
    stores,
    executions,
    reports,
    /** Direct routes, by `tenant source`. */
    routes,
    newTenant: () => `team-${++tenants}`,

    /** A node; it takes up no jobs yet. */
    node(more: Partial<ClassifierOptions> = {}): Classifier {
      const classifier = createClassifier({
        sql: stores.sql,
        redisServers: stores.redisUrl,
        prefix: stores.prefix,
        executions,
        runtime: executions.runtime,
        choices: workflowChoices(stores.sql),
        sourceOf: async (tenant, source) => (routes.get(`${tenant} ${source}`) as StimulusSource | undefined) ?? null,
        concurrency: 50,
        now: Date.now,
        newId,
        report: (event) => reports.push(event),
        lockMs: 400,
        queueAgainMs: 300,
        ...more,
      });
      open.push(classifier);
      return classifier;
    },

    /** @param tenant null: globalOwner's. @returns the workflow's id */
    async workflow(tenant: string | null, name: string, version = "1.0.0"): Promise<string> {
      const id = newId();
      await stores.sql.begin((tx) =>
        records.insert(
          tx,
          tenant ?? globalOwner,
          id,
          {
            name,
            version,
            description: `does ${name}`,
            labels: { kind: name },
            annotations: {},
            tags: [],
            metadata: {},
            inputSchema: null,
            manifestYaml: "",
            manifestSha256: "",
            definition: "{}",
            registeredRealm: "tenant-acme",
            registeredBy: "tests",
            deployer: {
              starter: {
                realm: "tenant-acme",
                kind: "tenant_user",
                sub: "tests",
                role: null,
                membership: "member",
                key_id: null,
              },
              email: null,
            },
          },
          new Date(),
        ),
      );
      return id;
    },

    async stimulus(tenant: string, more: Partial<Arrival> = {}): Promise<Stimulus> {
      const outcome = await acceptance.accept({
        tenant,
        source: "crm",
        channel: "api",
        acknowledge: "routed",
        content: "New lead: Ada",
        contentEncoding: "utf-8",
        contentType: null,
        contentSize: 13,
        contentSha256: "",
        headers: { "x-kind": "lead" },
        headersTruncated: false,
        key: null,
        guard: null,
        sourceId: null,
        override: null,
        replayOf: null,
        receivedBy: { kind: "consumer", sub: "ada", email: null, tier: null, realm: null },
        ...more,
      });
      if (!("accepted" in outcome)) throw new Error("a duplicate without a key");
      return outcome.accepted;
    },

    router: (tenant: string, more: Partial<Router> = {}): Router => ({
      tenant,
      agentId: "0198b000-0000-7000-8000-000000000001",
      confidenceThreshold: 0.7,
      timeoutSeconds: 20,
      allowedWorkflows: null,
      ...more,
    }),

    async close(): Promise<void> {
      await Promise.all(open.map((classifier) => classifier.close()));
      await stores.dispose();
    },
  };
}

export type Routing = Awaited<ReturnType<typeof openRouting>>;
