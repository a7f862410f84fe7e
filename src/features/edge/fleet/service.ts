/** What can be done with fleet runs: looked at before they are, begun, held up, ended, run again. */

import { failures, type Policy, readPolicy, readStatuses, retryPolicy } from "../../../../actors/edge/policy.ts";
import { readTarget, type Target } from "../../../../actors/edge/target.ts";
import type { CommandEnd } from "../../../../actors/edge-host/command.ts";
import { fleetRun } from "../../../../actors/fleet-run/fleet-run.ts";
import type { CancelReply, PauseReply, StartReply } from "../../../../actors/fleet-run/messages.ts";
import { isOver, wavesOf } from "../../../../actors/fleet-run/state.ts";
import { endOf } from "../../../../actors/fleet-run/targets.ts";
import type { Holding } from "../../../../actors/fleet-run/words.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { madeStorable } from "../../../../actors/manifest/storable.ts";
import { callFacts } from "../../../../actors/policy/security/call-facts.ts";
import { evaluate } from "../../../../actors/policy/security/evaluate.ts";
import type { Runtime } from "../../../runtime/port.ts";
import type { ContextReader } from "../../security-contexts/port.ts";
import type { Commands } from "../commands/port.ts";
import { readArgs, readContext, readTool } from "./asking/asked.ts";
import type { FleetCaller } from "./asking/caller.ts";
import { needsApproval, promptOf } from "./asking/gate.ts";
import { type Leniency, type ResolutionOptions, type Resolved, resolveTarget } from "./asking/resolution.ts";
import { maxRuns, type RunRecords } from "./records.ts";
import type { FleetPreview, InvokeBody } from "./schema.ts";
import type { Settings } from "./settings.ts";

export interface FleetOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly records: RunRecords;
  readonly resolution: ResolutionOptions;
  readonly settings: Settings;
  readonly contexts: Pick<ContextReader, "bindings">;
  readonly commands: Pick<Commands, "args">;
  readonly holdsOf: (tenant: string) => Promise<readonly Holding[]>;
  /** Told of hosts that a run leaves out. */
  readonly skipping: (skipped: Resolved["skipped"]) => void;
}

/** What a run is to do, read. */
interface Asked {
  readonly target: Target;
  readonly tool: string;
  /** JSON of an object. */
  readonly args: string;
  readonly securityContext: string | null;
  readonly policy: Policy;
  readonly retryOf: string | null;
  /** Of the run that it repeats, which covers it. */
  readonly approvalId: string | null;
  /** People are asked in any case. */
  readonly mustAsk: boolean;
  readonly leniency: Leniency;
  /** It is a tool call on one host. */
  readonly ofCall?: boolean;
}

export interface Begun extends StartReply {
  readonly fleet_command_id: string;
}

/** Ends that a repeat may be asked for; without a word it is those that are failures. */
const retryable = [...failures, "cancelled", "not_started"] as const satisfies readonly CommandEnd[];

export type Fleet = ReturnType<typeof createFleet>;

