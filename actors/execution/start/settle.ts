/**
 * The agent as one start has it: overrides laid over the manifest first, then everything that follows from the result.
 * Nothing is refused here; `planStart` checks what this comes to, so no check can be passed by a value that changes
 * afterwards.
 */

import { overlap } from "../../agent/manifest/runtime/volumes.ts";
import type { AgentSpec, NodeOffer, RuntimeSpec } from "../../agent/manifest/spec.ts";
import type { Json } from "../../kernel/json.ts";
import { isObject } from "../../kernel/json.ts";
import { byName } from "../../policy/security/evaluate.ts";
import type { SecurityContextSpec } from "../../policy/security/spec.ts";
import {
  ATTACHMENT_READ,
  actsForStarter,
  builtinTools,
  patternCovers,
  selectTools,
  sparedFromJudges,
  type ToolEntry,
} from "../../tool/catalog.ts";
import type { AgentRuntimeOverrides } from "../child.ts";
import type { Attachment } from "./plan.ts";
import type { ResolvedAgent, StartRequest } from "./request.ts";

/** What this node can give an execution, as far as a start is decided by it. */
export interface StartOffer
  extends Pick<
    NodeOffer,
    | "isolations"
    | "defaultIsolation"
    | "imageRegistries"
    | "localImages"
    | "hostPaths"
    | "openEgress"
    | "development"
    | "programFault"
    | "servesModel"
  > {
  /** What the tenant has; the same list until something changes. Absent: the built-in ones. */
  readonly catalogue?: readonly ToolEntry[];
  /** Whether instances of this isolation can be kept from the network. */
  enforcesNetwork(isolation: string): boolean;
}

/** A specification whose isolation an override may have replaced by any text. */
export type SettledSpec = Omit<AgentSpec, "runtime"> & {
  readonly runtime: Omit<RuntimeSpec, "isolation"> & { readonly isolation: string };
};

export interface SettledAgent extends Omit<ResolvedAgent, "spec"> {
  readonly spec: SettledSpec;
  /** The isolation that will be used, `inherit` resolved. */
  readonly isolation: string;
  readonly context: StartContext;
  /** The manifest's tools that the security context permits. */
  readonly tools: readonly ToolEntry[];
  /** Patterns of the manifest that name no tool. */
  readonly unmatchedTools: readonly string[];
  /** The agent declares attachments and may read them. */
  readonly takesAttachments: boolean;
  /** Attachments of the workflow run; its start has checked them. Empty for an agent that takes none. */
  readonly runAttachments: readonly Attachment[];
}

/** The security context of a start, as it stands. */
export interface StartContext {
  /** Of the manifest, else of the overrides, else as the caller says, else the default. */
  readonly name: string;
  readonly version: number;
  /** Null: there is none of that name. */
  readonly spec: SecurityContextSpec | null;
  /** Whether the caller may use it, where the caller chose it. */
  readonly isAllowed: boolean;
}

/** The context that is named for a start, if one is, and whether the caller is who named it. */
export function contextNamed(
  { spec }: Pick<ResolvedAgent, "spec">,
  { overrides, securityContext = null }: Pick<StartRequest, "overrides" | "securityContext">,
): { readonly name: string | null; readonly byCaller: boolean } {
  const fixed = spec.security_context ?? overrides?.security_context ?? null;
  return { name: fixed ?? securityContext, byCaller: fixed === null && securityContext !== null };
}

export function settleAgent(
  found: ResolvedAgent,
  request: StartRequest,
  offer: StartOffer,
  context: StartContext,
): SettledAgent {
  const { overrides } = request;
  const spec = overlaid(found.spec, overrides);
  const { tools: opened, unmatched } = toolsOf(spec.tools, context, offer.catalogue ?? builtinTools);
  const tools = (request.startedBy ?? null) === null ? opened.filter(({ name }) => !actsForStarter(name)) : opened;
  const takes = takesAttachments(spec.input_schema, tools);
  const { isolation } = spec.runtime;
  return {
    ...found,
    spec,
    isolation: isolation === "inherit" ? offer.defaultIsolation : isolation,
    context,
    tools,
    unmatchedTools: unmatched,
    takesAttachments: takes,
    runAttachments: takes ? (overrides?.attachments ?? []) : [],
  };
}

