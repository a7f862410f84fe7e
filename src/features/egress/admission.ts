/**
 * Who may use the egress proxy: the running instance of a running execution, or a command that a workflow's run works
 * with, for as long as it is that.
 * What is known of an instance is believed for half a second; open connections are cut within that time.
 */

import { LRUCache } from "lru-cache";
import { execution } from "../../../actors/execution/execution.ts";
import type { ExecutionState } from "../../../actors/execution/state.ts";
import { type NetworkPolicy, policyOf } from "../../../actors/policy/network/policy.ts";
import type { Admission } from "../../adapters/egress/port.ts";
import type { Runtime } from "../../runtime/port.ts";
import { type ExecutionIdentity, type ExecutionTokens, egressUser } from "../execution-tokens/port.ts";
import type { Plans } from "../executions/port.ts";
import { commandsAtWork, publicHosts } from "./commands-at-work.ts";

/** What decides about instances, and knows how many connections they have open. */
export interface InstanceAdmission extends Admission<Subject> {
  connections(): number;
  /** Cuts every connection. */
  stop(): void;
}

/** The instance that a connection belongs to. */
export interface Subject extends ExecutionIdentity {
  readonly of: "execution" | "run" | "further";
  /** Null: a command of a workflow's run, or what another feature runs. */
  readonly agentId: string | null;
  readonly policy: NetworkPolicy;
}

/** What beside executions and runs has sandboxes that reach outside. */
export interface FurtherSubjects {
  /** What an instance may reach now; null: it is none of these, or does not run any more. */
  policyOf(identity: ExecutionIdentity): Promise<NetworkPolicy | null>;
}

export interface AdmissionOptions {
  /** Asked in turn about what is neither an execution nor a run. */
  readonly further: readonly FurtherSubjects[];
  readonly tokens: Pick<ExecutionTokens, "verify">;
  readonly runtime: Pick<Runtime, "of">;
  readonly plans: Plans;
  /** Whether an agent may be open to every public host. */
  readonly openEgress: boolean;
  /** Gets the bytes that an execution moved, once its last connection is closed. */
  report(subject: Subject, traffic: { readonly sent: number; readonly received: number }): void;
}

const believedMs = 500;
/** Connections of one instance at a time. */
const maxConnections = 64;
/** Verified tokens and known instances that are remembered. */
const capacity = 4096;

interface Known {
  /** Null: not, or no longer, running. */
  subject: Subject | null;
  checkedAt: number;
  checking: Promise<Subject | null> | null;
  readonly connections: Set<() => void>;
  sent: number;
  received: number;
}

