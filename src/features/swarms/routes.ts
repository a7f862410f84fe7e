/** The routes of swarms. */
import { Type } from "@sinclair/typebox";
import { Problem } from "../../../actors/kernel/problem.ts";
import { swarm } from "../../../actors/swarm/swarm.ts";
import { reply } from "../../http/answer.ts";
import { IdempotencyHeaders, idempotent } from "../../http/idempotency.ts";
import { listOf, listSchema, pageOf } from "../../http/paging.ts";
import { defineRoute, type Route, uuidParam } from "../../http/route.ts";
import type { Runtime } from "../../runtime/port.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { auditedBy } from "../audit/port.ts";
import type { SwarmReading } from "./reading.ts";
import { Swarm, SwarmDetail, SwarmFilter } from "./schema.ts";

export interface SwarmRoutesOptions {
  readonly sql: Sql;
  readonly runtime: Pick<Runtime, "of">;
  readonly reading: SwarmReading;
  /** The swarm that an execution founded or is of; null: none, or there is no such execution. */
  readonly swarmOf: (tenant: string, executionId: string) => Promise<string | null>;
  readonly newId: () => string;
}

const params = Type.Object({ id: uuidParam() });

export function swarmRoutes({ sql, runtime, reading, swarmOf, newId }: SwarmRoutesOptions): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/swarms",
      summary: "Executions that go on together, the newest first",
      scope: "swarm:list",
      query: SwarmFilter,
      responses: { 200: listSchema("swarms", Swarm) },
      handler: async (call) => {
        const { status = null, execution_id = null } = call.query;
        const page = pageOf(call.query, 2);
        if (execution_id === null) return reading.list(call.tenant, { status, swarmId: null }, page);
        const swarmId = await swarmOf(call.tenant, execution_id);
        if (swarmId === null) return listOf("swarms", [], page, () => []);
        return reading.list(call.tenant, { status, swarmId }, page);
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/swarms/:id",
      summary: "One swarm with its locks and its newest messages, without what these say",
      scope: "swarm:read",
      params,
      responses: { 200: SwarmDetail },
      refusals: ["swarm_not_found"],
      handler: async (call) => {
        const found = await reading.inFull(call.tenant, call.params.id);
        if (found === null) throw notFound();
        return { ...found, swarm: found };
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/swarms/:id/cancel",
      summary: "Cancel the members of a swarm and dissolve it",
      scope: "swarm:cancel",
      params,
      headers: IdempotencyHeaders,
      responses: { 200: Swarm },
      refusals: ["swarm_not_found", "invalid_state"],
      handler: (call) =>
        idempotent(
          call,
          sql,
          async () => {
            const { tenant, params } = call;
            const found = await reading.one(tenant, params.id);
            if (found === null) throw notFound();
            const at = runtime.of(swarm).at(tenant, params.id);
            const { outcome } = await at.ask("cancel", { by: auditedBy(call) }, { repeatable: true });
            if (outcome === "dissolved") throw new Problem("invalid_state", "The swarm is dissolved already");
            if (outcome === "unknown") throw notFound();
            // What the commit of the answer wrote; its members end behind it.
            return reply(200, (await reading.one(tenant, params.id)) ?? found);
          },
          newId,
        ),
    }),
  ];
}

const notFound = () => new Problem("swarm_not_found", "Swarm not found");
