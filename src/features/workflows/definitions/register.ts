/** Registering manifests: judged against what this node offers and what the tenant sees, then stored as a version. */
import { createHash } from "node:crypto";
import { isObject, type Json } from "../../../../actors/kernel/json.ts";
import { type Issue, Problem } from "../../../../actors/kernel/problem.ts";
import { joinedCeilings } from "../../../../actors/policy/ceilings.ts";
import type { JudgedWorkflow } from "../../../../actors/workflow/manifest/judged.ts";
import { refusal } from "../../../../actors/workflow/manifest/judged.ts";
import { secretsOf } from "../../../../actors/workflow/manifest/secrets.ts";
import type { Waiter } from "../../../lib/guarded/judging.ts";
import { contextIssues, forbiddenIssues, requireContext } from "./contexts.ts";
import { deployerOf } from "./deployer.ts";
import { judgeDocument, readWorkflow } from "./judging/judging.ts";
import { type Caller, globalForbidden, mayPublish, type WorkflowParts } from "./parts.ts";
import type { NewWorkflow } from "./records.ts";
import { ownerOf, tenantOf } from "./records.ts";
import type { Finding, Judgement, Registered, Scope } from "./schema.ts";

export interface RegisterOptions {
  readonly force: boolean | null;
  readonly scope: Scope | null;
}

type Found = Pick<JudgedWorkflow, "definition" | "metadata"> & {
  readonly issues: readonly Issue[];
  readonly warnings: readonly Finding[];
};

