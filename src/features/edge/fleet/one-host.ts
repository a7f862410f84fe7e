/** A tool call on one host: a run of one, whose end the caller waits for. */
import { readPolicy } from "../../../../actors/edge/policy.ts";
import { readSelector } from "../../../../actors/edge/selector.ts";
import { fleetRun } from "../../../../actors/fleet-run/fleet-run.ts";
import { isOver } from "../../../../actors/fleet-run/state.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { iso } from "../../../../actors/kernel/time.ts";
import type { Runtime } from "../../../runtime/port.ts";
import { type Commands, commandId } from "../commands/port.ts";
import type { FleetCaller } from "./asking/caller.ts";
import { type ResolutionOptions, resolveTarget } from "./asking/resolution.ts";
import type { Fleet } from "./service.ts";
import { parsed } from "./stream/composing.ts";

export interface HostCall {
  /** Of the host, or what selects it alone. */
  readonly target: { readonly edge_node_id: string } | { readonly edge_selector: unknown };
  readonly tool: string;
  readonly args: { readonly [name: string]: Json };
  readonly securityContext: string | null;
  /** Of the command, from its start. */
  readonly deadlineSeconds: number;
}

/** How a call on a host stands. */
export type HostCallOutcome =
  /** People are asked; ask again for what it came to. */
  | { readonly is: "waiting"; readonly approval_id: string; readonly expires_at: string }
  | { readonly is: "running" }
  /** Nothing was run: rejected, timed out, cancelled, or the host could not be reached. */
  | { readonly is: "not_run"; readonly reason: string }
  | {
      readonly is: "ended";
      readonly status: string;
      readonly command_id: string;
      readonly node_id: string;
      readonly exit_code: number | null;
      readonly error_kind: string | null;
      readonly error_message: string | null;
      readonly stdout_tail: string;
      readonly stderr_tail: string;
      /** The tool's result. */
      readonly structured: Json;
    };

export interface HostCallsOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly fleet: Pick<Fleet, "invoke">;
  readonly commands: Pick<Commands, "many">;
  readonly resolution: ResolutionOptions;
}

export type HostCalls = ReturnType<typeof createHostCalls>;

export function createHostCalls({ runtime, fleet, commands, resolution }: HostCallsOptions) {
  const runs = runtime.of(fleetRun);

  /** @throws Problem 404 `host_not_found`, 422 `multiple_targets` where it is not exactly one */
  async function hostOf(tenant: string, target: HostCall["target"]): Promise<string> {
    if ("edge_node_id" in target) return target.edge_node_id;
    const Selector = readSelector(target.edge_selector, "target.edge_selector");
    const policy = { offline_ttl_secs: 0 };
    const { eligible, skipped } = await resolveTarget(resolution, tenant, { Selector }, policy);
    const [one, ...more] = [...eligible, ...skipped.map(({ host }) => host)];
    if (one !== undefined && more.length === 0) return one.id;
    const count = one === undefined ? 0 : more.length + 1;
    throw new Problem("multiple_targets", "The selector must mean one host", { count });
  }

  async function standing(tenant: string, runId: string): Promise<HostCallOutcome> {
    const state = await runs.at(tenant, runId).read();
    if (state === null) throw new Problem("fleet_run_not_found", "Fleet run not found");
    if (state.status === "awaiting_approval" && state.approval_id !== null && !state.approved) {
      const expires_at = iso(state.created_at + state.policy.approval_timeout_secs * 1000);
      return { is: "waiting", approval_id: state.approval_id, expires_at };
    }
    if (!isOver(state)) return { is: "running" };
    const command_id = commandId(runId, 0, state.round + 1);
    const [row] = await commands.many(tenant, [command_id]);
    if (row === undefined || row.status === "not_started")
      return { is: "not_run", reason: state.reason ?? "not_started" };
    return {
      ...{ is: "ended", command_id, status: row.status, exit_code: row.exit_code, error_kind: row.error_kind },
      ...{ node_id: row.host_id, error_message: row.error_message, structured: parsed(row.structured) },
      ...{ stdout_tail: row.stdout_tail ?? "", stderr_tail: row.stderr_tail ?? "" },
    };
  }

  /** Resolves when the run's log has grown, or the signal is aborted. */
  function untilNews(tenant: string, runId: string, after: number, signal: AbortSignal): Promise<number> {
    return new Promise((resolve) => {
      const done = (seq: number) => {
        signal.removeEventListener("abort", aborted);
        queueMicrotask(() => stop());
        resolve(seq);
      };
      const aborted = () => done(after);
      const stop = runs.at(tenant, runId).tail(after, (entries) => done(entries.at(-1)?.seq ?? after));
      if (signal.aborted) aborted();
      else signal.addEventListener("abort", aborted, { once: true });
    });
  }

  /** The call may go on: where people have approved its run, that begins. Repeatable. */
  async function goOn(tenant: string, runId: string): Promise<void> {
    await runs.at(tenant, runId).ask("proceed", {}, { repeatable: true });
  }

  return {
    /** @param runId the same again is the same call @throws Problem as `Fleet.invoke`, 422 `multiple_targets` */
    async begin(caller: FleetCaller, runId: string, call: HostCall): Promise<void> {
      const Node = await hostOf(caller.tenant, call.target);
      const policy = { mode: "Parallel", failure_policy: "ContinueOnError", deadline_secs: call.deadlineSeconds };
      const body = { target: { Node }, tool: call.tool, args: { ...call.args }, policy: readPolicy(policy) };
      await fleet.invoke(caller, runId, { ...body, security_context_name: call.securityContext }, true);
      await goOn(caller.tenant, runId);
    },

    goOn,

    standing,

    /** How the call stands once it has ended or people are asked about it, or the signal is aborted. */
    async settled(tenant: string, runId: string, signal: AbortSignal): Promise<HostCallOutcome> {
      for (let after = 0; ; ) {
        const stands = await standing(tenant, runId);
        if (stands.is !== "running" || signal.aborted) return stands;
        after = await untilNews(tenant, runId, after, signal);
      }
    },
  };
}
