/** How two versions of a workflow differ: by members of their manifests, and as a text that `patch` reads. */
import { createTwoFilesPatch } from "diff";
import { type Difference, differenceOf } from "../../../../actors/manifest/difference.ts";
import { parseWorkflow } from "../../../../actors/workflow/manifest/parse.ts";
import { isUuid } from "../../../http/route.ts";
import { workflowNotFound } from "./parts.ts";
import type { WorkflowDocumentRow, WorkflowRecords } from "./records.ts";

/** Lines that differ, above which one text is shown as taking the whole place of the other. */
const mostEdits = 2_000;

export interface Versions {
  readonly ref: string;
  readonly from: string;
  readonly to: string;
}

export function differences(records: WorkflowRecords) {
  /** Versions of one name, of one owner. @throws Problem 404 `workflow_not_found` */
  async function both(tenant: string, { ref, from, to }: Versions) {
    const pinned = isUuid(ref) ? await records.find(tenant, { ref, version: null }) : null;
    if (isUuid(ref) && pinned === null) throw workflowNotFound();
    const [one, other] = await Promise.all(
      [from, to].map((version) => records.find(tenant, { ref: pinned?.name ?? ref, version })),
    );
    // A tenant's own workflow and a global one of the same name have nothing to do with each other.
    if (one === null || other === null || one?.tenant !== other?.tenant) throw workflowNotFound();
    return [one, other] as readonly [WorkflowDocumentRow, WorkflowDocumentRow];
  }

  return {
    /** @throws Problem 404 `workflow_not_found` */
    async difference(tenant: string, versions: Versions): Promise<Difference> {
      const [one, other] = await both(tenant, versions);
      return differenceOf(documentOf(one), documentOf(other));
    },

    /** As a unified diff of the manifests as they were registered. @throws Problem 404 `workflow_not_found` */
    async unifiedDiff(tenant: string, versions: Versions): Promise<string> {
      const [one, other] = await both(tenant, versions);
      const named = ({ name, version }: WorkflowDocumentRow) => `${name} ${version}`;
      const texts = [one.manifest_yaml, other.manifest_yaml] as const;
      if (texts[0] === texts[1]) return "";
      const options = { context: 3, maxEditLength: mostEdits };
      return (
        createTwoFilesPatch(named(one), named(other), ...texts, undefined, undefined, options) ??
        replaced(named(one), named(other), ...texts)
      );
    },
  };
}

/** It was read before: when it was registered. */
const documentOf = ({ manifest_yaml }: WorkflowDocumentRow) => parseWorkflow(manifest_yaml).document;

/** The whole of one text in the place of the other. */
function replaced(from: string, to: string, old: string, next: string): string {
  const [removed, added] = [linesOf(old), linesOf(next)];
  const lines = [
    `--- ${from}`,
    `+++ ${to}`,
    `@@ -1,${removed.length} +1,${added.length} @@`,
    ...removed.map((line) => `-${line}`),
    ...added.map((line) => `+${line}`),
  ];
  return `${lines.join("\n")}\n`;
}

const linesOf = (text: string): readonly string[] => text.replace(/\n$/, "").split("\n");