export function registering(parts: WorkflowParts) {
  const { sql, records, now, newId } = parts;

  /** What is wrong with a document for this owner, and what is worth a warning. */
  async function judge(waiter: Waiter, owner: string, document: Json): Promise<Found> {
    const judged = await judgeDocument(waiter, document, parts.offer);
    const { agents, workflows } = judged.references;
    const [seenAgents, seenWorkflows, unknown] = await Promise.all([
      agents.length === 0 ? new Set<string>() : parts.visibleAgents(owner, unique(agents)),
      workflows.length === 0 ? new Set<string>() : records.visible(owner, unique(workflows)),
      contextIssues(parts, owner, judged.definition),
    ]);
    const missing = agents
      .filter(({ name }) => !seenAgents.has(name))
      .map(({ name, path }) => ({ path, message: `there is no agent ${name}`, code: "agent_not_found" }));
    const absent = workflows
      .filter(({ name }) => !seenWorkflows.has(name))
      .filter(({ name }) => name !== judged.definition.name)
      .map(({ name, path }) => ({ path, code: "workflow_not_found", message: `there is no workflow ${name} yet` }));
    return {
      definition: judged.definition,
      metadata: judged.metadata,
      issues: [...judged.issues, ...missing, ...unknown],
      warnings: [...judged.warnings, ...absent],
    };
  }

  return {
    /**
     * Stores a manifest as a version of its name.
     * @throws Problem 400 `malformed_body`, 413 `body_too_large`, 422 `invalid_manifest`, 403 `global_scope_forbidden`,
     *   `security_context_forbidden`, 409 `workflow_version_exists`
     */
    async register(caller: Caller, text: string, options: RegisterOptions): Promise<Registered> {
      const parsed = await readWorkflow(caller, text);
      const scope = options.scope ?? parsed.scope ?? "tenant";
      const force = options.force ?? parsed.force ?? false;
      const owner = ownerOf(caller.tenant, scope);
      const { definition, metadata, issues, warnings } = await judge(caller, owner, parsed.document);
      if (issues.length > 0) throw refusal(issues);
      await parts.references.requireAllowed(caller.identity, tenantOf(owner), secretsOf(definition));
      await requireContext(parts, caller, definition);
      if (scope === "global" && !mayPublish(caller)) throw globalForbidden();
      const workflow: Omit<NewWorkflow, "ceilings"> = {
        name: definition.name,
        version: definition.version,
        description: metadata.description,
        labels: metadata.labels,
        annotations: metadata.annotations,
        tags: metadata.tags,
        metadata: shownMetadata(metadata),
        inputSchema: definition.input_schema,
        manifestYaml: parsed.yaml,
        manifestSha256: createHash("sha256").update(parsed.yaml).digest("hex"),
        definition: JSON.stringify(definition),
        registeredBy: caller.identity.userId,
        registeredRealm: caller.identity.realm,
        deployer: deployerOf(caller),
      };
      const at = new Date(now());
      const { workflowId, createdAt } = await store(caller, owner, workflow, force, at);
      await parts.follower.committed({ owner, name: workflow.name });
      return {
        id: workflowId,
        workflow_id: workflowId,
        name: workflow.name,
        version: workflow.version,
        scope,
        status: "registered",
        registered_at: at.toISOString(),
        created_at: createdAt.toISOString(),
        tenant_id: tenantOf(owner),
        warnings: [...warnings],
      };
    },

    /** The name that a manifest gives its workflow; null: none. @throws Problem 400, 413 */
    async nameIn(waiter: Waiter, text: string): Promise<string | null> {
      const { document } = await readWorkflow(waiter, text);
      const metadata = isObject(document) ? document.metadata : null;
      return isObject(metadata) && typeof metadata.name === "string" ? metadata.name : null;
    },

    /** Judges a manifest and stores nothing. @throws Problem 400 `malformed_body`, 413 `body_too_large` */
    async validate(caller: Waiter & Pick<Caller, "identity">, text: string): Promise<Judgement> {
      const { document } = await readWorkflow(caller, text);
      const { definition, issues: found, warnings } = await judge(caller, caller.tenant, document);
      // One that there is not is told of already.
      const isKnown = found.every(({ code }) => code !== "unknown_security_context");
      const issues = isKnown ? [...found, ...(await forbiddenIssues(parts, caller, definition))] : found;
      return {
        valid: issues.length === 0,
        issues: issues.map(({ path, code, message }) => ({ path, code, message })),
        warnings: [...warnings],
      };
    },
  };

  async function store(
    caller: Caller,
    owner: string,
    registered: Omit<NewWorkflow, "ceilings">,
    force: boolean,
    at: Date,
  ) {
    return sql.begin(async (tx) => {
      const held = await records.hold(tx, owner, registered.name);
      const replaced = held.find(({ version }) => version === registered.version);
      const existing = replaced?.workflow_id;
      const workflow = { ...registered, ceilings: ceilingsOf(caller, replaced ?? held[0]) };
      if (existing !== undefined && !force) throw versionExists(existing, workflow);
      const workflowId = existing ?? newId();
      let createdAt = at;
      if (existing === undefined) await records.insert(tx, owner, workflowId, workflow, at);
      else createdAt = await records.replace(tx, workflowId, workflow, at);
      const { name, version } = workflow;
      await parts.follower.changed(tx, { owner, name });
      const { kind, userId: sub } = caller.identity;
      const change = {
        type: "WorkflowRegistered",
        tenant: tenantOf(owner),
        workflowId,
        name,
        version,
        actor: { kind, sub },
      } as const;
      const details = { replaced: existing !== undefined, manifest_sha256: workflow.manifestSha256 };
      await Promise.all([
        records.note(tx, { ...change, requestId: caller.by.request_id, details }, newId(), at),
        parts.audit.append(tx, caller.by, {
          tenant: tenantOf(owner),
          action: "workflow.registered",
          target: { type: "workflow", id: workflowId },
          details: { name, version, ...details },
        }),
      ]);
      return { workflowId, createdAt };
    });
  }
}

/**
 * A tool call adds its ceilings to those of what it replaces, or of the latest version; a user ends them.
 * @throws Problem 422 `too_many_ceilings`
 */
function ceilingsOf(
  { ceilings }: Caller,
  former: { readonly context_ceilings: readonly string[] | null } | undefined,
): readonly string[] {
  if (ceilings === undefined) return [];
  const joined = joinedCeilings(ceilings, former?.context_ceilings ?? []);
  if (joined instanceof Problem) throw joined;
  return joined;
}

const unique = (references: readonly { readonly name: string }[]): string[] => [
  ...new Set(references.map(({ name }) => name)),
];

function versionExists(existingId: string, { name, version }: Pick<NewWorkflow, "name" | "version">): Problem {
  const message = `Version ${version} of ${name} exists; register it with force=true to replace it`;
  return new Problem("workflow_version_exists", message, { existing_id: existingId });
}

/** `metadata` as a definition shows it: schemas and the template only where they were declared. */
function shownMetadata(metadata: JudgedWorkflow["metadata"]) {
  const { input_schema, output_schema, output_template, ...rest } = metadata;
  return {
    ...rest,
    ...(input_schema === null ? {} : { input_schema }),
    ...(output_schema === null ? {} : { output_schema }),
    ...(output_template === null ? {} : { output_template }),
  };
}
