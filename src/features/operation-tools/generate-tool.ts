/** The tool `agent.generate`: an agent of the service writes the manifest of an agent, which is judged and deployed. */
import { Type } from "@sinclair/typebox";
import { agentWriter } from "../../../actors/agent/of-service.ts";
import { starterOf } from "../../../actors/identity/starter.ts";
import { AnyJson, isObject, type Json } from "../../../actors/kernel/json.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { withoutFence } from "../../../actors/kernel/text.ts";
import { renderYaml } from "../../../actors/manifest/document.ts";
import { rateUserOf } from "../../../actors/policy/rates/limits.ts";
import { derivedUuid } from "../../lib/digest.ts";
import type { Agents } from "../agents/port.ts";
import { auditedAgent } from "../audit/port.ts";
import type { Executions } from "../executions/port.ts";
import { defineTool, type ManagementTool, type ToolCaller } from "../management-tools/port.ts";
import { ToolFailure } from "../tools/port.ts";
import { originOf } from "./origin.ts";

export interface GenerateToolOptions {
  readonly agents: Pick<Agents, "deploy" | "identify" | "nameIn">;
  readonly executions: Pick<Executions, "find" | "joinable" | "startAs" | "adopt" | "settled">;
  /** What a manifest may name, for the caller. */
  readonly choicesOf: (caller: ToolCaller) => Promise<{ readonly [name: string]: Json }>;
}

/** The first answer, and what becomes of it. */
const maxRounds = 3;
/** An answer and its retries at the model; the agent's own timeout is shorter. */
const roundSeconds = 330;
const maxRequestCharacters = 100_000;
/** Warnings of manifests that would not start. */
const serious = new Set(["unknown_tool", "unknown_model_alias", "judge_not_found"]);
/** Refusals that no other manifest would change. */
const final = new Set<number>([402, 429]);

interface Finding {
  readonly path: string;
  readonly message: string;
  readonly code: string;
}

/** What was written, and what is against it. */
interface Draft {
  readonly text: string;
  readonly manifest: Json;
  readonly issues: readonly Finding[];
}

export function generateTool({ agents, executions, choicesOf }: GenerateToolOptions): ManagementTool {
  /** One answer of the writer. The same round of the same call is the same execution. */
  async function write(caller: ToolCaller, round: number, input: Json) {
    const { tenant, identity, ceilings, executionId, workId, signal } = caller;
    const started = await executions.startAs(derivedUuid(`${workId} ${round}`), false, {
      ofService: agentWriter,
      tenant,
      origin: await originOf(executions, caller),
      starter: identity,
      startedBy: starterOf(identity),
      ceilings,
      countedFor: rateUserOf(identity),
      input,
    });
    if (executionId !== null) await executions.adopt(tenant, executionId, started);
    const { execution_id, status, output } = await executions.settled(started, tenant, roundSeconds, signal);
    signal.throwIfAborted();
    if (status === "completed" && output !== null) return { execution_id, text: withoutFence(output) };
    throw new ToolFailure("generation_failed", "The manifest was not written", { execution_id, status });
  }

  const callerOf = (caller: ToolCaller) => ({
    tenant: caller.tenant,
    identity: caller.identity,
    by: auditedAgent(caller),
    ceilings: caller.ceilings,
    signal: caller.signal,
  });
  const source = (text: string) => ({ mediaType: null, text });
  const options = ({ workId }: ToolCaller) => ({ force: false, scope: "tenant", only_new: workId }) as const;

  /** As a deployment would judge it. */
  async function judge(caller: ToolCaller, text: string): Promise<Draft> {
    try {
      const judged = await agents.deploy(callerOf(caller), source(text), { ...options(caller), dry_run: true });
      const manifest = "manifest" in judged ? judged.manifest : null;
      return { text, manifest, issues: [...judged.warnings.filter(({ code }) => serious.has(code))] };
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500 || final.has(error.status)) throw error;
      return { text, manifest: null, issues: issuesOf(error) };
    }
  }

  /** A global agent of that name would be shadowed. */
  async function nameIssues(caller: ToolCaller, { text, issues }: Draft): Promise<readonly Finding[]> {
    if (issues.length > 0) return issues;
    const name = await agents.nameIn(callerOf(caller), text);
    const taken = name === null ? null : await agents.identify(caller.tenant, name);
    if (taken === null || taken === caller.workId) return [];
    return [{ path: "metadata.name", message: "another agent has this name", code: "agent_name_conflict" }];
  }

  return defineTool({
    name: "svc.agent.generate",
    effect: "repeatable",
    description:
      "Have a new agent's manifest written from what the agent is for, and deploy it; with deploy=false it is only shown",
    scope: "agent:generate",
    arguments: Type.Object({
      input: { ...AnyJson, description: "What the agent is for" },
      deploy: Type.Boolean({ default: true }),
    }),
    call: async (caller, { input, deploy }) => {
      const request = requestIn(input);
      if (deploy && !caller.identity.scopes.has("agent:deploy")) {
        throw new ToolFailure("insufficient_scope", "This needs the scope agent:deploy", { required: "agent:deploy" });
      }
      const choices = await choicesOf(caller);
      const executionIds: string[] = [];
      let draft: Draft = { text: "", manifest: null, issues: [] };
      for (let round = 1; round <= maxRounds; round++) {
        const repair = round === 1 ? {} : { previous: draft.text, issues: draft.issues.map((issue) => ({ ...issue })) };
        const { execution_id, text } = await write(caller, round, { request, ...choices, ...repair });
        executionIds.push(execution_id);
        draft = await judge(caller, text);
        draft = { ...draft, issues: await nameIssues(caller, draft) };
        if (draft.issues.length === 0) break;
      }
      const { text, manifest, issues } = draft;
      if (issues.length > 0) {
        throw new ToolFailure("generation_failed", "No manifest was written that can be deployed", {
          issues: issues.map((issue) => ({ ...issue })),
          manifest: text,
          execution_ids: executionIds,
        });
      }
      const shown = { manifest_yaml: renderYaml(manifest), execution_ids: executionIds };
      if (!deploy) return { deployed: false, ...namesOf(manifest), ...shown };
      const deployed = await agents.deploy(callerOf(caller), source(text), { ...options(caller), dry_run: false });
      return { deployed: true, ...deployed, ...shown };
    },
  });
}

/** @throws ToolFailure `invalid_arguments` */
function requestIn(input: Json): string {
  const text = typeof input === "string" ? input : JSON.stringify(input);
  if (input !== null && text.trim() !== "" && text.length <= maxRequestCharacters) return text;
  const message = `must say what the agent is for, in at most ${maxRequestCharacters} characters`;
  const issues = [{ path: "input", message, code: "invalid" }];
  throw new ToolFailure("invalid_arguments", "The arguments do not fit the tool", { issues });
}

function issuesOf({ code, message, extras }: Problem): readonly Finding[] {
  const { issues } = extras as { readonly issues?: unknown };
  const told = (Array.isArray(issues) ? issues.filter(isObject) : []).map(
    (issue): Finding => ({ path: String(issue.path), message: String(issue.message), code: String(issue.code) }),
  );
  const path = code === "agent_name_conflict" ? "metadata.name" : "";
  return told.length > 0 ? told : [{ path, message, code }];
}

function namesOf(manifest: Json) {
  const metadata = isObject(manifest) && isObject(manifest.metadata) ? manifest.metadata : {};
  return { name: metadata.name ?? null, version: metadata.version ?? null };
}
