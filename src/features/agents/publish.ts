/** Deploying manifests and patching them. */

import { agentEvent, changeStatus } from "../../../actors/agent/lifecycle.ts";
import type { ManifestSource } from "../../../actors/agent/manifest/parse.ts";
import { referencesOfAgent } from "../../../actors/agent/manifest/references.ts";
import type { AgentSpec } from "../../../actors/agent/manifest/spec.ts";
import { keepName, type ManifestPatch, patched, readPatch } from "../../../actors/agent/patch.ts";
import { isPlatformOperator, systemTenant } from "../../../actors/identity/identity.ts";
import { starterOf } from "../../../actors/identity/starter.ts";
import { isObject, type Json } from "../../../actors/kernel/json.ts";
import { invalidAt, Problem } from "../../../actors/kernel/problem.ts";
import type { JudgeReference, Warning } from "../../../actors/manifest/findings.ts";
import { agentQuota } from "../../../actors/policy/quota.ts";
import { isSystemName } from "../../../actors/policy/security/spec.ts";
import type { Transaction } from "../../store/postgres/pool.ts";
import { inRounds, type StoredVersion, storeVersion } from "./deploy.ts";
import { judgeManifest, readManifest } from "./judging/judging.ts";

import {
  type AgentChange,
  type AgentParts,
  agentNotFound,
  type Caller,
  checkMayChange,
  globalForbidden,
  mayPublish,
  versionExists,
} from "./parts.ts";
import type { AgentDocumentRow } from "./records.ts";
import type { AgentScope, Deployed, DryRun, Patched } from "./schema.ts";
import {
  asReplacing,
  findVersion,
  insertVersion,
  type LockedAgent,
  lockVisible,
  makeCurrent,
  moveTo,
  type NewVersion,
} from "./versions.ts";

export interface DeployOptions {
  readonly force: boolean;
  readonly scope: AgentScope;
  readonly dry_run: boolean;
  /** Only as a new agent of this id; the same again finds what was deployed so before. */
  readonly only_new?: string;
}

/** A document found good. */
interface Judged {
  readonly document: Json;
  readonly yaml: string;
  readonly spec: AgentSpec;
  readonly warnings: readonly Warning[];
}

/** What a patch comes to. */
interface Outcome {
  readonly action: "new_version" | "overwrite";
  readonly tenant: string;
  readonly changes: readonly AgentChange["what"][];
}

