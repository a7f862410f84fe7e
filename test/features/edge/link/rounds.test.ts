/** Links whose nodes are gone, as a round finds them (docs/reference/edge-link.md). */
import { expect, test } from "bun:test";
import type { LinkRow } from "../../../../src/features/edge/link/presence.ts";
import { createRounds } from "../../../../src/features/edge/link/rounds.ts";

test("a node that is younger than the list of live ones keeps its links and its queue", async () => {
  const lists = [["n1"], ["n1", "n2"]];
  const closed: string[] = [];
  const forgotten: string[] = [];
  const row = (id: string, owner_node: string): LinkRow => ({
    ...{ id, tenant: "north", epoch: 1, owner_node, revoked_at: null },
  });
  const rounds = createRounds({
    runtime: {
      nodeId: "n1",
      liveNodes: async () => lists.shift() ?? [],
      of: () => ({ isHere: () => true, at: (_: string, id: string) => ({ tell: async () => void closed.push(id) }) }),
    },
    records: { left: async () => [row("h2", "n2"), row("h3", "n3")], silent: async () => [] },
    wakeups: { forget: async (nodes: readonly string[]) => void forgotten.push(...nodes) },
    ...{ links: {}, sender: {}, staleMs: 90_000, now: () => 0, steady: () => 0, repeated() {}, warn() {} },
  } as never);
  await rounds.leaveDead(() => false);
  expect([closed, forgotten]).toEqual([["h3"], ["n3"]]);
});
