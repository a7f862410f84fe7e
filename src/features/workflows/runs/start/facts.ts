/** The facts that the start of a run is decided by, gathered on its settled values. Nothing is stored here. */
import { maxInputBytes } from "../../../../../actors/execution/start/request.ts";
import { isObject, type Json } from "../../../../../actors/kernel/json.ts";
import { type Issue, invalid, type Problem, refusalOf } from "../../../../../actors/kernel/problem.ts";
import { workflowInput } from "../../../../../actors/manifest/json-schema/input-schema.ts";
import type { TenantTerms } from "../../../../../actors/policy/quota.ts";
import { isSystemName } from "../../../../../actors/policy/security/spec.ts";
import type { Definition } from "../../../../../actors/workflow/definition.ts";
import { secretsOf } from "../../../../../actors/workflow/manifest/secrets.ts";
import type { AgainFacts } from "../../../../../actors/workflow/run/start/plan-again.ts";
import { maxDescendants, type RunFacts } from "../../../../../actors/workflow/run/start/plan-run.ts";
import type {
  ForkRequest,
  ResolvedWorkflow,
  RetryRequest,
  RunRequest,
} from "../../../../../actors/workflow/run/start/request.ts";
import {
  keptVolumes,
  type NamedVolumes,
  namedIds,
  namedOnBlackboard,
  type StorageFacts,
} from "../../../../../actors/workflow/run/start/volumes.ts";
import type { RunState } from "../../../../../actors/workflow/run/state.ts";
import type { Starters } from "../../../../identity/callers/starters.ts";
import { type Checking, checkAgainstSchema, inputFault } from "../../../../lib/schema-check/input-check.ts";
import type { References } from "../../../references/port.ts";
import type { ContextReader } from "../../../security-contexts/port.ts";
import type { OpenVolumes } from "../../../volumes/port.ts";
import type { Definitions } from "../../definitions/port.ts";
import { workflowUse } from "../commands/secrets.ts";
import type { RunRecords } from "../records.ts";

/** A delivery of a mebibyte as a text of JSON, whose escapes may be six times as long, and once more as its value. */
const maxStimulusInputBytes = 8 * 1_048_576;

export interface RunFactsOptions {
  readonly definitions: Definitions;
  readonly records: Pick<RunRecords, "countBelow">;
  /** What the tenant may have, as it stands now. */
  readonly terms: (tenant: string) => Promise<TenantTerms>;
  readonly volumes: Pick<OpenVolumes, "checkFiles" | "readable" | "usedBytes">;
  readonly references: Pick<References, "unusable">;
  readonly contexts: Pick<ContextReader, "mayUse">;
  readonly starters: Pick<Starters, "identityOf">;
}

/**
 * @param left gives the signal that the caller has left; null: the start is stored, and waits for as long as it takes
 * @throws Problem 404 when there is no such workflow or version; 5xx when a fact cannot be had
 */
export async function gatherRunFacts(
  { definitions, records, volumes, references, contexts, starters, terms: termsOf }: RunFactsOptions,
  executionId: string,
  request: RunRequest,
  left: Checking["left"],
): Promise<RunFacts> {
  const { tenant, ref, version, starter, parent } = request;
  const [terms, workflow, descendants] = await Promise.all([
    termsOf(tenant),
    request.ofService ?? definitions.resolve({ tenant, ref, version }),
    parent === null ? 0 : records.countBelow(tenant, parent.rootExecutionId, maxDescendants),
  ]);
  const { definition } = workflow;
  const use = workflowUse({ tenant, executionId, owner: workflow.owner }, { ...request, workflow: workflow.name });
  const unusable = await references.unusable(use, secretsOf(definition));
  if (unusable !== null) throw unusable;
  const most = request.stimulusId === null ? maxInputBytes : maxStimulusInputBytes;
  const blackboard = isObject(request.blackboard) ? request.blackboard : {};
  const [input, attachments, storage, isContextAllowed, forbiddenContext] = await Promise.all([
    refusalOf(settleInput({ tenant, left }, request.input, definition.input_schema, most)),
    request.attachments.length === 0 ? [] : refusalOf(volumes.checkFiles(tenant, starter, request.attachments)),
    storageFacts(volumes, request, definition, [
      ...(request.keptVolumes ?? []),
      ...namedOnBlackboard(definition.storage, blackboard),
    ]),
    mayUseContext(contexts, request, request.securityContext, terms),
    forbiddenContextOf({ contexts, starters }, tenant, workflow, terms),
  ]);
  return { executionId, terms, workflow, descendants, input, attachments, storage, isContextAllowed, forbiddenContext };
}