export function publishing(parts: AgentParts) {
  const { sql, records, offer } = parts;

  /** @throws Problem 422 for what the document holds */
  async function judge(caller: Caller, tenant: string, document: Json, yaml: string | null): Promise<Judged> {
    const {
      spec,
      warnings,
      judges,
      yaml: text,
    } = await judgeManifest(caller, document, yaml, {
      ...offer,
      hostPaths: isPlatformOperator(caller.identity) ? offer.hostPaths : [],
      ...(parts.toolNames === undefined ? {} : { tools: await parts.toolNames(tenant) }),
    });
    // Unchanged ones too: who changes an agent answers for what it can see afterwards.
    await parts.references.requireAllowed(caller.identity, tenant, referencesOfAgent(spec));
    const missing = await missingJudges(tenant, judges);
    return { document, yaml: text, spec, warnings: [...warnings, ...missing] };
  }

  async function missingJudges(tenant: string, judges: readonly JudgeReference[]): Promise<Warning[]> {
    if (judges.length === 0) return [];
    const known = await records.known(tenant, [...new Set(judges.map(({ name }) => name))]);
    return judges
      .filter(({ name }) => !known.has(name))
      .map(({ path }) => ({
        path,
        code: "judge_not_found",
        message: "No agent has this name now; starts will be refused",
      }));
  }

  function newVersion({ identity, ceilings }: Caller, { spec, document, yaml }: Judged): NewVersion {
    const at = new Date(parts.now());
    return {
      version_id: parts.newId(),
      spec,
      document,
      yaml,
      deployed_by: identity.userId,
      deployed_realm: identity.realm,
      deployer: starterOf(identity),
      ceilings: ceilings ?? null,
      at,
    };
  }

  /** @returns null when the agent is no longer as it was when the patch was judged */
  async function change(
    tx: Transaction,
    caller: Caller,
    row: AgentDocumentRow,
    next: Judged | null,
    { status }: ManifestPatch,
    dryRun: boolean,
  ): Promise<Outcome | null> {
    const agent = await lockVisible(tx, caller.tenant, row.agent_id);
    if (agent === null) throw agentNotFound();
    checkMayChange(caller, agent);
    if (agent.current_version_id !== row.version_id) return null;
    const changes: AgentChange["what"][] = [];
    let action: Outcome["action"] = "overwrite";
    if (next !== null) {
      action = await replace(tx, caller, agent, next, dryRun);
      changes.push("updated");
    }
    if (status !== null && changeStatus(agent.status, status).changed) {
      changes.push(status === "active" ? "resumed" : status);
      const subject = { ...agent, version: next?.spec.metadata.version ?? agent.version };
      if (!dryRun) await moveTo(tx, parts.events, subject, status, new Date(parts.now()));
    }
    if (!dryRun && changes.length > 0) {
      const version = next?.spec.metadata.version ?? agent.version;
      const details = { version, changes: [...changes] };
      await parts.record(tx, caller, { ...agent, tenants: [agent.tenant] }, "updated", details);
    }
    return { action, tenant: agent.tenant, changes };
  }

  /** Stores the patched manifest: a new revision of the current version, or a version that is not there yet. */
  async function replace(
    tx: Transaction,
    caller: Caller,
    agent: LockedAgent,
    next: Judged,
    dryRun: boolean,
  ): Promise<Outcome["action"]> {
    const { agent_id, name } = agent;
    const { version } = next.spec.metadata;
    const latest = await findVersion(tx, agent_id, version, null);
    if (latest !== null && version !== agent.version) throw versionExists(agent_id, version);
    const action = latest === null ? "new_version" : "overwrite";
    if (dryRun) return action;
    const revision = (latest?.revision ?? 0) + 1;
    const fresh = asReplacing(newVersion(caller, next), agent);
    await insertVersion(tx, agent, revision, fresh);
    await makeCurrent(tx, agent_id, fresh.version_id, fresh.at);
    const facts = { old_version: agent.version, new_version: version, revision, reason: "patch" };
    const event = agentEvent("agent_updated", { agent_id, name, version }, fresh.at, facts);
    await parts.events.note(tx, agent.tenant, agent_id, event);
    return action;
  }

  return {
    /**
     * Stores a manifest as a version of its agent, or says what storing it would do.
     * @throws Problem 400, 413, 415 for the text; 422 for the manifest; 402, 403, 409
     */
    async deploy(
      caller: Caller,
      source: ManifestSource,
      { force, scope, dry_run, only_new }: DeployOptions,
    ): Promise<Deployed | DryRun> {
      const manifest = await readManifest(caller, source);
      const isGlobal = scope === "global";
      const tenant = isGlobal ? systemTenant : caller.tenant;
      const judged = await judge(caller, tenant, manifest.document, manifest.yaml);
      if (isGlobal && !mayPublish(caller)) throw globalForbidden();
      const terms = await parts.terms(tenant);
      await checkContext(parts, caller, tenant, judged.spec);
      const version = newVersion(caller, judged);
      const stored = await storeVersion(sql, {
        tenant,
        scope,
        origin: isGlobal ? caller.tenant : null,
        version,
        agentId: only_new ?? parts.newId(),
        onlyNew: only_new !== undefined,
        mayPublish: mayPublish(caller),
        force,
        dryRun: dry_run,
        quota: agentQuota(terms),
        events: parts.events,
        record: (tx, { agent_id, scope, action, revision }) => {
          const { name, version } = judged.spec.metadata;
          return parts.record(tx, caller, { agent_id, name, tenants: [tenant] }, "deployed", {
            version,
            revision,
            scope,
            created: action === "create",
          });
        },
      });
      if (dry_run) return foreseen(judged, stored.action);
      const what = stored.action === "create" ? "deployed" : "updated";
      await parts.tell({ what, tenant, agentId: stored.agent_id });
      return deployed(tenant, judged, stored, version.at);
    },

    /** The name that a manifest gives its agent; null: none. @throws Problem 400, 413 */
    async nameIn(waiter: Caller, text: string): Promise<string | null> {
      const { document } = await readManifest(waiter, { mediaType: null, text });
      const metadata = isObject(document) ? document.metadata : null;
      return isObject(metadata) && typeof metadata.name === "string" ? metadata.name : null;
    },

    /**
     * Changes the manifest, the status, or both; or says what that would do.
     * @throws Problem 400, 413, 415 for the text; 422 for what it makes of the manifest; 403, 404, 409
     */
    async patch(caller: Caller, agentId: string, source: ManifestSource, dryRun: boolean): Promise<Patched | DryRun> {
      const { tenant } = caller;
      const sent = await readManifest(caller, source, true);
      const patch = readPatch(sent.document);
      const { outcome, judged, before } = await inRounds(async () => {
        const row = await records.find(tenant, { id: agentId }, null);
        if (row === null) throw agentNotFound();
        keepName(patch, row.name);
        const next = await patchedManifest(caller, row, patch, sent.yaml);
        checkMayChange(caller, row);
        if (next !== null) await checkContext(parts, caller, row.tenant, next.spec);
        const done = await sql.begin((tx) => change(tx, caller, row, next, patch, dryRun));
        return done === null ? null : { outcome: done, judged: next, before: row };
      });
      const warnings = [...(judged?.warnings ?? [])];
      if (dryRun) {
        const { name, version } = judged?.spec.metadata ?? before;
        const manifest = judged?.document ?? before.document;
        return { valid: true, dry_run: true, action: outcome.action, name, version, manifest, warnings };
      }
      for (const what of outcome.changes) await parts.tell({ what, tenant: outcome.tenant, agentId });
      return { ...(await parts.shown(caller, outcome.tenant, agentId)), success: true, warnings };
    },
  };

  /** Null when the patch leaves the manifest alone. */
  async function patchedManifest(
    caller: Caller,
    row: AgentDocumentRow,
    { content }: ManifestPatch,
    yaml: string | null,
  ): Promise<Judged | null> {
    if (content === null) return null;
    return judge(caller, row.tenant, patched(row.document, content), content.whole ? yaml : null);
  }
}

