/**
 * Calls that are sent to an edge host. Such a call has to pass as what sends it there, and then as itself; which paths it
 * may touch is for the host's own policy to say.
 */

import type { Json } from "../kernel/json.ts";
import { callFacts } from "../policy/security/call-facts.ts";
import { type Binding, evaluate, type Governing } from "../policy/security/evaluate.ts";
import type { Refused } from "../policy/security/refusals.ts";
import { CMD_RUN } from "../tool/catalog.ts";
import { type CallTarget, isCallTarget } from "./call-target.ts";

type Arguments = { readonly [member: string]: Json };
interface Known {
  readonly name: string;
  readonly source: string;
}

/** What sends a call to hosts. */
export const onFleet = "svc.edge.fleet.invoke";
/** Tools that send calls to hosts say in a target of their own to which. */
const ofFleet = "svc.edge.fleet.";

/** Whether hosts know the tool. */
export const runsOnHosts = ({ source, name }: Known): boolean =>
  source === "builtin" && (name === CMD_RUN || name.startsWith("fs."));

/**
 * Takes out where the call is to run. A tool that hosts know has no `target` of its own: any is meant for one, so that a
 * misspelt one runs nowhere. That of another tool is its own, unless it names a host.
 * @param tool undefined: there is none of this name
 */
export function splitTarget(
  tool: Known | undefined,
  given: Arguments,
): { readonly target: Json; readonly given: Arguments } {
  const { target = null, ...rest } = given;
  if (target === null) return { target: null, given };
  const isOwn = tool?.name.startsWith(ofFleet) === true;
  const isMeant = !isOwn && (isCallTarget(target) || (tool !== undefined && runsOnHosts(tool)));
  return isMeant ? { target, given: rest } : { target: null, given };
}

/** Whether a call is meant for a host. */
export const isForHost = (tool: Known | undefined, given: Arguments): boolean =>
  splitTarget(tool, given).target !== null;

/** What lets a call for a host pass. */
export interface SentCall {
  readonly allowed: true;
  /** The call as one of what sends it. */
  readonly asked: Arguments;
  /** Of what sends it. */
  readonly sending: readonly Governing[];
  /** Of the tool itself. */
  readonly governing: readonly Governing[];
}

/** @param given the tool's arguments without the target */
export function evaluateOnHost(
  { target, tool, given }: { readonly target: CallTarget; readonly tool: string; readonly given: Arguments },
  bindings: readonly Binding[],
): SentCall | Refused {
  const aimed: Json = "edge_node_id" in target ? { Node: target.edge_node_id } : { Selector: target.edge_selector };
  const asked: Arguments = { target: aimed, tool, args: given };
  const sending = evaluate(callFacts(onFleet, asked), bindings);
  if (!sending.allowed) return sending;
  const own = evaluate({ ...callFacts(tool, given), paths: [], climbing: [] }, bindings);
  if (!own.allowed) return own;
  return { allowed: true, asked, sending: sending.governing, governing: own.governing };
}

/** The capabilities of both, each of which counts a call once; those of the tool first. */
export function together({ governing, sending }: Pick<SentCall, "governing" | "sending">): readonly Governing[] {
  const isOwn = ({ context, index }: Governing) =>
    governing.some((one) => one.context === context && one.index === index);
  return [...governing, ...sending.filter((one) => !isOwn(one))];
}
