/** Management tools as a provider of tools: they act for the starter of who calls, with what it still may. */
import type { Identity } from "../../../actors/identity/identity.ts";
import { toolSchema } from "../../../actors/kernel/schema.ts";
import { handedOn } from "../../../actors/policy/ceilings.ts";
import type { Starters } from "../../identity/callers/starters.ts";
import type { RegisteredTool, ToolProvider, ToolRequest } from "../tools/port.ts";
import {
  collected,
  isPermitted,
  type ManagementTool,
  type ManagementTools,
  type ToolCaller,
  withoutStarter,
  workIdOf,
} from "./port.ts";

export interface ManagementProvider extends ToolProvider {
  /** Adds tools; the features whose operations they are do, while the node starts. */
  offer(tools: readonly ManagementTool[]): void;
  /** Whether scopes and role let the identity call it; false for what is no management tool. @param name under either prefix */
  mayCall(identity: Identity, name: string): boolean;
  /** Everything offered. */
  all(): readonly ManagementTool[];
  /** For whom a call acts, with what they may do today; null: for no identity, or for none any more. */
  actingFor(call: Pick<ToolRequest, "who" | "tenant">): Promise<Identity | null>;
}

/** The one that is shown under the other prefix. */
const shownOtherwise: ReadonlyMap<string, string> = new Map([["svc.workflow.wait", "aegis.workflow.wait"]]);

export function createManagementProvider(starters: Pick<Starters, "identityOf">): ManagementProvider {
  let offered: ManagementTools = collected([]);
  let registered: readonly RegisteredTool[] | null = null;

  async function actingFor({ who: { starter, opener }, tenant }: Pick<ToolRequest, "who" | "tenant">) {
    const identity = starter === null ? null : await starters.identityOf(starter, tenant);
    return identity === null ? null : permittedBy(identity, opener);
  }

  return {
    actingFor,
    offer(tools) {
      offered = collected([...offered.tools, ...tools]);
      registered = null;
    },
    mayCall(identity, name) {
      const tool = offered.find(name);
      return tool !== undefined && isPermitted(tool, identity);
    },
    all: () => offered.tools,
    tools: () => {
      registered ??= offered.tools.map(registeredTool);
      return registered;
    },
    async call(request) {
      const identity = await actingFor(request);
      if (identity === null) return withoutStarter(request.name);
      return offered.call(request.name, callerOf(request, identity), request.arguments);
    },
  };
}

/** In a session that a caller opened, what the opener may not do is not done either. */
function permittedBy(identity: Identity, opener: Identity | null): Identity {
  if (opener === null) return identity;
  const isOperator = opener.role === "admin" || opener.role === "operator";
  return {
    ...identity,
    role: isOperator ? identity.role : null,
    scopes: new Set([...identity.scopes].filter((scope) => opener.scopes.has(scope))),
  };
}

function callerOf(request: ToolRequest, identity: Identity): ToolCaller {
  const { tenant, who, policy, signal, invocationId, idempotencyKey, executionId } = request;
  return {
    tenant,
    entry: request.entry,
    identity,
    executionId,
    get ceilings() {
      return handedOn(policy.context, policy.ceilings);
    },
    // What the call changes is found in the audit log by the record of the call.
    requestId: invocationId,
    workId: workIdOf(tenant, who.principal, idempotencyKey),
    signal,
    who,
    policy,
  };
}

function registeredTool({ name, aliases, description, effect, arguments: schema }: ManagementTool): RegisteredTool {
  const shown = shownOtherwise.get(name);
  return {
    name: shown ?? name,
    aliases: [...(shown === undefined ? [] : [name]), ...aliases],
    description,
    inputSchema: toolSchema(schema),
    annotations: {
      readOnlyHint: effect === "reads",
      destructiveHint: /\.(?:delete|remove|cancel)$/.test(name),
      idempotentHint: effect !== "once",
      openWorldHint: false,
    },
    source: "management",
    executor: "server",
    runs: "service",
    readOnly: effect === "reads",
    idempotent: effect !== "once",
  };
}
