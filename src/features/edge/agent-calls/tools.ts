/** Tools that look at the hosts of a target, run something on them, and take that back. Each does what its route does. */
import { Type } from "@sinclair/typebox";
import { folded } from "../../../../actors/edge/words.ts";
import { isRecord } from "../../../../actors/edge/written.ts";
import { AnyJson, JsonObject } from "../../../../actors/kernel/json.ts";
import { defineTool, type ManagementTool, type ToolCaller } from "../../management-tools/port.ts";
import type { Fleet, FleetCaller } from "../fleet/port.ts";
import { fleetCaller } from "./caller.ts";
import { asPolicy } from "./refusal.ts";

export interface FleetToolOptions {
  readonly fleet: Pick<Fleet, "preview" | "invoke" | "cancel">;
}

/** What a call does that says nothing of it: all hosts at once, and one that fails stops no other. */
const usual = { mode: "Parallel", failure_policy: "ContinueOnError" };

/** @param given its policy, whose members may stand beside it as well */
function policyOf({ policy = {}, ...beside }: { readonly policy?: unknown }): unknown {
  if (!isRecord(policy)) return policy;
  const said = new Set([...Object.keys(policy), ...Object.keys(beside)].map(folded));
  const unsaid = Object.entries(usual).filter(([name]) => !said.has(folded(name)));
  return { ...Object.fromEntries(unsaid), ...policy };
}

const Target = Type.Unsafe<unknown>(
  Type.Union([Type.String(), JsonObject], {
    description:
      'Which hosts: {"Node": id}, {"Nodes": [ids]}, {"Group": id or name}, {"Selector": {os, arch, tools, labels, tags}} or "All"',
  }),
);
const Policy = Type.Optional(Type.Unsafe<unknown>(JsonObject));
const list = "svc.edge.fleet.list";
const invoke = "svc.edge.fleet.invoke";

const callerOf = ({
  tenant,
  entry,
  executionId,
  requestId,
  ceilings,
  identity,
  policy,
  who,
}: ToolCaller): FleetCaller =>
  // Of the caller's own; what it hands on has its context as well.
  fleetCaller(
    {
      ...{ tenant, entry, executionId, invocationId: requestId, ceilings: policy?.ceilings ?? ceilings },
      ...(who?.run === undefined ? {} : { run: who.run }),
    },
    identity,
  );

export function fleetTools({ fleet }: FleetToolOptions): readonly ManagementTool[] {
  return [
    defineTool({
      name: list,
      effect: "reads",
      description: "The edge hosts that a target means: which would run a command now, which later, which not, and why",
      scope: "aegis.edge.fleet.read",
      arguments: Type.Object({ target: Target, policy: Policy }),
      call: (caller, given) => asPolicy(list, fleet.preview(callerOf(caller), given)),
    }),
    defineTool({
      name: invoke,
      effect: "repeatable",
      description:
        "Run a tool (cmd.run, fs.*) on all edge hosts of a target at once. The run may wait for a person's approval first",
      scope: "aegis.edge.fleet.manage",
      arguments: Type.Object({
        target: Target,
        tool: Type.String({ minLength: 1, maxLength: 128 }),
        args: Type.Optional(Type.Record(Type.String(), AnyJson, { description: "Arguments of the tool" })),
        security_context_name: Type.Optional(
          Type.String({ minLength: 1, maxLength: 128, description: "A context of the hosts' own policy" }),
        ),
        policy: Policy,
      }),
      call: async (caller, given) => {
        const asked = { ...given, policy: policyOf(given) };
        const by = callerOf(caller);
        const { fleet_command_id, status } = await asPolicy(invoke, fleet.invoke(by, caller.workId, asked));
        const { resolved } = await fleet.preview(by, { target: asked.target, policy: asked.policy });
        return { fleet_command_id, status, resolved };
      },
    }),
    defineTool({
      name: "svc.edge.fleet.cancel",
      effect: "repeatable",
      description: "Cancel a run on edge hosts: commands under way are stopped, others do not start",
      scope: "aegis.edge.fleet.manage",
      arguments: Type.Object({
        fleet_command_id: Type.String({ format: "uuid" }),
        reason: Type.Optional(Type.String({ minLength: 1, maxLength: 1000 })),
      }),
      call: async (caller, { fleet_command_id, reason = null }) => {
        const id = fleet_command_id.toLowerCase();
        return { fleet_command_id: id, ...(await fleet.cancel(callerOf(caller), id, reason)) };
      },
    }),
  ];
}
