/** Attestations: a key is tied to an execution, or to a caller outside of one, by a session and its token. */
import { createHash, randomUUID } from "node:crypto";
import { execution } from "../../../../actors/execution/execution.ts";
import type { ExecutionState } from "../../../../actors/execution/state.ts";
import type { Identity } from "../../../../actors/identity/identity.ts";
import { type Starter, starterOf } from "../../../../actors/identity/starter.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { wholeCharacters } from "../../../../actors/kernel/text.ts";
import { iso } from "../../../../actors/kernel/time.ts";
import { contextByIdentity } from "../../../../actors/policy/security/system.ts";
import { readPublicKey } from "../../../../actors/seal/public-key.ts";
import { type Container, namesInstance } from "../../../../actors/seal/workload.ts";
import { isUuid } from "../../../http/route.ts";
import { requireActive, type Tenants } from "../../../identity/tenants/tenants.ts";
import type { Runtime } from "../../../runtime/port.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import type { ExecutionIdentity } from "../../execution-tokens/port.ts";
import { invalidToken } from "../../execution-tokens/port.ts";
import type { ContextReader } from "../../security-contexts/port.ts";
import type { SecurityTokens } from "../tokens.ts";
import { runningInstance } from "./projection.ts";
import type { SessionRecords } from "./records.ts";
import type { AttestationBody, AttestBody } from "./schema.ts";

export interface AttestationOptions {
  readonly sql: Sql;
  readonly runtime: Pick<Runtime, "of">;
  readonly records: Pick<SessionRecords, "open" | "lock" | "revoke">;
  readonly tokens: Pick<SecurityTokens, "mint">;
  readonly contexts: Pick<ContextReader, "exists" | "mayUse" | "defaultOf">;
  readonly tenants: Pick<Tenants, "find">;
  /** Unix ms by PostgreSQL's clock. @throws Problem 503 while it is not known */
  readonly databaseNow: () => number;
  /** The container of an instance on this host; null: none that is known here. */
  readonly containerOf: (instanceId: string) => Promise<Container | null>;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
  /** SVC_SEAL_TOKEN_TTL_SECONDS */
  readonly ttlSeconds: number;
  /** Told of sessions that a newer one has superseded. */
  readonly ended: (ids: readonly string[]) => void;
}

/** A caller who is no sandbox. */
export interface Opener {
  readonly identity: Identity;
  /** The effective one. */
  readonly tenant: string;
  /** Called in the transaction that opens the session. */
  readonly record: (tx: Transaction, session: AttestationBody) => Promise<void>;
}

/** What a session is opened for. */
interface Subject {
  readonly tenant: string;
  readonly executionId: string;
  readonly agentId: string;
  readonly principal: string;
  readonly detached: boolean;
  readonly context: string;
  /** Unix ms; null: nothing ends it before the token. */
  readonly deadlineAt: number | null;
  /** Of the sandbox that is there now. */
  readonly instanceId: string | null;
}

interface Asked {
  readonly publicKey: Uint8Array;
  readonly context: string | null;
  readonly containerId: string | null;
  readonly workloadId: string | null;
  readonly taskSummary: string | null;
  readonly patterns: readonly string[] | null;
}

export type Attestation = ReturnType<typeof createAttestation>;

const maxSummaryBytes = 256;

