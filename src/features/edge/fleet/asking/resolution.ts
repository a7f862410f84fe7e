/** Whom a target means now: hosts that can be reached, those that are waited for, those that are left out. */
import { maxTargets, type Policy } from "../../../../../actors/edge/policy.ts";
import { isEffective, type Target } from "../../../../../actors/edge/target.ts";
import { invalidField, Problem } from "../../../../../actors/kernel/problem.ts";
import type { GroupsByName } from "../../groups/port.ts";
import type { HostTargets, TargetHost } from "../../hosts/port.ts";

export type SkipReason = "Disconnected" | "Unhealthy" | "NotAccepting" | "NotApproved";

export interface SkippedHost {
  readonly host: TargetHost;
  readonly reason: SkipReason;
}

/** All three in the order of names. */
export interface Resolved {
  /** A group is named by its id. */
  readonly target: Target;
  /** The target leaves no host out. */
  readonly meansAll: boolean;
  readonly eligible: readonly TargetHost[];
  readonly queued: readonly TargetHost[];
  readonly skipped: readonly SkippedHost[];
}

export interface ResolutionOptions {
  readonly hosts: HostTargets;
  readonly groups: GroupsByName;
}

export interface Leniency {
  /** Hosts that people have approved; null: any. */
  readonly approved: ReadonlySet<string> | null;
  /** Named hosts that are no more are left out. */
  readonly lenient: boolean;
}

/**
 * @throws Problem 404 `host_not_found`, `group_not_found`, 422 for more hosts than a run may have
 */
export async function resolveTarget(
  options: ResolutionOptions,
  tenant: string,
  target: Target,
  policy: Pick<Policy, "offline_ttl_secs">,
  { approved, lenient }: Leniency = { approved: null, lenient: false },
): Promise<Resolved> {
  const { hosts, ...named } = await hostsOf(options, tenant, target, lenient);
  if (hosts.length > maxTargets) throw invalidField("target", `means more than ${maxTargets} hosts`);
  const eligible: TargetHost[] = [];
  const queued: TargetHost[] = [];
  const skipped: SkippedHost[] = [];
  for (const host of hosts) {
    const reason = approved !== null && !approved.has(host.id) ? "NotApproved" : unreachable(host);
    if (reason === null) eligible.push(host);
    else if (reason !== "NotApproved" && policy.offline_ttl_secs > 0) queued.push(host);
    else skipped.push({ host, reason });
  }
  return { ...named, eligible, queued, skipped };
}

function unreachable({ status, accepting }: TargetHost): SkipReason | null {
  if (status === "disconnected") return "Disconnected";
  if (status === "unhealthy") return "Unhealthy";
  return accepting ? null : "NotAccepting";
}

async function hostsOf({ hosts, groups }: ResolutionOptions, tenant: string, target: Target, lenient: boolean) {
  const most = maxTargets + 1;
  if ("All" in target) return { target, meansAll: true, hosts: await hosts.selected(tenant, everyHost, most) };
  if ("Selector" in target) {
    const { Selector } = target;
    return { target, meansAll: !isEffective(Selector), hosts: await hosts.selected(tenant, Selector, most) };
  }
  if ("Group" in target) {
    const group = await groups.find(tenant, target.Group);
    if (group === null) throw new Problem("group_not_found", "Group not found");
    const meansAll = group.selector !== null && !isEffective(group.selector);
    return { target: { Group: group.id }, meansAll, hosts: await hosts.ofGroup(tenant, group, most) };
  }
  const ids = "Node" in target ? [target.Node] : target.Nodes;
  const found = await hosts.named(tenant, ids);
  if (found.length < ids.length && !lenient) throw new Problem("host_not_found", "Host not found");
  return { target, meansAll: false, hosts: found };
}

const everyHost = { os: null, arch: null, tools: [], labels: [], tags: [] };

/** Every host that it names. */
export const namedBy = ({ eligible, queued, skipped }: Resolved): number =>
  eligible.length + queued.length + skipped.length;

/** Numbers of hosts, as an actor takes them. */
export const sizesOf = ({ eligible, queued, skipped }: Resolved) => ({
  eligible: eligible.length,
  queued: queued.length,
  skipped: skipped.length,
});