const mayUseContext = async (
  contexts: RunFactsOptions["contexts"],
  { tenant, starter }: Pick<RunRequest, "tenant" | "starter">,
  name: string | null,
  { tier }: TenantTerms,
): Promise<boolean> => name === null || contexts.mayUse(tenant, name, starter, tier);

/** The context that a workflow names, where who deployed it may not use it today; null: there is none. */
export async function forbiddenContextOf(
  { contexts, starters }: Pick<RunFactsOptions, "contexts" | "starters">,
  tenant: string,
  { definition, owner, deployer = null }: Pick<ResolvedWorkflow, "definition" | "owner" | "deployer">,
  { tier }: TenantTerms,
): Promise<string | null> {
  const { security_context: name } = definition;
  if (name === undefined) return null;
  // One for all tenants names a context of the system: of another name each would have its own.
  if (owner !== tenant && !isSystemName(name)) return name;
  const identity = deployer === null ? null : await starters.identityOf(deployer, owner);
  return (await contexts.mayUse(tenant, name, identity, tier)) ? null : name;
}

/** For a retry or a fork. @throws Problem 403, 422, 5xx where secrets cannot be used */
export async function gatherAgainFacts(
  { volumes, references, contexts, starters, terms: termsOf }: Omit<RunFactsOptions, "definitions" | "records">,
  executionId: string,
  earlierId: string,
  earlier: RunState,
  request: Omit<RetryRequest, "fromState"> | ForkRequest,
): Promise<AgainFacts> {
  const { definition, header } = earlier;
  const { tenant, initiatedBy } = request;
  const use = workflowUse({ tenant, executionId, owner: tenant }, { initiatedBy, workflow: header.workflow_name });
  const unusable = await references.unusable(use, secretsOf(definition));
  if (unusable !== null) throw unusable;
  const [terms, storage] = await Promise.all([
    termsOf(request.tenant),
    storageFacts(volumes, request, definition, [
      ...keptVolumes(header.volumes),
      ...namedOnBlackboard(definition.storage, "patch" in request && isObject(request.patch) ? request.patch : {}),
    ]),
  ]);
  const { starter: deployer = null, tenant: owner = tenant } = header.deployed_by ?? {};
  const deployed = { definition, owner, deployer };
  const [isContextAllowed, forbiddenContext] = await Promise.all([
    mayUseContext(contexts, request, header.security_context, terms),
    forbiddenContextOf({ contexts, starters }, tenant, deployed, terms),
  ]);
  return { executionId, earlierId, earlier, terms, storage, isContextAllowed, forbiddenContext };
}

async function storageFacts(
  volumes: RunFactsOptions["volumes"],
  { tenant, starter }: Pick<RunRequest, "tenant" | "starter">,
  { storage }: Definition,
  named: NamedVolumes,
): Promise<StorageFacts> {
  if (storage.workspace === null && storage.shared_volumes.length === 0) return { readable: new Map(), usedBytes: 0 };
  const [readable, usedBytes] = await Promise.all([
    volumes.readable(tenant, starter, namedIds(storage, named)),
    volumes.usedBytes(tenant),
  ]);
  return { readable, usedBytes };
}

/**
 * The input with the schema's defaults filled in; `null` counts as none.
 * @param schema the workflow's `input_schema`; null admits anything
 * @param most bytes of the input's JSON
 * @throws Problem 422 `invalid_input`
 */
async function settleInput(checking: Checking, given: Json, schema: Json, most: number): Promise<{ value: Json }> {
  const input = given ?? {};
  const text = JSON.stringify(input);
  const fault = inputFault(input, text, most);
  if (fault !== null) throw invalidInput([{ path: "input", message: fault }]);
  if (schema === null) return { value: input };
  const verdict = await checkAgainstSchema(checking, schema, input, text.length, { rules: workflowInput, most });
  if (!verdict.ok) throw verdict.isCostly ? costly(invalidInput(verdict.issues)) : invalidInput(verdict.issues);
  return { value: verdict.input };
}

/** Refusals that took the node more work than a start may cost: the rate is debited all the same. */
const costlyRefusals = new WeakSet<Problem>();

function costly(refusal: Problem): Problem {
  costlyRefusals.add(refusal);
  return refusal;
}

/** Whether a start that was refused so costs its rate. */
export const isCostly = (refusal: Problem): boolean => costlyRefusals.has(refusal);

function invalidInput(findings: readonly { readonly path: string; readonly message: string }[]): Problem {
  const [first] = findings;
  const summary = first === undefined ? "it does not fit" : `${first.path}: ${first.message}`;
  const issues = findings.map(({ path, message }): Issue => ({ path, message, code: "invalid_input" }));
  return invalid("invalid_input", `Input validation failed: ${summary}`, issues);
}
