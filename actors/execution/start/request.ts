/** A start of an execution as a caller, a parent execution, a workflow run, a stimulus or a schedule asks for it. */
import type { AgentSpec } from "../../agent/manifest/spec.ts";
import type { ServiceAgentName } from "../../agent/of-service.ts";
import type { Identity } from "../../identity/identity.ts";
import type { Starter } from "../../identity/starter.ts";
import type { Json } from "../../kernel/json.ts";
import type { RateUser } from "../../policy/rates/limits.ts";
import type { AgentRuntimeOverrides } from "../child.ts";
import type { Header, MountPlan, Warning } from "./plan.ts";

/** Bytes of an input's JSON. */
export const maxInputBytes = 1024 * 1024;

/** Who started the execution, and its place among others. */
export interface StartOrigin {
  readonly trigger: Header["trigger"];
  /** The parent's own place, and the swarm the child joins. */
  readonly parent: {
    readonly executionId: string;
    readonly depth: number;
    readonly path: readonly string[];
    readonly swarmId: string | null;
    /** See `Header`. */
    readonly told?: string;
  } | null;
  readonly workflow: { readonly name: string; readonly executionId: string } | null;
  readonly initiatingUserSub: string | null;
  /** Whose subject that is; absent where it is not known: then of the realm that the tenant's kind implies. */
  readonly initiatingRealm?: string | null;
  /** Judges and handlers of output: never refused by the concurrency quota, though counted, and free of the rate of starts. */
  readonly exempt: boolean;
}

/** What permissions and quotas need to know of the caller. */
export interface StartCaller
  extends Pick<Identity, "kind" | "role" | "tier" | "membership" | "userId">,
    Partial<Pick<Identity, "email" | "homeTenant">> {
  /** Null: of a run that was started before realms were kept. */
  readonly realm: string | null;
}

/**
 * An agent of the tenant, or a global one that none of the tenant's own shadows; or one of the service itself, which no
 * caller can name.
 */
export type AgentReference =
  | { readonly agentId: string }
  | { readonly agentName: string }
  | { readonly ofService: ServiceAgentName };

/** An optional member that is absent means the same as one that the request did not name. */
export type StartRequest = AgentReference & {
  readonly tenant: string;
  readonly origin: StartOrigin;
  /** Null: no caller; the tenant's own standing decides. */
  readonly starter: StartCaller | null;
  /** Kept with the execution, whose management tools act for it. Null, like none: there are no such tools. */
  readonly startedBy?: Starter | null;
  /** Security contexts that bind the execution beside its own, because of the tool call that starts it. */
  readonly ceilings?: readonly string[];
  /** Whose rates it counts in beside the tenant's; null: the tenant's alone. */
  readonly countedFor?: RateUser | null;
  readonly input: Json;
  readonly intent?: string | null;
  readonly version?: string | null;
  readonly contextOverrides?: Json;
  /** References to files, not yet checked. */
  readonly attachments?: readonly Json[];
  readonly securityContext?: string | null;
  readonly timeoutSeconds?: number | null;
  readonly maxIterations?: number | null;
  readonly maxTokens?: number | null;
  readonly labels?: Readonly<Record<string, string>>;
  /** What of the request had no effect, for the record. */
  readonly warnings?: readonly Warning[];
  /** The execution that this start repeats. */
  readonly retryOf?: string | null;
  /** Volumes of the run that is to be judged: an agent labelled `judge` sees them read-only at the same paths. */
  readonly judgedMounts?: readonly MountPlan[];
  /** Laid over the agent's manifest by a workflow run; the run's starter was checked for all of it. */
  readonly overrides?: AgentRuntimeOverrides;
};

/** One stored version of an agent, as a start finds it. */
export interface ResolvedAgent {
  readonly agent_id: string;
  readonly name: string;
  readonly version: string;
  readonly revision: number;
  /** Whose the agent is: of a global one `svc-system`. */
  readonly tenant: string;
  /** The revision: by whom, and when. */
  readonly deployed: { readonly realm: string | null; readonly user_id: string; readonly at: string };
  readonly spec: AgentSpec;
  /** Security contexts that bind its executions beside their own: a tool call deployed it. Absent: none. */
  readonly ceilings?: readonly string[];
}
