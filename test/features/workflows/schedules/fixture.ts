/** Workflows with schedules on a node. Manifests know minutes only: a test makes a schedule due sooner by its beginning. */
import type { LooseJson } from "../../../harness/loose-json.ts";
import { until } from "../../../harness/until.ts";
import type { Headers, Fixture as NodeFixture } from "../../tenants/fixture.ts";

const noop = { DONE: { kind: "System", command: "noop", transitions: [] } };
/** Its runs live until they are told otherwise. */
export const asking = { ASK: { kind: "Human", prompt: "Go on?", timeout: "24h", transitions: [] } };
export const minute = 60_000;

export interface Scheduled {
  readonly version?: string;
  readonly states?: Readonly<Record<string, object>>;
  readonly storage?: object;
}

export function scheduledWorkflow(
  name: string,
  schedules: readonly object[],
  { version = "1.0.0", states = noop, storage }: Scheduled = {},
): object {
  const spec = { initial_state: Object.keys(states)[0], states, schedules, storage };
  return { apiVersion: "svc.dev/v1", kind: "Workflow", metadata: { name, version }, spec };
}

export function callsOf(at: Pick<NodeFixture, "node" | "stores">, headers: Headers) {
  const call = (method: string, path: string, body?: unknown, more: Headers = {}) =>
    at.node.call(method, path, body, { ...headers, ...more });
  async function ok(method: string, path: string, body?: unknown, more: Headers = {}): Promise<LooseJson> {
    const answer = await call(method, path, body, more);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }
  const path = (name: string, id: string, action = "") =>
    `/v1/workflows/${name}/schedules/${id}${action === "" ? "" : `/${action}`}`;
  return {
    call,
    ok,
    path,
    register: (...args: Parameters<typeof scheduledWorkflow>) =>
      ok("POST", "/v1/workflows", scheduledWorkflow(...args)),
    list: async (name: string): Promise<LooseJson[]> => (await ok("GET", `/v1/workflows/${name}/schedules`)).items,
    schedule: (name: string, id: string) => ok("GET", path(name, id)),
    runs: async (name: string): Promise<LooseJson[]> =>
      (await ok("GET", `/v1/workflows/executions?workflow_name=${name}&limit=500`)).items,

    /** Has the interval of a schedule be over soon. @param leftMs of a minute */
    async hasten(name: string, id: string, leftMs: number): Promise<void> {
      await ok("POST", path(name, id, "pause"));
      const begun = new Date(Date.now() - minute + leftMs);
      await at.stores.sql`update workflow_schedules set created_at = ${begun} where schedule_id = ${id}`;
      await ok("POST", path(name, id, "resume"));
    },

    /** Waits until the schedule started so many runs. */
    started: (name: string, count: number): Promise<LooseJson[]> =>
      until(
        async () => {
          const answer = await call("GET", `/v1/workflows/executions?workflow_name=${name}&limit=500`);
          return answer.body.items?.length >= count ? answer.body.items : null;
        },
        { timeoutMs: 30_000, what: `${count} runs of ${name}` },
      ),
  };
}
