/** Starting a run: the checks in the contract's order, and what the actor is started with. */

import type { Attachment } from "../../../../../actors/execution/start/plan.ts";
import { type MountPlan, maxDepth } from "../../../../../actors/execution/start/plan.ts";
import { maxInputBytes } from "../../../../../actors/execution/start/request.ts";
import type { Json } from "../../../../../actors/kernel/json.ts";
import { Problem } from "../../../../../actors/kernel/problem.ts";
import { mayUseContext } from "../../../../../actors/policy/security-context.ts";
import type { Definition } from "../../../../../actors/workflow/definition.ts";
import type { RunHeader, RunState } from "../../../../../actors/workflow/run/state.ts";
import type { OpenVolumes } from "../../../volumes/open.ts";
import type { Definitions } from "../../definitions/port.ts";
import type { RunRequest } from "../port.ts";
import { type JsonObject, settleInput, settleOverrides } from "./request.ts";
import { tierOf } from "./starter.ts";

/** A delivery of a mebibyte as a text of JSON, whose escapes may be six times as long, and once more as its value. */
const maxStimulusInputBytes = 8 * 1_048_576;

export interface RunStartOptions {
  readonly definitions: Definitions;
  readonly volumes: Pick<OpenVolumes, "settleRun" | "checkFiles">;
  /**
   * Debits the start from the rates of tenant and user; the last check of all. Not called for starts that were
   * counted elsewhere.
   * @throws Problem 429 `rate_limited`, 503 `limiter_unavailable`
   */
  readonly admit: (request: Pick<RunRequest, "tenant" | "starter">) => Promise<Admission>;
}

export interface Admission {
  /** What the caller is told of its rates. */
  readonly headers: Readonly<Record<string, string>>;
  /** The start failed before it was accepted: it costs nothing. Never throws. */
  refund(): Promise<void>;
}

/** Of a start that was counted elsewhere. */
const uncounted: Admission = { headers: {}, refund: async () => {} };

/** A start that waits for nothing but its actor. */
export interface PreparedRun {
  readonly message: StartMessage;
  readonly admission: Admission;
}

/** The body of the actor's `start`. */
export interface StartMessage {
  readonly header: RunHeader;
  readonly definition: Definition;
  readonly input: Json;
  readonly overrides: JsonObject;
  readonly resume: {
    readonly blackboard: RunState["blackboard"];
    readonly outputs: string[];
    readonly state: string;
  } | null;
}

/**
 * Judges a start and settles what it will be. Nothing is stored but volumes, and those only once it is admitted.
 * @throws Problem 402, 403, 404, 422; what `admit` throws
 */
export async function prepareRun(
  options: RunStartOptions,
  executionId: string,
  request: RunRequest,
): Promise<PreparedRun> {
  const { tenant, ref, version, starter, parent } = request;
  const workflow = await options.definitions.resolve({ tenant, ref, version });
  const { definition } = workflow;
  const place = placeOf(executionId, parent);
  const most = request.stimulusId === null ? maxInputBytes : maxStimulusInputBytes;
  const input = await settleInput(request.input, definition.input_schema, most);
  const overrides = settleOverrides(request.blackboard);
  // A parent's were judged when it started, for whoever started it.
  const attachments =
    parent === null
      ? await options.volumes.checkFiles(tenant, starter, request.attachments)
      : (request.attachments as unknown as readonly Attachment[]);
  requireContext(request);
  const admission = request.rateExempt ? uncounted : await options.admit(request);
  const volumes = await refundedUnless(admission, () =>
    options.volumes.settleRun({
      tenant,
      executionId,
      reader: starter,
      workflow: workflow.name,
      declared: definition.storage,
      given: givenVolumes(definition, overrides),
      attachments,
    }),
  );
  const message: StartMessage = {
    header: {
      workflow_id: workflow.workflow_id,
      workflow_name: workflow.name,
      workflow_version: workflow.version,
      tenant_id: tenant,
      intent: request.intent,
      attachments: attachments.map((attachment) => ({ ...attachment })),
      initiated_by: request.initiatedBy,
      tier: tierOf(starter),
      security_context: request.securityContext,
      ...place,
      retry_of: null,
      stimulus_id: request.stimulusId,
      timeout_ms: request.timeoutSeconds === null ? null : request.timeoutSeconds * 1000,
      volumes,
    },
    definition,
    input,
    overrides,
    resume: null,
  };
  return { message, admission };
}

/** What fails after the start was debited gives it back. */
export async function refundedUnless<T>(admission: Admission, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await admission.refund();
    throw error;
  }
}

type Place = Pick<RunHeader, "parent" | "depth" | "root_execution_id" | "path">;

function placeOf(executionId: string, parent: RunRequest["parent"]): Place {
  if (parent === null) return { parent: null, depth: 0, root_execution_id: executionId, path: [] };
  if (parent.depth >= maxDepth) {
    throw new Problem("depth_exceeded", `Executions nest at most ${maxDepth} deep below their root`);
  }
  return {
    parent: { execution_id: parent.executionId, state_name: parent.stateName, waits: parent.waits },
    depth: parent.depth + 1,
    root_execution_id: parent.rootExecutionId,
    path: [...parent.path, parent.executionId],
  };
}

/** A child has its parent's, which was judged with the parent's start. */
function requireContext({ securityContext, starter, parent }: RunRequest): void {
  if (securityContext === null || parent !== null || mayUseContext(securityContext, starter)) return;
  const message = `The caller may not use the security context ${securityContext.slice(0, 100)}`;
  throw new Problem("security_context_forbidden", message);
}

/** Volumes that the blackboard names in place of declared ones: `<name>_volume_id`, the workspace's under its own key. */
function givenVolumes({ storage }: Definition, overrides: JsonObject): ReadonlyMap<string, string> {
  const { workspace, shared_volumes } = storage;
  const keys: [name: string, key: string][] = shared_volumes.map(({ name }) => [name, `${name}_volume_id`]);
  if (workspace !== null) {
    keys.push(["workspace", "workspace_volume_id"], ["workspace", workspace.blackboard_key]);
  }
  return new Map(
    keys.flatMap(([name, key]) => {
      const value = Object.hasOwn(overrides, key) ? overrides[key] : undefined;
      return typeof value === "string" ? [[name, value] as const] : [];
    }),
  );
}

/** Volumes that outlive their run are taken over by name; all others are made anew. */
export function keptVolumes(volumes: readonly MountPlan[]): ReadonlyMap<string, string> {
  const kept = volumes.filter(({ storage_class }) => storage_class === "persistent");
  return new Map(kept.map(({ name, volume_id }) => [name, volume_id]));
}