export function createFleet(options: FleetOptions) {
  const { runtime, records, resolution, settings, contexts, commands, holdsOf, skipping } = options;
  const runs = runtime.of(fleetRun);

  /** @throws Problem 409 `dispatch_disabled` */
  async function sendingSettings(tenant: string) {
    const settled = await settings.read(tenant);
    if (!settled.dispatch_enabled)
      throw new Problem("dispatch_disabled", "Nothing is sent to hosts of this tenant now");
    return settled;
  }

  /** A context that the service knows judges before the host does. @throws Problem 403 `policy_violation` */
  async function requireAllowed(tenant: string, name: string | null, tool: string, args: string): Promise<void> {
    if (name === null) return;
    const bindings = await contexts.bindings(tenant, name, []);
    if (bindings[0] === undefined || bindings[0].spec === null) return;
    // Read by `readArgs`.
    const verdict = evaluate(callFacts(tool, JSON.parse(args) as { readonly [name: string]: Json }), bindings);
    if (!verdict.allowed) throw new Problem("policy_violation", verdict.message, { details: { ...verdict.details } });
  }

  async function begin(caller: FleetCaller, runId: string, asked: Asked): Promise<Begun> {
    const { tenant, identity } = caller;
    const run = runs.at(tenant, runId);
    const known = await records.one(tenant, runId);
    if (known !== null) return { fleet_command_id: runId, ...begunOf(known.doc) };
    const settled = await sendingSettings(tenant);
    const { target, tool, args, policy, securityContext } = asked;
    await requireAllowed(tenant, securityContext, tool, args);
    const resolved = await resolveTarget(resolution, tenant, target, policy, asked.leniency);
    const isDue = needsApproval(settled, policy, resolved, caller) || asked.mustAsk;
    const isGated = isDue && asked.approvalId === null;
    const stored = await records.prepare(tenant, runId, resolved);
    if (stored === null) throw tooManyRuns();
    const gate = {
      prompt: promptOf(tool, resolved),
      forbid_initiator: !settled.self_approval,
      initiator: { kind: identity.kind, sub: identity.userId, email: identity.email, realm: identity.realm },
    };
    const { entry, executionId: execution_id, by, trace, sender } = caller;
    const reply = await run.ask(
      "start",
      {
        ...{ tool, args, policy, by, trace, security_context_name: securityContext },
        requested_by: { sub: identity.userId, tenant_id: tenant, entry, execution_id },
        ...{ retry_of: asked.retryOf, approval_id: asked.approvalId, resolution: stored },
        gate: isGated ? gate : null,
        ...(asked.ofCall === true ? { of_call: true as const } : {}),
        ...(sender === undefined ? {} : { sender }),
        holds: [...(await holdsOf(tenant))],
      },
      { repeatable: true },
    );
    if (!isGated) skipping(resolved.skipped);
    return { fleet_command_id: runId, ...reply };
  }

  /** @throws Problem 404 `fleet_run_not_found` */
  async function requireRun(tenant: string, runId: string): Promise<void> {
    if (!(await records.exists(tenant, runId))) throw noRun();
  }

  /** @throws Problem 404 `fleet_run_not_found`, 409 `invalid_state` */
  const standing = (reply: PauseReply) => {
    if (reply === null) throw noRun();
    const { done, status, pause_reasons } = reply;
    if (!done) throw new Problem("invalid_state", `A run that is ${status} cannot be held up`, { status });
    return { status, pause_reasons };
  };

  return {
    /** @throws Problem 404, 422, 403 `agent_runs_denied` */
    async preview(
      caller: FleetCaller,
      body: { readonly target: unknown; readonly policy?: unknown },
    ): Promise<FleetPreview> {
      const { tenant } = caller;
      const policy = readPolicy(body.policy, besidesOf(body));
      const [settled, resolved] = await Promise.all([
        settings.read(tenant),
        resolveTarget(resolution, tenant, readTarget(body.target), policy),
      ]);
      return previewOf(resolved, policy, needsApproval(settled, policy, resolved, caller));
    },

    /**
     * Begins a run. @param runId the same again is the same run @param ofCall it is a tool call on one host, which lets
     * it go on once people have approved
     * @throws Problem 403, 404, 409 `dispatch_disabled`, 413, 422, 429 `quota_exceeded`
     */
    async invoke(caller: FleetCaller, runId: string, body: InvokeBody, ofCall = false): Promise<Begun> {
      return begin(caller, runId, {
        target: readTarget(body.target),
        tool: readTool(body.tool, body.tool_name),
        args: readArgs(body.args ?? {}),
        securityContext: readContext(body.security_context_name),
        policy: readPolicy(body.policy, besidesOf(body)),
        ...{ retryOf: null, approvalId: null, mustAsk: false, leniency: { approved: null, lenient: false }, ofCall },
      });
    },

    /**
     * Runs the hosts of an ended run again that ended so.
     * @throws Problem as `invoke`, 404 `fleet_run_not_found`, 409 `invalid_state`, `nothing_to_retry`
     */
    async retry(
      caller: FleetCaller,
      runId: string,
      formerId: string,
      body: { readonly statuses?: unknown; readonly policy?: unknown },
    ): Promise<Begun> {
      const { tenant } = caller;
      const wanted = new Set<CommandEnd>(
        body.statuses === undefined || body.statuses === null
          ? failures
          : readStatuses(body.statuses, "statuses", retryable),
      );
      await requireRun(tenant, formerId);
      const [former, args] = await Promise.all([runs.at(tenant, formerId).read(), commands.args(tenant, formerId)]);
      if (former === null || args === null) throw noRun();
      if (!isOver(former)) {
        const { status } = former;
        throw new Problem("invalid_state", "Only a run that has ended is run again", { status });
      }
      const places = [...former.targets].flatMap((mark, place) => {
        const end = endOf(mark);
        return end !== null && wanted.has(end) ? [place] : [];
      });
      const rows = places.length === 0 ? [] : await records.targets(tenant, formerId, former.resolution, places);
      if (rows.length === 0) throw new Problem("nothing_to_retry", "No host of the run ended so");
      return begin(caller, runId, {
        target: { Nodes: rows.map(({ node_id }) => node_id) },
        tool: former.tool,
        args,
        securityContext: former.security_context_name,
        policy: retryPolicy(former.policy, body.policy),
        retryOf: formerId,
        // Of a run that was not approved nothing covers a repeat: what was refused is not run by naming its hosts.
        approvalId: former.approved ? former.approval_id : null,
        mustAsk: former.approval_id !== null && !former.approved,
        leniency: { approved: null, lenient: true },
      });
    },

    /** @throws Problem 404 `fleet_run_not_found` */
    async cancel(caller: FleetCaller, runId: string, reason: string | null): Promise<NonNullable<CancelReply>> {
      await requireRun(caller.tenant, runId);
      const given = { by: caller.by, reason: reason === null ? null : madeStorable(reason) };
      const reply = await runs.at(caller.tenant, runId).ask("cancel", given, { repeatable: true });
      if (reply === null) throw noRun();
      return reply;
    },

    /** Answers once nothing of the run starts any more. @throws Problem 404 `fleet_run_not_found`, 409 `invalid_state` */
    async pause(caller: FleetCaller, runId: string) {
      await requireRun(caller.tenant, runId);
      const asked = runs.at(caller.tenant, runId).ask("pause", { by: caller.by, reason: null }, { repeatable: true });
      return standing(await asked);
    },

    /** @throws Problem 404 `fleet_run_not_found`, 409 `dispatch_disabled`, `invalid_state` */
    async resume(caller: FleetCaller, runId: string) {
      await requireRun(caller.tenant, runId);
      await sendingSettings(caller.tenant);
      const asked = runs.at(caller.tenant, runId).ask("resume", { by: caller.by, reason: null }, { repeatable: true });
      return standing(await asked);
    },

    /** @throws Problem 404 `fleet_run_not_found` */
    requireRun,
  };
}