interface ToolsOfManifest {
  readonly tools: readonly ToolEntry[];
  readonly unmatched: readonly string[];
}

type Offered = readonly ToolEntry[];
/** By the list that a manifest was read with, which many starts share, the tools that there are, and the security context as it was read. */
const known = new WeakMap<AgentSpec["tools"], WeakMap<Offered, WeakMap<SecurityContextSpec, ToolsOfManifest>>>();

/** What a manifest's tools come to in a security context. */
function toolsOf(granted: AgentSpec["tools"], context: StartContext, offered: Offered): ToolsOfManifest {
  if (context.spec === null) return selected(granted, context, offered);
  const inOffers = known.get(granted) ?? new WeakMap<Offered, WeakMap<SecurityContextSpec, ToolsOfManifest>>();
  const inContexts = inOffers.get(offered) ?? new WeakMap<SecurityContextSpec, ToolsOfManifest>();
  const earlier = inContexts.get(context.spec);
  if (earlier !== undefined) return earlier;
  const tools = selected(granted, context, offered);
  known.set(granted, inOffers.set(offered, inContexts.set(context.spec, tools)));
  return tools;
}

function selected(granted: AgentSpec["tools"], context: StartContext, offered: Offered): ToolsOfManifest {
  const patterns = granted.map(({ name }) => name);
  const { tools, unmatched } = selectTools(patterns, offered);
  const permitted = tools.filter(({ name }) => byName(name, [context]) === null);
  return { tools: sparedFromJudges(permitted, granted), unmatched };
}

/**
 * Volumes of the run replace the agent's at the same path, above or below it; `/workspace` itself may have others
 * below. Instances kept ready have no such volumes mounted: none is used.
 */
function overlaid(spec: AgentSpec, overrides: AgentRuntimeOverrides | undefined): SettledSpec {
  if (overrides === undefined) return spec;
  const { mounts, temperature, isolation } = overrides;
  return {
    ...spec,
    runtime: {
      ...spec.runtime,
      isolation: isolation ?? spec.runtime.isolation,
      temperature: temperature ?? spec.runtime.temperature,
    },
    volumes: spec.volumes.filter((own) => !mounts.some((run) => overlap(own.mount_path, run.mount_path))),
    warm_pool_size: mounts.length === 0 ? spec.warm_pool_size : 0,
  };
}

/** Whether an agent declares attachments: its schema has the property, and one of its tools or patterns reads them. */
function takesAttachments(inputSchema: Json, tools: readonly { readonly name: string }[]): boolean {
  const declares =
    isObject(inputSchema) && isObject(inputSchema.properties) && Object.hasOwn(inputSchema.properties, "attachments");
  return declares && tools.some(({ name }) => patternCovers(name, ATTACHMENT_READ));
}

/** The isolation on record of an execution without an instance: it lives in the node's own process. */
export const inlineIsolation = "process";

/**
 * Whether a start needs no instance of its own: a stimulus asks, or the agent is one of the service's, and the agent has
 * no tools, no script, no program, no image, no volumes and no files to read, and does not ask to be kept in a container.
 */
export function needsNoInstance(
  spec: SettledSpec,
  plan: { readonly tools: readonly unknown[]; readonly attachments: readonly unknown[] },
  request: StartRequest,
): boolean {
  const { runtime, context, volumes, startup_script, bootstrap_path, warm_pool_size } = spec;
  const { origin, overrides } = request;
  const byStimulus = origin.trigger === "stimulus" && origin.parent === null && overrides === undefined;
  return (
    (byStimulus || "ofService" in request) &&
    plan.tools.length === 0 &&
    plan.attachments.length === 0 &&
    startup_script === null &&
    bootstrap_path === null &&
    warm_pool_size === 0 &&
    volumes.length === 0 &&
    context.every(({ type }) => type === "text" || type === "url") &&
    // Named by its language alone.
    runtime.language !== null &&
    (runtime.isolation === "inherit" || runtime.isolation === inlineIsolation)
  );
}
