/** What can be read of runs: one, a page of them, the graph and the log. */
import { Problem } from "../../../../../actors/kernel/problem.ts";
import { workflowEvents } from "../../../../../actors/workflow/run/record/events.ts";
import { type RunGraph, runGraph, StepFold } from "../../../../../actors/workflow/run/record/graph.ts";
import {
  type ElementState,
  type RunElement,
  type RunRecord,
  runElement,
  runRecord,
} from "../../../../../actors/workflow/run/record/record.ts";
import { workflowRun } from "../../../../../actors/workflow/run/run.ts";
import type { RunState } from "../../../../../actors/workflow/run/state.ts";
import { type List, listOf, type Page } from "../../../../http/paging.ts";
import type { Address, Runtime } from "../../../../runtime/port.ts";
import type { RunFilter, RunRecords } from "../records.ts";
import { type WireEvent, wireEvent } from "./log.ts";

/** A run that is known to exist in the caller's tenant, without its blackboard. */
export interface FoundRun {
  readonly at: Address;
  readonly state: ElementState;
}

/** States read at once for a list, and how long the outputs of one page may be together. */
const statesAtOnce = 25;
const maxPageCharacters = 8 * 1_048_576;
/** One entry may hold a whole result. */
const entriesAtOnce = 50;
/** Entries of a log read at once; each may hold a large result. */
const eventsAtOnce = 20;

export interface RunHistoryOptions {
  readonly runtime: Runtime;
  readonly records: RunRecords;
  /** Unix milliseconds. */
  readonly now: () => number;
}

export type RunHistory = ReturnType<typeof runHistory>;

export function runHistory({ runtime, records, now }: RunHistoryOptions) {
  const runs = runtime.of(workflowRun);

  async function listed(tenant: string, executionId: string): Promise<ElementState | null> {
    return (await runs.readListed(tenant, [executionId])).get(executionId) ?? null;
  }

  /** @throws Problem 404 `workflow_execution_not_found` */
  async function find(tenant: string, executionId: string): Promise<FoundRun> {
    const state = await listed(tenant, executionId);
    if (state === null || state.header.batch !== undefined) throw notFound();
    return { at: runs.at(tenant, executionId).address, state };
  }

  /** All of it. @throws Problem 404 `workflow_execution_not_found` */
  async function load(tenant: string, executionId: string): Promise<RunState> {
    const state = await runs.at(tenant, executionId).read();
    if (state === null || state.header.batch !== undefined) throw notFound();
    return state;
  }

  async function record(tenant: string, executionId: string): Promise<RunRecord> {
    return runRecord({ execution_id: executionId, tenant_id: tenant }, await load(tenant, executionId));
  }

  /** In the order of the ids; what was erased meanwhile is left out. */
  async function elementsOf(tenant: string, ids: readonly string[]): Promise<RunElement[]> {
    const states = await runs.readListed(tenant, ids);
    return ids.flatMap((id) => {
      const state = states.get(id);
      return state === undefined ? [] : [runElement({ execution_id: id, tenant_id: tenant }, state)];
    });
  }

  return {
    listed,
    find,
    load,
    record,

    /** States, the ways between them, and when each was entered. @throws Problem 404 */
    async graph(tenant: string, executionId: string): Promise<RunGraph> {
      const run = await find(tenant, executionId);
      const fold = new StepFold();
      for await (const page of runs.at(run.at.tenant, executionId).logPages(workflowEvents, 0, eventsAtOnce))
        fold.add(page.map(({ entry }) => entry));
      // Read last, since it may be large.
      return runGraph(executionId, await load(tenant, executionId), fold.steps, now());
    },

    /** Newest first. A page whose outputs are large ends early. */
    async list(tenant: string, filter: RunFilter, page: Page): Promise<List<"executions", RunElement>> {
      const rows = await records.list(tenant, filter, page);
      const positions = new Map(rows.map(({ run_id, position }) => [run_id, position]));
      const elements: RunElement[] = [];
      let [read, characters] = [0, 0];
      // Two at least: the first one too many is where the next page begins.
      while (read < rows.length && (characters <= maxPageCharacters || elements.length < 2)) {
        const some = rows.slice(read, read + statesAtOnce).map(({ run_id }) => run_id);
        read += some.length;
        for (const element of await elementsOf(tenant, some)) {
          elements.push(element);
          characters += JSON.stringify(element.final_output).length;
        }
      }
      const limit = read < rows.length ? Math.min(page.limit, elements.length - 1) : page.limit;
      return listOf("executions", elements, { ...page, limit }, ({ id }) => [positions.get(id) ?? "0", id]);
    },

    /** A page of its log, oldest first; `offset` counts entries. A page of large entries ends early. */
    async logs({ at, state }: FoundRun, limit: number, offset: number) {
      const events: WireEvent[] = [];
      const actor = runs.at(at.tenant, at.key);
      const total = actor.logLength(workflowEvents);
      let characters = 0;
      while (events.length < limit && characters <= maxPageCharacters) {
        const wanted = Math.min(entriesAtOnce, limit - events.length);
        const entries = await actor.log(workflowEvents, offset + events.length, wanted);
        for (const entry of entries) {
          events.push(wireEvent({ executionId: at.key, header: state.header }, entry));
          characters += JSON.stringify(entry.entry).length;
        }
        if (entries.length < wanted) break;
      }
      return { execution_id: at.key, events, count: events.length, limit, offset, total: await total };
    },
  };
}

export const notFound = (): Problem => new Problem("workflow_execution_not_found", "Workflow execution not found");