export function createAdmission({
  tokens,
  runtime,
  plans,
  openEgress,
  further,
  report,
}: AdmissionOptions): InstanceAdmission {
  const verified = new LRUCache<string, ExecutionIdentity>({ max: capacity });
  const instances = new Map<string, Known>();
  const watch = setInterval(recheck, believedMs);
  watch.unref();

  async function identify(authorization: string): Promise<ExecutionIdentity | null> {
    const known = verified.get(authorization);
    if (known) return known;
    const password = passwordOf(authorization);
    const identity = password === null ? null : await tokens.verify(password).catch(() => null);
    if (identity === null) return null;
    verified.set(authorization, identity);
    return identity;
  }

  function knownOf({ instanceId }: ExecutionIdentity): Known {
    let known = instances.get(instanceId);
    if (known === undefined) {
      makeRoom(instances);
      known = {
        subject: null,
        checkedAt: Number.NEGATIVE_INFINITY,
        checking: null,
        connections: new Set(),
        sent: 0,
        received: 0,
      };
      instances.set(instanceId, known);
    }
    return known;
  }

  function current(known: Known, identity: ExecutionIdentity): Promise<Subject | null> {
    if (performance.now() - known.checkedAt < believedMs) return Promise.resolve(known.subject);
    known.checking ??= look(identity)
      .then((subject) => {
        known.subject = subject;
        known.checkedAt = performance.now();
        return subject;
      })
      .finally(() => {
        known.checking = null;
      });
    return known.checking;
  }

  async function look(identity: ExecutionIdentity): Promise<Subject | null> {
    const at = { kind: execution.kind, key: identity.executionId, tenant: identity.tenant };
    const state = await runtime.of(execution).at(at.tenant, at.key).read();
    if (state === null) return lookAtCommand(identity);
    if (!isAtWork(state, identity)) return null;
    const before = instances.get(identity.instanceId)?.subject;
    if (before) return before;
    const plan = await plans.of(at);
    const policy = policyOf(plan.network);
    // The node may have been closed since the execution began.
    const closed = policy.reach === "public" && !openEgress;
    const agentId = state.header.agent_id;
    return { ...identity, of: "execution", agentId, policy: closed ? policyOf(null) : policy };
  }

  async function lookAtCommand(identity: ExecutionIdentity): Promise<Subject | null> {
    const found = await commandsAtWork(runtime, identity.tenant, [identity]);
    if (!found.has(identity)) return lookFurther(identity);
    return { ...identity, of: "run", agentId: null, policy: openEgress ? publicHosts : policyOf(null) };
  }

  async function lookFurther(identity: ExecutionIdentity): Promise<Subject | null> {
    for (const each of further) {
      const policy = await each.policyOf(identity);
      if (policy !== null) return { ...identity, of: "further", agentId: null, policy };
    }
    return null;
  }

  /** Looks after all instances that have connections: one question for each tenant. */
  function recheck(): void {
    const due = new Map<string, Known[]>();
    for (const known of instances.values()) {
      const tenant = known.subject?.tenant;
      if (tenant === undefined || known.connections.size === 0) continue;
      due.set(tenant, [...(due.get(tenant) ?? []), known]);
    }
    // A store that is away is asked again the next time.
    for (const [tenant, known] of due) void recheckTenant(tenant, known).catch(() => {});
  }

  async function recheckTenant(tenant: string, all: readonly Known[]): Promise<void> {
    const subjects = all.flatMap(({ subject }) => (subject === null ? [] : [subject]));
    const ofKind = (kind: Subject["of"]) => subjects.filter((subject) => subject.of === kind);
    const stillThere = await Promise.all(
      ofKind("further").map(async (subject) => ((await lookFurther(subject)) === null ? [] : [subject])),
    );
    const atWork = new Set([
      ...(await commandsAtWork(runtime, tenant, ofKind("run"))),
      ...(await agentsAtWork(tenant, ofKind("execution"))),
      ...stillThere.flat(),
    ]);
    for (const known of all) {
      const { subject } = known;
      if (subject !== null && atWork.has(subject)) {
        known.checkedAt = performance.now();
        continue;
      }
      known.subject = null;
      for (const cut of [...known.connections]) cut();
    }
  }

  async function agentsAtWork(tenant: string, agents: readonly Subject[]): Promise<readonly Subject[]> {
    if (agents.length === 0) return [];
    const ids = [...new Set(agents.map(({ executionId }) => executionId))];
    const states = await runtime.of(execution).readMany(tenant, ids);
    return agents.filter((subject) => {
      const state = states.get(subject.executionId);
      return state !== undefined && isAtWork(state, subject);
    });
  }

  return {
    async admit(authorization) {
      const identity = await identify(authorization);
      return identity === null ? null : current(knownOf(identity), identity);
    },

    enter(subject, cut) {
      const known = knownOf(subject);
      if (known.connections.size >= maxConnections) return null;
      known.connections.add(cut);
      return {
        count(sent, received) {
          known.sent += sent;
          known.received += received;
        },
        leave() {
          if (!known.connections.delete(cut) || known.connections.size > 0) return;
          report(subject, { sent: known.sent, received: known.received });
          known.sent = 0;
          known.received = 0;
        },
      };
    },

    connections: () => [...instances.values()].reduce((sum, { connections }) => sum + connections.size, 0),

    stop() {
      clearInterval(watch);
      for (const { connections } of instances.values()) for (const cut of [...connections]) cut();
    },
  };
}

/** Forgets instances without connections, the oldest first. Not an LRU cache: one with connections must stay. */
function makeRoom(instances: Map<string, Known>): void {
  if (instances.size < capacity) return;
  for (const [instanceId, { connections }] of instances) {
    if (connections.size === 0) instances.delete(instanceId);
    if (instances.size < capacity * 0.9) return;
  }
}

/** Whether the instance is the one its execution works with. */
function isAtWork({ status, iteration }: ExecutionState, { instanceId }: ExecutionIdentity): boolean {
  return status === "running" && iteration.phase === "running" && iteration.instance_id === instanceId;
}

function passwordOf(authorization: string): string | null {
  const encoded = /^basic +([A-Za-z0-9+/]{1,8192}={0,2})$/i.exec(authorization)?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, "base64").toString("latin1");
  return text.startsWith(`${egressUser}:`) ? text.slice(egressUser.length + 1) : null;
}
