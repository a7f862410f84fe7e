/** A start of a workflow run as a request, a tool, a parent run, a stimulus or a retry asks for it. */
import type { Attachment } from "../../../execution/start/plan.ts";
import type { StartCaller } from "../../../execution/start/request.ts";
import { type Identity, tiers } from "../../../identity/identity.ts";
import type { Starter } from "../../../identity/starter.ts";
import type { Json } from "../../../kernel/json.ts";
import type { RateUser } from "../../../policy/rates/limits.ts";
import type { Definition } from "../../definition.ts";
import type { Initiator, RunHeader } from "../state.ts";
import type { NamedVolumes } from "./volumes.ts";

export interface RunRequest {
  readonly tenant: string;
  /** Name or UUID of the workflow. */
  readonly ref: string;
  /** A workflow of the service itself, in place of what `ref` names. */
  readonly ofService?: ResolvedWorkflow;
  readonly version: string | null;
  readonly input: Json;
  /** Both spellings of the request merged; null: none. */
  readonly blackboard: Json;
  readonly intent: string;
  /** References to files, not yet checked. */
  readonly attachments: readonly Json[];
  readonly timeoutSeconds: number | null;
  readonly securityContext: string | null;
  /** For permissions and quotas; null: no caller, the tenant's own standing decides. */
  readonly starter: StartCaller | null;
  /** Kept with the run. Null, like none: the agents that it starts have no management tools. */
  readonly startedBy?: Starter | null;
  /** Security contexts that bind what the run starts, because of the tool call that starts it. */
  readonly ceilings?: readonly string[];
  /** Whose rates it counts in beside the tenant's; null: the tenant's alone. */
  readonly countedFor?: RateUser | null;
  readonly initiatedBy: Initiator;
  readonly parent: {
    readonly executionId: string;
    readonly stateName: string;
    readonly waits: boolean;
    /** The child record of items that hears of its end in place of the parent; absent: none. */
    readonly told?: string;
    readonly depth: number;
    readonly path: readonly string[];
    readonly rootExecutionId: string;
    /** Of the parent; its start has checked them. */
    readonly attachments: readonly Attachment[];
  } | null;
  readonly stimulusId: string | null;
  /** Of the run that it follows: those that outlive runs. Absent: none. */
  readonly keptVolumes?: NamedVolumes;
  /** The schedule that starts it, in the latest version, not in one that `ref` pins; absent: none. */
  readonly scheduleId?: string;
  /** Children and stimuli were counted where they came from. */
  readonly rateExempt: boolean;
}

/** A request to begin a run anew where an earlier one ended. */
export interface RetryRequest {
  readonly tenant: string;
  /** Null: the last state entered. */
  readonly fromState: string | null;
  readonly starter: StartCaller;
  readonly startedBy: Starter;
  /** See `RunRequest`; beside those of the earlier run. */
  readonly ceilings?: readonly string[];
  /** Whose rates it counts in beside the tenant's; null: the tenant's alone. */
  readonly countedFor?: RateUser | null;
  readonly initiatedBy: Initiator;
}

/** A request to begin a run at a visit of an earlier one. */
export interface ForkRequest extends Omit<RetryRequest, "fromState"> {
  readonly fromState: string;
  /** Null: the last one. */
  readonly fromVisit: number | null;
  /** Laid over the blackboard of that visit; null: nothing. */
  readonly patch: Json;
}

/** A registered workflow, ready to run. */
export interface ResolvedWorkflow {
  readonly workflow_id: string;
  readonly name: string;
  readonly version: string;
  /** Whose it is; `svc-system` for a global one. */
  readonly owner: string;
  readonly definition: Definition;
  /** Security contexts that bind what its runs start: a tool call registered it. Absent: none. */
  readonly ceilings?: readonly string[];
  /** Who registered it; null, like absent: that is not known. */
  readonly deployer?: Starter | null;
}

/** A caller who sets a run going. */
export const initiatorOf = ({ kind, userId: sub, email, realm }: Identity): Initiator => ({ kind, sub, email, realm });

/** What a run keeps of its starter's standing; only consumers bring a tier of their own. */
export function tierOf(starter: StartCaller | null): string | null {
  return starter?.kind === "consumer" ? (starter.tier ?? null) : null;
}

/** The caller of what a run starts: a consumer with that tier; null where the tenant's own standing decides. */
export function callerOf({ tier: claimed, initiated_by, counted_for }: RunHeader): StartCaller | null {
  const tier = tiers.find((one) => one === claimed);
  if (tier === undefined) return null;
  const realm = initiated_by.realm ?? counted_for?.realm ?? null;
  return { kind: "consumer", role: null, membership: null, tier, realm, userId: initiated_by.sub };
}
