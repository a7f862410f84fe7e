/** Tells those who follow a tenant's records, as far as they may read nodes, when one begins, drains, falls silent or is gone. */
import { deleted } from "../../../actors/change/change.ts";
import type { Changes } from "../changes/port.ts";
import type { ClusterNode } from "./schema.ts";

export interface NodeTellingOptions {
  readonly nodes: () => Promise<{
    readonly source: string;
    readonly nodes: readonly Pick<ClusterNode, "id" | "status">[];
  }>;
  readonly changes: Pick<Changes, "changedForAll" | "isAnyFollowed">;
}

/** @returns a look: compares the nodes with those of the last one, and tells what differs */
export function createNodeTelling({ nodes, changes }: NodeTellingOptions): () => Promise<void> {
  let known: ReadonlyMap<string, string> | null = null;
  return async () => {
    if (!(await changes.isAnyFollowed())) {
      known = null;
      return;
    }
    const found = await nodes();
    // Without the database a node knows of itself alone.
    if (found.source !== "cluster_repository") return;
    const now = new Map(found.nodes.map(({ id, status }) => [id, status as string]));
    // Every node finds the same: one of them tells it.
    const tell = (id: string, status: string) =>
      changes.changedForAll({ type: "node", id, status, telling: "differs" });
    for (const [id, status] of known === null ? [] : now) if (known?.get(id) !== status) tell(id, status);
    for (const id of known?.keys() ?? []) if (!now.has(id)) tell(id, deleted);
    known = now;
  };
}
