/** What can be done with a tenant's router: the agent that picks a workflow where the source names none. */

import { type Issue, invalidRequest, Problem } from "../../../../../actors/kernel/problem.ts";
import { isStorable } from "../../../../../actors/manifest/storable.ts";
import type { Sql } from "../../../../store/postgres/pool.ts";
import type { Audit } from "../../../audit/port.ts";
import type { Definitions } from "../../../workflows/definitions/port.ts";
import type { Changer } from "../parts.ts";
import type { ConfiguredRouter, RouterRequest } from "../schema.ts";
import { checkVisible } from "../workflow-references.ts";
import { type RouterRow, routerRecords } from "./records.ts";

/** What a router is set to; the agent as it was named. */
export interface RouterSettings {
  readonly agent: string;
  readonly confidenceThreshold: number;
  readonly timeoutSeconds: number;
  /** Null: all of the tenant's own. */
  readonly allowedWorkflows: readonly string[] | null;
}

export interface RoutersOptions {
  readonly sql: Sql;
  readonly audit: Audit;
  readonly definitions: Definitions;
  /** The id of the agent that a name or UUID means in a tenant; null: none. */
  readonly findAgent: (tenant: string, reference: string) => Promise<string | null>;
  /** Told of every change once it is stored, before the caller is answered. */
  readonly changed: (tenant: string) => void;
  /** Unix milliseconds. */
  readonly now: () => number;
}

export type Routers = ReturnType<typeof createRouters>;

export function createRouters({ sql, audit, definitions, findAgent, changed, now }: RoutersOptions) {
  const records = routerRecords(sql);
  const target = (id: string) => ({ type: "stimulus_router", id });

  return {
    async detail(tenant: string): Promise<ConfiguredRouter | { readonly configured: false }> {
      const [row] = await records.ofTenants([tenant]);
      if (row === undefined) return { configured: false };
      // Configured before there was such an agent: it is found at use, and shown as soon as it would be.
      const agentId = row.router_agent_id ?? (await findAgent(tenant, row.router_agent));
      return routerRecord({ ...row, router_agent_id: agentId });
    },

    /** @throws Problem 422 `validation_failed`, `agent_not_found`, `unknown_workflow` */
    async put({ tenant, identity, by }: Changer, body: RouterRequest): Promise<ConfiguredRouter> {
      const settings = routerSettings(body);
      const agentId = await findAgent(tenant, settings.agent);
      if (agentId === null) {
        // Of a body's reference, not of a path: hence not the code's own 404.
        throw new Problem("agent_not_found", "There is no such agent", { agent: settings.agent }, {}, 422);
      }
      await Promise.all(
        (settings.allowedWorkflows ?? []).map((workflow) => checkVisible(definitions, tenant, workflow, null)),
      );
      const row = routerRow(tenant, settings, agentId, { kind: identity.kind, sub: identity.userId }, new Date(now()));
      await sql.begin(async (tx) => {
        await records.put(tx, row, true);
        const { configured: _, tenant_id: __, updated_at: ___, updated_by: ____, ...details } = routerRecord(row);
        await audit.append(tx, by, { tenant, action: "stimulus_router.updated", target: target(tenant), details });
      });
      changed(tenant);
      return routerRecord(row);
    },

    /** A tenant without router is left as it is. */
    async remove({ tenant, by }: Changer) {
      await sql.begin(async (tx) => {
        if (!(await records.remove(tx, tenant))) return;
        await audit.append(tx, by, { tenant, action: "stimulus_router.deleted", target: target(tenant), details: {} });
      });
      changed(tenant);
      return { status: "deleted", success: true } as const;
    },
  };
}

/** @throws Problem 422 `validation_failed` */
export function routerSettings(body: RouterRequest): RouterSettings {
  const issues: Issue[] = [];
  const issue = (path: string, message: string) => issues.push({ path, message, code: "invalid" });
  /** The value of a member that has two names. */
  function either<T>(
    name: keyof RouterRequest,
    value: T | undefined,
    alias: keyof RouterRequest,
    other: T | undefined,
  ) {
    if (value !== undefined && other !== undefined && value !== other) issue(alias, `contradicts ${name}`);
    return value ?? other;
  }
  const agent = either("router_agent", body.router_agent, "router_agent_id", body.router_agent_id);
  if (agent === undefined) issue("router_agent", "is required");
  else if (!isStorable(agent)) issue("router_agent", "may not hold NUL or broken Unicode");
  const threshold = either(
    "confidence_threshold",
    body.confidence_threshold,
    "classification_confidence_threshold",
    body.classification_confidence_threshold,
  );
  const seconds = either(
    "timeout_seconds",
    body.timeout_seconds,
    "classification_timeout_secs",
    body.classification_timeout_secs,
  );
  for (const [index, workflow] of (body.allowed_workflows ?? []).entries()) {
    if (!isStorable(workflow)) issue(`allowed_workflows.${index}`, "may not hold NUL or broken Unicode");
  }
  if (issues.length > 0) throw invalidRequest(issues);
  return {
    agent: agent ?? "",
    confidenceThreshold: threshold ?? 0.7,
    timeoutSeconds: seconds ?? 30,
    allowedWorkflows: body.allowed_workflows ? [...new Set(body.allowed_workflows)] : null,
  };
}

export function routerRow(
  tenant: string,
  settings: RouterSettings,
  agentId: string | null,
  updatedBy: RouterRow["updated_by"],
  at: Date,
): RouterRow {
  return {
    tenant,
    router_agent: settings.agent,
    router_agent_id: agentId,
    confidence_threshold: settings.confidenceThreshold,
    timeout_seconds: settings.timeoutSeconds,
    allowed_workflows: settings.allowedWorkflows === null ? null : [...settings.allowedWorkflows],
    updated_at: at,
    updated_by: updatedBy,
  };
}

function routerRecord(row: RouterRow): ConfiguredRouter {
  return {
    configured: true,
    tenant_id: row.tenant,
    router_agent: row.router_agent,
    router_agent_id: row.router_agent_id,
    confidence_threshold: row.confidence_threshold,
    timeout_seconds: row.timeout_seconds,
    allowed_workflows: row.allowed_workflows,
    updated_at: row.updated_at.toISOString(),
    updated_by: row.updated_by,
  };
}