export function createAttestation(options: AttestationOptions) {
  const { sql, runtime, records, contexts, tenants, databaseNow, newId, ttlSeconds } = options;

  const read = (tenant: string, id: string) => runtime.of(execution).at(tenant, id).read();

  /** @throws Problem 404, 403 `security_context_forbidden` */
  async function requireContext(tenant: string, asked: string, own: string): Promise<void> {
    if (asked === own) return;
    if (!(await contexts.exists(tenant, asked))) throw contextNotFound(asked);
    throw new Problem("security_context_forbidden", `The execution runs under ${own}, not under ${asked}`);
  }

  const contextOf = async (tenant: string, { header }: Pick<ExecutionState, "header">): Promise<string> =>
    header.security_context ?? contexts.defaultOf(tenant);

  /** The deadline stands in the state; the instance is null where none is at work. */
  function subjectOf(tenant: string, id: string, state: ExecutionState, context: string): Subject {
    const { header, deadline_at: deadlineAt } = state;
    const instanceId = runningInstance(state);
    return {
      ...{ tenant, executionId: id, agentId: header.agent_id, principal: id, detached: false },
      ...{ context, deadlineAt, instanceId },
    };
  }

  /** @throws Problem 401 `workload_not_verified`, 429 */
  async function open(
    subject: Subject,
    asked: Asked,
    instance: { readonly id: string; readonly iteration: number } | null,
    opener: (Opener & { readonly starter: Starter }) | null,
  ): Promise<AttestationBody> {
    const { tenant, executionId, agentId, principal, detached, context: securityContext } = subject;
    const { workloadId, taskSummary, patterns, publicKey } = asked;
    const containerId = await containerNamed(subject, asked);
    const issuedAt = Math.floor(databaseNow() / 1000);
    const ends = issuedAt + ttlSeconds;
    const expiresAt = subject.deadlineAt === null ? ends : Math.min(ends, Math.ceil(subject.deadlineAt / 1000));
    const id = newId();
    const claims = { agentId, executionId, tenant, securityContext, issuedAt, expiresAt, taskSummary };
    const token = await options.tokens.mint({ ...claims, sessionId: id, workload: containerId ?? executionId });
    const session = {
      ...{ id, tenant, executionId, agentId, detached, principal, securityContext, patterns, publicKey },
      ...{ containerId, workloadId, issuedAt, expiresAt },
      token: createHash("sha256").update(token).digest(),
      instanceId: instance?.id ?? null,
      iteration: instance?.iteration ?? null,
      opener: opener?.starter ?? null,
    };
    const body: AttestationBody = {
      status: "success",
      protocol: "seal/v1",
      security_token: token,
      session_id: id,
      expires_at: iso(expiresAt * 1000),
      execution_id: executionId,
      agent_id: agentId,
      tenant_id: tenant,
      security_context: securityContext,
    };
    const superseded = await (opener === null
      ? records.open(sql, session)
      : sql.begin(async (tx) => {
          await records.lock(tx, session);
          const ids = await records.open(tx, session);
          if (ids !== null) await opener.record(tx, body);
          return ids;
        }));
    if (superseded === null) {
      throw new Problem("rate_limited", "Too many attestations in a minute", {}, { "Retry-After": "60" });
    }
    options.ended(superseded);
    return body;
  }

  /**
   * Looks again behind the opening: an execution or an instance whose end was committed meanwhile has not seen the session.
   */
  async function stillThere(body: AttestationBody, instanceId: string | null): Promise<AttestationBody> {
    const state = await read(body.tenant_id, body.execution_id);
    const isRunning = state?.status === "running";
    if (isRunning && (instanceId === null || runningInstance(state) === instanceId)) return body;
    await records.revoke(sql, [body.session_id], isRunning ? "instance_ended" : "execution_ended");
    throw isRunning ? invalidToken() : notRunning();
  }

  return {
    /**
     * A sandbox attests for itself.
     * @throws Problem 401 also for a former instance's token
     */
    async ofInstance(
      { executionId, tenant, instanceId }: ExecutionIdentity,
      given: AttestBody,
    ): Promise<AttestationBody> {
      const asked = readAsked(given);
      const state = await read(tenant, executionId);
      if (state === null) throw invalidToken();
      if (state.iteration.instance_id !== instanceId) throw invalidToken();
      if (state.status !== "running") throw notRunning();
      if (runningInstance(state) === null) throw invalidToken();
      const named = idsOf(given);
      if (named.executionId !== null && named.executionId !== executionId) throw executionNotFound();
      requireAgent(named.agentId, state);
      requireTenant(given, tenant);
      const context = await contextOf(tenant, state);
      if (asked.context !== null) await requireContext(tenant, asked.context, context);
      const instance = { id: instanceId, iteration: state.iteration.number };
      return stillThere(await open(subjectOf(tenant, executionId, state, context), asked, instance, null), instanceId);
    },

    /** A caller attests for an execution, or for themself where no ids are given. */
    async ofCaller(caller: Opener, given: AttestBody): Promise<AttestationBody> {
      const { executionId, agentId } = idsOf(given);
      if ((executionId === null) !== (agentId === null)) {
        throw new Problem("malformed_body", "agent_id and execution_id come together or not at all");
      }
      requireTenant(given, caller.tenant);
      const asked = readAsked(given);
      return executionId === null
        ? this.detached(caller, asked)
        : this.ofExecution(caller, executionId, agentId, asked);
    },

    /** @param agentId null: any @throws Problem 403 `execution_not_yours`, 404, 409 */
    async ofExecution(
      caller: Opener,
      executionId: string,
      agentId: string | null,
      asked: Asked,
    ): Promise<AttestationBody> {
      const { identity, tenant } = caller;
      const id = executionId.toLowerCase();
      const state = await read(tenant, id);
      if (state === null) throw executionNotFound();
      requireAgent(agentId, state);
      if (!mayOpen(identity, state)) {
        throw new Problem("execution_not_yours", "Only its starter and who administers the tenant may do this");
      }
      if (state.status !== "running") throw notRunning();
      const context = await contextOf(tenant, state);
      if (asked.context !== null) await requireContext(tenant, asked.context, context);
      const tier = (await tenants.find(tenant))?.standing.tier ?? "free";
      await requireUsable(tenant, context, identity, tier);
      const starter = starterOf(identity);
      return stillThere(await open(subjectOf(tenant, id, state, context), asked, null, { ...caller, starter }), null);
    },

    async detached(caller: Opener, asked: Asked): Promise<AttestationBody> {
      const { identity, tenant } = caller;
      const known = await tenants.find(tenant);
      if (known !== null) requireActive(known.status);
      const tier = known?.standing.tier ?? "free";
      const context = asked.context ?? contextByIdentity(identity, tier);
      if (!(await contexts.exists(tenant, context))) throw contextNotFound(context);
      await requireUsable(tenant, context, identity, tier);
      const subject: Subject = {
        ...{ tenant, executionId: randomUUID(), agentId: randomUUID(), detached: true, context },
        principal: `${identity.realm}/${identity.userId}`,
        ...{ deadlineAt: null, instanceId: null },
      };
      return open(subject, asked, null, { ...caller, starter: starterOf(identity) });
    },
  };

  /**
   * What of the two names the running sandbox. A `workload_id` that names another thing is a label.
   * @throws Problem 401 `workload_not_verified`
   */
  async function containerNamed({ instanceId }: Subject, asked: Asked): Promise<string | null> {
    const { containerId, workloadId } = asked;
    const named = containerId ?? workloadId;
    if (named === null) return null;
    const isOurs =
      instanceId !== null &&
      (namesInstance(named, instanceId) || namesInstance(named, instanceId, await options.containerOf(instanceId)));
    if (isOurs) return named;
    if (containerId === null) return null;
    throw new Problem("workload_not_verified", "container_id names no running sandbox of the execution");
  }

  async function requireUsable(
    tenant: string,
    context: string,
    identity: Identity,
    tier: Parameters<ContextReader["mayUse"]>[3],
  ): Promise<void> {
    if (await contexts.mayUse(tenant, context, identity, tier)) return;
    throw new Problem("security_context_forbidden", `The caller may not use the security context ${context}`);
  }
}

