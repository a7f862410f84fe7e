/** The workflow that a reference means, with its definition, as a run uses it. */
import { LRUCache } from "lru-cache";
import { invalidField, Problem } from "../../../../actors/kernel/problem.ts";
import type { Definition } from "../../../../actors/workflow/definition.ts";
import type { ResolvedWorkflow } from "../../../../actors/workflow/run/start/request.ts";
import { isUuid } from "../../../http/route.ts";
import { workflowNotFound } from "./parts.ts";
import type { Definitions, WorkflowLookup } from "./port.ts";
import { tenantOf, type WorkflowRecords } from "./records.ts";

/** Characters of the definitions kept parsed; a revision never changes, so that nothing kept goes stale. */
const keptCharacters = 16 * 1024 * 1024;

/** How often a workflow is looked up anew that was changed between the two reads. */
const rounds = 3;

/** Finds workflows for their runs; definitions that were read lately are kept parsed. */
export function resolving(records: WorkflowRecords): Definitions {
  const cache = new LRUCache<string, Definition>({ maxSize: keptCharacters });

  async function definitionOf({ workflow_id, revision }: { workflow_id: string; revision: string }) {
    const key = `${workflow_id}/${revision}`;
    const known = cache.get(key);
    if (known !== undefined) return known;
    const text = await records.definition(workflow_id, revision);
    // Registered anew or removed between the two reads.
    if (text === null) return null;
    // Judged when it was registered.
    const definition = JSON.parse(text) as Definition;
    cache.set(key, definition, { size: text.length });
    return definition;
  }

  return {
    async resolve({ tenant, ref, version }: WorkflowLookup): Promise<ResolvedWorkflow> {
      for (let round = 0; round < rounds; round++) {
        const row = await records.locate(tenant, { ref, version: isUuid(ref) ? null : version });
        if (row === null) throw workflowNotFound();
        if (version !== null && row.version !== version) throw versionMismatch(row.version);
        const definition = await definitionOf(row);
        if (definition === null) continue;
        return {
          workflow_id: row.workflow_id,
          name: row.name,
          version: row.version,
          owner: tenantOf(row.tenant),
          definition,
          ceilings: row.context_ceilings ?? [],
          deployer: row.deployer?.starter ?? null,
        };
      }
      throw new Problem("service_unavailable", "This workflow is being changed; try again", {}, { "Retry-After": "1" });
    },
  };
}

function versionMismatch(pinned: string): Problem {
  return invalidField("version", `this id is version ${pinned}`);
}
