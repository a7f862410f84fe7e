/** The routes of items of Maps; see docs/reference/workflow-maps.md. */
import { Type } from "@sinclair/typebox";
import { Problem } from "../../../../../actors/kernel/problem.ts";
import type { Order } from "../../../../../actors/workflow/run/map/messages.ts";
import { workflowRun } from "../../../../../actors/workflow/run/run.ts";
import { listOf, listSchema, pageOf } from "../../../../http/paging.ts";
import { defineRoute, jsonBody, type Route, uuidParam } from "../../../../http/route.ts";
import type { Runtime } from "../../../../runtime/port.ts";
import type { Runs } from "../service.ts";
import type { ItemRecords } from "./records.ts";
import { ItemBody, ItemElement, ItemsQuery } from "./schema.ts";

export interface ItemRoutesOptions {
  readonly runs: Pick<Runs, "find" | "load">;
  readonly runtime: Pick<Runtime, "of">;
  readonly records: ItemRecords;
}

const prefix = "/v1/workflows/executions/:id/items";
const id = uuidParam("invalid_execution_id", "Invalid execution ID");
const Place = Type.Object({ id, index: Type.Integer({ minimum: 0, maximum: 1_000_000 }) });

export function itemRoutes(options: ItemRoutesOptions): readonly Route[] {
  const { runs, records } = options;
  return [
    defineRoute({
      method: "GET",
      path: prefix,
      summary: "The items of a Map of a workflow execution, in their order",
      scope: "workflow:read",
      params: Type.Object({ id }),
      query: ItemsQuery,
      responses: { 200: listSchema("items", ItemElement) },
      refusals: ["workflow_execution_not_found", "unknown_state"],
      handler: async ({ tenant, params, query }) => {
        const { state, status = null } = query;
        await runs.find(tenant, params.id);
        const page = pageOf(query, 1);
        const of = { runId: params.id, state, visit: query.visit ?? null };
        const { rows, limit } = await records.list(tenant, of, status, page);
        // Items are there of Maps alone; where none are, the definition says why. It is part of the bulky state.
        if (rows.length === 0) await requireMap(runs, tenant, params.id, state);
        return listOf("items", rows as ItemElement[], { ...page, limit }, ({ index }) => [String(index)]);
      },
    }),
    changing(options, "retry", "Try an item again that did not end well, while its Map goes on"),
    changing(options, "cancel", "Give up one item of a Map that goes on"),
  ];
}

function changing({ runs, runtime, records }: ItemRoutesOptions, order: Order, summary: string): Route {
  return defineRoute({
    method: "POST",
    path: `${prefix}/:index/${order}`,
    summary,
    scope: order === "retry" ? "workflow:run" : "workflow:cancel",
    params: Place,
    body: jsonBody(ItemBody),
    responses: { 200: ItemElement },
    refusals: ["workflow_execution_not_found", "item_not_found", "invalid_state", "unknown_state"],
    handler: async ({ tenant, params, body }) => {
      await runs.find(tenant, params.id);
      const run = runtime.of(workflowRun).at(tenant, params.id);
      const reply = await run.ask("item", { state: body.state, index: params.index, order });
      if (reply.outcome === "no_item") throw noItem(params.index);
      if (reply.outcome === "not_running") {
        await requireMap(runs, tenant, params.id, body.state);
        throw new Problem("invalid_state", `${body.state} is not at work`);
      }
      if (reply.outcome === "refused") {
        throw new Problem("invalid_state", `The item is ${reply.status}`, { status: reply.status });
      }
      const of = { runId: params.id, state: body.state, visit: reply.visit };
      const item = await records.find(tenant, of, params.index);
      if (item === null) throw noItem(params.index);
      return item as ItemElement;
    },
  });
}

/** @throws Problem 404, 422 `unknown_state` */
async function requireMap(runs: Pick<Runs, "load">, tenant: string, runId: string, state: string): Promise<void> {
  const { states } = (await runs.load(tenant, runId)).definition;
  if (Object.hasOwn(states, state) && states[state]?.kind === "Map") return;
  const issue = { path: "state", message: `there is no Map ${state.slice(0, 100)}`, code: "unknown_state" };
  throw new Problem("unknown_state", "The workflow has no such Map", { issues: [issue] });
}

const noItem = (index: number): Problem => new Problem("item_not_found", `The Map has no item ${index}`);