/**
 * @param owner of the agent: a global one names a context of the system
 * @throws Problem 403 `security_context_forbidden`, 422 `unknown_security_context`
 */
async function checkContext(
  { terms, contexts }: Pick<AgentParts, "terms" | "contexts">,
  { identity, tenant }: Caller,
  owner: string,
  { security_context: name }: AgentSpec,
): Promise<void> {
  if (name === null) return;
  const isForAll = owner === systemTenant && tenant !== systemTenant;
  if ((isForAll && !isSystemName(name)) || !(await contexts.exists(tenant, name))) {
    throw invalidAt("unknown_security_context", "spec.security_context", "there is no such security context");
  }
  if (await contexts.mayUse(tenant, name, identity, (await terms(tenant)).tier)) return;
  throw new Problem("security_context_forbidden", `The caller may not use the security context ${name}`);
}

function foreseen({ spec, document, warnings }: Judged, action: DryRun["action"]): DryRun {
  const { name, version } = spec.metadata;
  return { valid: true, dry_run: true, action, name, version, manifest: document, warnings: [...warnings] };
}

function deployed(tenant: string, { spec, warnings }: Judged, stored: StoredVersion, at: Date): Deployed {
  const { agent_id, scope, status, revision, action } = stored;
  return {
    id: agent_id,
    agent_id,
    name: spec.metadata.name,
    tenant_id: tenant,
    version: spec.metadata.version,
    revision,
    scope,
    status,
    deployed_at: at.toISOString(),
    created: action === "create",
    warnings: [...warnings],
  };
}
