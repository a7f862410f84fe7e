/** From a router agent's end to the workflow it chose, or why there is none (docs/reference/stimuli.md). */
import { LRUCache } from "lru-cache";
import { isStorable } from "../../../../actors/manifest/storable.ts";
import {
  agentFailed,
  doubtOf,
  isAllowed,
  type RouterFailure,
  type RouterReply,
  type RoutingFault,
  readReply,
  unknownWorkflow,
} from "../../../../actors/stimulus/classification.ts";
import { maxOffered, type OfferedWorkflow, offerOf } from "../../../../actors/stimulus/router-input.ts";
import type { Chosen, ClassificationDetail, Settlement } from "../../../../actors/stimulus/stimulus.ts";
import { isUuid } from "../../../http/route.ts";
import type { ListedChoice, WorkflowChoice, WorkflowChoices } from "../../workflows/definitions/feature.ts";
import type { Router, Sources } from "../sources/port.ts";

export interface MatchOptions {
  readonly choices: WorkflowChoices;
  readonly sourceOf: Sources["sourceOf"];
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** The router as a classification knows it. */
export type RouterTerms = Pick<Router, "tenant" | "agentId" | "confidenceThreshold" | "allowedWorkflows">;

/** How the execution of the router ended. */
export type RouterEnd = { readonly output: string } | { readonly failure: RouterFailure };

type Match = Pick<Chosen, "workflow" | "version">;

/** What a router may choose from, as it was not long ago. */
interface Choices {
  readonly offered: readonly OfferedWorkflow[];
  readonly byId: ReadonlyMap<string, WorkflowChoice>;
  readonly byName: ReadonlyMap<string, WorkflowChoice>;
  /** Null: all of the tenant's own. */
  readonly listed: readonly ListedChoice[] | null;
}

/** How long choices stay good, ms, and the characters of them that are kept. */
const keptMs = 3000;
const keptCharacters = 8 * 1_048_576;
/** Characters of a name that is worth looking up. */
const maxName = 256;

export function createMatching({ choices, sourceOf, now }: MatchOptions) {
  const known = new LRUCache<string, { readonly at: number; readonly found: Promise<Choices> }>({
    maxSize: keptCharacters,
  });

  async function read({ tenant, allowedWorkflows }: RouterTerms): Promise<Choices> {
    const listed = allowedWorkflows === null ? null : await choices.listed(tenant, allowedWorkflows);
    const found = listed ?? (await choices.own(tenant, maxOffered));
    // Of one name the first: named by it, hence the latest.
    const byName = new Map<string, WorkflowChoice>();
    const byId = new Map<string, WorkflowChoice>();
    for (const one of found) {
      if (!byName.has(one.name)) byName.set(one.name, one);
      if (!byId.has(one.workflow_id)) byId.set(one.workflow_id, one);
    }
    return { offered: offerOf([...byId.values()]), byId, byName, listed };
  }

  /** Many classifications of a tenant at once share one look. */
  function choicesOf(terms: RouterTerms): Promise<Choices> {
    const name = JSON.stringify([terms.tenant, terms.allowedWorkflows]);
    const earlier = known.get(name);
    if (earlier !== undefined && now() - earlier.at < keptMs) return earlier.found;
    const found = read(terms);
    const entry = { at: now(), found };
    known.set(name, entry, { size: name.length });
    found.then(
      ({ offered }) =>
        known.get(name) === entry && known.set(name, entry, { size: JSON.stringify(offered).length + name.length }),
      // No later caller gets the failure.
      () => known.get(name) === entry && known.delete(name),
    );
    return found;
  }

  async function admits(terms: RouterTerms, ref: string, version: string | null): Promise<boolean> {
    const { tenant } = terms;
    const { listed } = await choicesOf(terms);
    const found = await choices.find(tenant, { ref, version });
    return found !== null && isAllowed(found, tenant, listed);
  }

  /** A workflow by its UUID or name; what is offered needs no further look. */
  async function workflowOf(ref: string, terms: RouterTerms): Promise<Match | null> {
    const { byId, byName, listed } = await choicesOf(terms);
    const id = ref.toLowerCase();
    if (byId.has(id)) return { workflow: id, version: null };
    const named = byName.get(ref);
    if (named === undefined || isUuid(ref)) {
      return (await admits(terms, ref, null)) ? { workflow: ref, version: null } : null;
    }
    const isPinned = listed?.some((one) => one === named && one.pinned) ?? false;
    return { workflow: isPinned ? named.workflow_id : named.name, version: null };
  }

  /** UUID, then workflow name, then source name with a direct route. */
  async function match(ref: string, terms: RouterTerms): Promise<Match | null> {
    if (ref === "" || ref.length >= maxName || !isStorable(ref)) return null;
    const found = await workflowOf(ref, terms);
    if (found !== null) return found;
    const route = await sourceOf(terms.tenant, ref.toLowerCase());
    if (route?.enabled !== true || route.workflow === null) return null;
    const { workflow, workflowVersion: version } = route;
    return (await admits(terms, workflow, version)) ? { workflow, version } : null;
  }

  return {
    /** The workflows a router is offered; at most 3 s old. */
    async offered(terms: RouterTerms): Promise<readonly OfferedWorkflow[]> {
      return (await choicesOf(terms)).offered;
    },

    /** What the end of the router's execution means for the stimulus. @throws when a store is away */
    async verdict(terms: RouterTerms, executionId: string, end: RouterEnd): Promise<Chosen | Settlement> {
      if ("failure" in end) return failed(terms, executionId, agentFailed(end.failure, idOf(end.failure, executionId)));
      const reply = readReply(end.output);
      if ("fault" in reply) return failed(terms, executionId, reply.fault);
      const doubt = doubtOf(reply, terms.confidenceThreshold);
      if (doubt !== null) return failed(terms, executionId, doubt, reply);
      const matched = await match(reply.workflow, terms);
      if (matched === null) return failed(terms, executionId, unknownWorkflow(reply), reply);
      return { ...matched, detail: detailOf(terms, executionId, reply) };
    },
  };
}

/** A stimulus that its router did not place. Low confidence rejects it; anything else is a fault of the routing. */
export function failed(
  terms: RouterTerms,
  executionId: string,
  { code, message, extras }: RoutingFault,
  reply: RouterReply | null = null,
): Settlement {
  const status = code === "classification_failed" ? "rejected" : "classification_failed";
  return { status, code, message, extras, detail: detailOf(terms, executionId, reply) };
}

/** Of a router that was never started there is no execution. */
const idOf = ({ reason }: RouterFailure, executionId: string) => (reason === "refused" ? null : executionId);

function detailOf(
  { confidenceThreshold, agentId }: RouterTerms,
  executionId: string,
  reply: RouterReply | null,
): ClassificationDetail {
  return {
    routing_mode: "llm_classified",
    workflow_id: null,
    workflow_name: null,
    confidence: reply?.confidence ?? null,
    threshold: confidenceThreshold,
    reasoning: reply?.reasoning ?? null,
    router_agent_id: agentId,
    router_execution_id: executionId,
  };
}
