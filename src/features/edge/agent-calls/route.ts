/**
 * The way of a tool call to the host that is to run it: a run of one, whose end the call waits for. The run's id is made
 * of the call, so that whichever node makes the call again joins the run, and nothing is begun twice.
 */

import { onFleet } from "../../../../actors/edge/host-calls.ts";
import { fleetRun } from "../../../../actors/fleet-run/fleet-run.ts";
import type { Identity } from "../../../../actors/identity/identity.ts";
import { CMD_RUN } from "../../../../actors/tool/catalog.ts";
import type { Runtime } from "../../../runtime/port.ts";
import { failureOf, withoutStarter, workIdOf } from "../../management-tools/port.ts";
import type { HostCallKey, HostRoute } from "../../pipeline/port.ts";
import { ToolFailure, type ToolRequest } from "../../tools/port.ts";
import type { HostCall, HostCalls } from "../fleet/port.ts";
import { fleetCaller } from "./caller.ts";
import { outcomeOnHost } from "./outcome.ts";
import { asPolicy } from "./refusal.ts";

export interface HostRouteOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly hostCalls: Pick<HostCalls, "begin" | "goOn" | "settled">;
  /** Whom a call acts for, with what they may do today; null: no identity, or none any more. */
  readonly actingFor: (call: Pick<ToolRequest, "who" | "tenant">) => Promise<Identity | null>;
}

/** Seconds of a command that does not say, as in a sandbox; and of any other tool. */
const [commandSeconds, toolSeconds] = [600, 60];
const scope = "aegis.edge.fleet.manage";

/** Of a call in a loop it is the call's own, by which the loop's execution cancels it. */
const runIdOf = ({ entry, tenant, invocationId, idempotencyKey, who }: HostCallKey): string =>
  entry === "dispatch" ? invocationId : workIdOf(tenant, who.principal, idempotencyKey);

export function createHostRoute({ runtime, hostCalls, actingFor }: HostRouteOptions): HostRoute {
  async function isBegun(tenant: string, runId: string): Promise<boolean> {
    return (await runtime.of(fleetRun).at(tenant, runId).read()) !== null;
  }

  /** @throws Problem, ToolFailure, ToolRefusal */
  async function begin(request: ToolRequest, runId: string, target: HostCall["target"], by: Identity): Promise<void> {
    const { tenant, entry, executionId, invocationId, policy, name, who } = request;
    if (!by.scopes.has(scope)) {
      throw new ToolFailure("insufficient_scope", `This needs the scope ${scope}`, { required: scope });
    }
    const { run } = who;
    const of = { tenant, entry, executionId, invocationId, ceilings: policy.ceilings };
    const caller = fleetCaller({ ...of, ...(run === undefined ? {} : { run }) }, by);
    // Checked against JSON Schema, and JSON throughout.
    const args = request.arguments as HostCall["args"];
    const call = { target, tool: name, args, securityContext: null, deadlineSeconds: secondsOf(request) };
    await asPolicy(onFleet, hostCalls.begin(caller, runId, call));
  }

  return {
    async call(request, target) {
      const { tenant, name, signal } = request;
      const runId = runIdOf(request);
      try {
        if (await isBegun(tenant, runId)) await hostCalls.goOn(tenant, runId);
        else {
          const identity = await actingFor(request);
          if (identity === null) return withoutStarter(onFleet);
          await begin(request, runId, target, identity);
        }
      } catch (error) {
        return failureOf(error);
      }
      const stands = await hostCalls.settled(tenant, runId, signal);
      if (stands.is === "running") throw signal.reason;
      if (stands.is !== "waiting") return outcomeOnHost(name, runId, stands);
      const { approval_id, expires_at } = stands;
      return { status: "waiting", fleet_command_id: runId, approval_id, expires_at: Date.parse(expires_at) };
    },

    async cancel(call, reason) {
      await runtime.of(fleetRun).at(call.tenant, runIdOf(call)).tell("cancel", { by: null, reason });
    },
  };
}

function secondsOf({ name, arguments: given, bounds }: ToolRequest): number {
  const { timeout_secs } = given;
  const own = name === CMD_RUN ? commandSeconds : toolSeconds;
  return Math.min(typeof timeout_secs === "number" ? timeout_secs : own, bounds.maxTimeoutSecs);
}
