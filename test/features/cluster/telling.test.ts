/** What followers are told of the service's nodes (docs/reference/events-stream.md). */
import { expect, test } from "bun:test";
import type { ClusterNode } from "../../../src/features/cluster/schema.ts";
import { createNodeTelling } from "../../../src/features/cluster/telling.ts";

type Shown = Pick<ClusterNode, "id" | "status">;

test("nodes are told of that began, changed or are gone since the last look", async () => {
  const told: string[] = [];
  let source = "cluster_repository";
  let isFollowed = true;
  let nodes: Shown[] = [{ id: "a", status: "active" }];
  const look = createNodeTelling({
    nodes: async () => ({ source, nodes }),
    changes: {
      changedForAll: ({ id, status, telling }) => void told.push(`${id} ${status} ${telling}`),
      isAnyFollowed: async () => isFollowed,
    },
  });
  const next = async (...now: Shown[]) => {
    nodes = now;
    await look();
    return told.splice(0);
  };
  expect(await next({ id: "a", status: "active" })).toEqual([]);
  expect(await next({ id: "a", status: "draining" }, { id: "b", status: "active" })).toEqual([
    "a draining differs",
    "b active differs",
  ]);
  source = "local_fallback";
  expect(await next({ id: "a", status: "active" })).toEqual([]);
  source = "cluster_repository";
  expect(await next({ id: "b", status: "active" })).toEqual(["a deleted differs"]);
  isFollowed = false;
  expect(await next()).toEqual([]);
  isFollowed = true;
  expect(await next({ id: "c", status: "active" })).toEqual([]);
});
