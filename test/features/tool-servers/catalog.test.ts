/** What a node remembers of the tool servers of its tenants. */
import { expect, test } from "bun:test";
import { createCatalog } from "../../../src/features/tool-servers/catalog.ts";
import type { ServerRow } from "../../../src/features/tool-servers/records.ts";

const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

/** A server whose one tool has a description of so many characters. */
const serverOf = (tenant: string, characters: number) =>
  ({
    ...{ id: tenant, tenant, name: "files", version: 1, generation: 1, accepted: null },
    definition: { enabled: true, definitions: "follow", capabilities: null },
    digests: { read: "1" },
    tools: [{ name: "read", description: "x".repeat(characters), inputSchema: {}, outputSchema: null, annotations }],
  }) as unknown as ServerRow;

test("what tenants have is remembered up to a bound of characters, one alone always", async () => {
  const reads: string[] = [];
  const sizes: Record<string, number> = { small: 100, other: 100, large: 900, whole: 5000 };
  const catalog = createCatalog(async (tenant) => {
    reads.push(tenant);
    return [serverOf(tenant, sizes[tenant] ?? 0)];
  }, 2000);
  const ask = async (...tenants: readonly string[]) => {
    reads.length = 0;
    for (const tenant of tenants) {
      const { tools } = await catalog.of(tenant);
      expect(tools[0]?.description).toHaveLength(sizes[tenant] ?? 0);
    }
    return reads.join(" ");
  };
  expect(await ask("small", "other", "small", "other")).toBe("small other");
  expect(await ask("large", "small", "other", "large")).toBe("large");
  // More than all may have together: the others leave, and it stays.
  expect(await ask("whole", "whole", "whole")).toBe("whole");
  expect(await ask("small", "whole")).toBe("small whole");
});
