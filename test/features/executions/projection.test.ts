/** Lists, labels and counters after any history are what the states say. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { execution } from "../../../actors/execution/execution.ts";
import type { ExecutionState } from "../../../actors/execution/state.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { executionsProjection } from "../../../src/features/executions/projection.ts";
import { executionRecords, type ListFilter } from "../../../src/features/executions/records.ts";
import type { Change } from "../../../src/runtime/port.ts";
import { sampleHeader, samplePlan } from "../../actors/execution/fixture.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await freshStores();
});
afterAll(() => stores.dispose());

const tenants = ["north", "south"] as const;
const agents = [Bun.randomUUIDv7(), Bun.randomUUIDv7(), Bun.randomUUIDv7()] as const;
const page = { limit: 500, offset: 0, after: null };
const anything: ListFilter = {
  agentId: null,
  statuses: null,
  workflowName: null,
  workflowExecutionId: null,
  parentExecutionId: null,
  labels: {},
  startedAfter: null,
  startedBefore: null,
};
const statuses = ["pending", "running", "completed", "failed", "cancelled", "timed_out"] as const;

interface Held {
  readonly tenant: string;
  readonly state: ExecutionState;
}

function begun(now: number, agent: string, labels: Record<string, string>): ExecutionState {
  const header = sampleHeader({ agent_id: agent, labels, workflow_name: Object.keys(labels)[0] ?? null });
  const context = {
    now,
    kind: "execution",
    key: "e",
    tenant: "t",
    messageId: "m",
    replyTo: null,
    newId: () => Bun.randomUUIDv7(),
    newIdBeside: () => Bun.randomUUIDv7(),
  };
  return execution.receive.start(null, { header, plan: samplePlan() }, context).state as ExecutionState;
}

function ended(state: ExecutionState, status: ExecutionState["status"], at: number): ExecutionState {
  return { ...state, status, ending: { at, summary: "", error: null, error_code: null, reason: null } };
}

const label = fc.dictionary(fc.constantFrom("team", 'a"b', "é"), fc.constantFrom("red", "", "x\\y"), { maxKeys: 2 });
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ what: fc.constant("begin" as const), agent: fc.nat(2), tenant: fc.nat(1), label }),
  },
  { weight: 3, arbitrary: fc.record({ what: fc.constant("change" as const), which: fc.nat(), to: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("erase" as const), which: fc.nat() }) },
);

async function commit(changes: readonly Change[]): Promise<void> {
  await stores.sql.begin(async (tx) => {
    for (const { text, parameters } of executionsProjection.project(changes))
      await tx.unsafe(text, parameters as never[]);
  });
}

test("each list and each count is that of the states after any sequence", async () => {
  const records = executionRecords(stores.sql);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { maxLength: 8 }), async (commits) => {
      await stores.sql`truncate executions, execution_labels, runtime_counters cascade`;
      const held = new Map<string, Held>();
      let now = 1_900_000_000_000;
      for (const steps of commits) {
        const before = new Map(held);
        for (const one of steps) {
          now += 7;
          const [id, found] = [...held][one.what === "begin" ? 0 : one.which % Math.max(1, held.size)] ?? [];
          if (one.what === "begin") {
            const state = begun(now, agents[one.agent] ?? "", one.label);
            held.set(Bun.randomUUIDv7(), { tenant: tenants[one.tenant] ?? "", state });
          } else if (id !== undefined && found !== undefined) {
            const { tenant, state } = found;
            if (one.what === "erase") held.delete(id);
            else if (state.status === "pending") {
              held.set(id, {
                tenant,
                state: { ...state, status: "running", started_at: now + (one.to === 0 ? 3_600_000 : 0) },
              });
            } else if (state.status === "running") {
              held.set(id, { tenant, state: ended(state, statuses[2 + one.to] ?? "failed", now) });
            }
          }
        }
        const touched = new Set([...before.keys(), ...held.keys()]);
        await commit(
          [...touched]
            .filter((key) => before.get(key) !== held.get(key))
            .map((key) => ({
              key,
              tenant: (held.get(key) ?? before.get(key))?.tenant ?? "",
              before: (before.get(key)?.state ?? null) as unknown as Json,
              after: (held.get(key)?.state ?? null) as unknown as Json,
              version: 1,
            })),
        );
      }
      for (const tenant of tenants) {
        const own = [...held].filter(([, one]) => one.tenant === tenant);
        const idsOf = async (filter: Partial<ListFilter>) =>
          (await records.list(tenant, { ...anything, ...filter }, page)).map(({ execution_id }) => execution_id);
        const newest = (isWanted: (state: ExecutionState) => boolean) =>
          own
            .filter(([, { state }]) => isWanted(state))
            .sort(([, a], [, b]) => b.state.created_at - a.state.created_at)
            .map(([id]) => id);
        expect(await idsOf({})).toEqual(newest(() => true));
        for (const wanted of [["running"], ["pending", "failed", "failed"], ["completed", "cancelled", "running"]]) {
          expect(await idsOf({ statuses: wanted })).toEqual(newest(({ status }) => wanted.includes(status)));
        }
        const halfway = new Date(1_900_000_000_000 + (now - 1_900_000_000_000) / 2);
        expect(await idsOf({ startedAfter: halfway })).toEqual(
          newest(({ started_at, created_at }) => (started_at ?? created_at) > halfway.getTime()),
        );
        expect(await idsOf({ startedBefore: halfway, statuses: ["running"] })).toEqual(
          newest((s) => s.status === "running" && (s.started_at ?? s.created_at) < halfway.getTime()),
        );
        for (const [name, value] of [
          ["team", "red"],
          ['a"b', "x\\y"],
          ["é", ""],
        ] as const) {
          const isLabelled = ({ header }: ExecutionState) => header.labels[name] === value;
          expect(await idsOf({ labels: { [name]: value } })).toEqual(newest(isLabelled));
          expect(await idsOf({ labels: { [name]: value, team: "red" }, statuses: ["completed"] })).toEqual(
            newest(
              (s) =>
                ({ [name]: value, team: "red" })[name] === s.header.labels[name] &&
                s.header.labels.team === "red" &&
                s.status === "completed",
            ),
          );
        }
        const counts = await records.countByAgent(tenant, agents);
        for (const agent of agents) {
          expect(counts.get(agent) ?? 0).toBe(newest(({ header }) => header.agent_id === agent).length);
        }
      }
      const [{ count } = { count: -1 }] = await stores.sql<{ count: number }[]>`
        select count(*)::int as count from execution_labels`;
      expect(count).toBe(
        [...held.values()].reduce((sum, { state }) => sum + Object.keys(state.header.labels).length, 0),
      );
    }),
    { numRuns: 40 },
  );
}, 60_000);