/** Members of a policy that stand beside it. */
const besidesOf = (body: object): Readonly<Record<string, unknown>> => {
  const { target: _, policy: __, args: ___, ...beside } = body as Record<string, unknown>;
  return beside;
};

function begunOf(doc: string): StartReply {
  // Written by the projection.
  const { status, approval_id, targets_resolved, targets_skipped } = JSON.parse(doc) as StartReply;
  return { status, approval_id, targets_resolved, targets_skipped };
}

function previewOf({ eligible, queued, skipped }: Resolved, policy: Policy, requires_approval: boolean): FleetPreview {
  const named = ({ id, name }: { readonly id: string; readonly name: string }) => ({ node_id: id, name });
  const resolved = [...eligible, ...queued];
  let from = 0;
  return {
    resolved: resolved.map((host) => ({ ...named(host), status: host.status })),
    queued: queued.map(named),
    skipped: skipped.map(({ host, reason }) => ({ ...named(host), reason })),
    count: resolved.length,
    requires_approval,
    waves: wavesOf({ policy, eligible: eligible.length, queued: queued.length }).map((size) => {
      const wave = eligible.slice(from, from + size).map(({ id }) => id);
      from += size;
      return wave;
    }),
  };
}

export const noRun = (): Problem => new Problem("fleet_run_not_found", "Fleet run not found");
const tooManyRuns = (): Problem =>
  new Problem(
    "quota_exceeded",
    `A tenant has at most ${maxRuns} unfinished fleet runs`,
    { quota: "edge_runs", limit: maxRuns },
    { "Retry-After": "30" },
    429,
  );