/** Whether a caller may open sessions of an execution that runs in the effective tenant. */
function mayOpen({ kind, realm, userId, membership }: Identity, { header }: Pick<ExecutionState, "header">): boolean {
  if (kind === "operator" || kind === "service_account") return true;
  if (membership !== null && membership !== "member") return true;
  // A consumer's own tenant has no memberships: its owner is the starter.
  return header.starter?.realm === realm && header.starter.sub === userId;
}

/** @throws Problem 422 `invalid_public_key` */
function readAsked(given: AttestBody): Asked {
  const text = present(given.agent_public_key) ?? present(given.public_key) ?? present(given.public_key_pem);
  return {
    publicKey: soundKey(text === null ? null : readPublicKey(text)),
    context: present(given.security_context?.trim()),
    containerId: present(given.container_id),
    workloadId: present(given.workload_id),
    taskSummary: cut(present(given.task_summary)),
    patterns: null,
  };
}

/** @throws Problem 422 `invalid_public_key` */
export function soundKey(key: Uint8Array | null): Uint8Array {
  if (key === null) throw new Problem("invalid_public_key", "There is no Ed25519 public key of 32 bytes to trust");
  return key;
}

/** Clients send empty texts for what they do not know. */
const present = (text: string | undefined): string | null => (text === undefined || text === "" ? null : text);

function cut(text: string | null): string | null {
  if (text === null) return null;
  const bytes = new TextEncoder().encode(text.toWellFormed()).subarray(0, maxSummaryBytes);
  return new TextDecoder().decode(bytes.subarray(0, wholeCharacters(bytes))).replaceAll("\0", "");
}

/** @throws Problem 400 */
function idsOf({ execution_id, agent_id }: AttestBody) {
  const uuid = (text: string | undefined, path: string): string | null => {
    const given = present(text);
    if (given !== null && !isUuid(given)) throw new Problem("malformed_body", `${path} is no UUID`);
    return given?.toLowerCase() ?? null;
  };
  return { executionId: uuid(execution_id, "execution_id"), agentId: uuid(agent_id, "agent_id") };
}

function requireAgent(agentId: string | null, { header }: Pick<ExecutionState, "header">): void {
  if (agentId !== null && agentId.toLowerCase() !== header.agent_id) {
    throw new Problem("agent_mismatch", "The execution is one of another agent");
  }
}

function requireTenant({ tenant_id }: AttestBody, tenant: string): void {
  const given = present(tenant_id);
  if (given !== null && given !== tenant) throw new Problem("tenant_mismatch", "tenant_id is not the effective tenant");
}

const executionNotFound = () => new Problem("execution_not_found", "Execution not found");
const notRunning = () => new Problem("execution_not_running", "The execution is not running");
const contextNotFound = (name: string) =>
  new Problem("security_context_not_found", `There is no security context ${name}`);
