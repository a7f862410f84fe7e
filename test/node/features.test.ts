/** Features as the node opens them: in the order of their needs, with the services of these. */
import { expect, test } from "bun:test";
import { type AnyFeature, defineFeature, type NodeContext } from "../../src/features/feature.ts";
import { Disposer } from "../../src/node/disposer.ts";
import { features } from "../../src/node/features.ts";
import { inOrder, openFeatures } from "../../src/node/open-features.ts";

test("every feature is opened once, after what it needs", () => {
  const ordered = inOrder(features);
  expect(new Set(ordered).size).toBe(ordered.length);
  for (const [at, feature] of ordered.entries()) {
    for (const need of Object.values(feature.needs)) expect(ordered.slice(0, at)).toContain(need);
  }
});

test("features that need each other are refused with their names", () => {
  const needs: Record<string, AnyFeature> = {};
  const one = defineFeature({ name: "one", needs, open: () => ({ service: null }) });
  needs.other = defineFeature({ name: "other", needs: { one }, open: () => ({ service: null }) });
  expect(() => inOrder([one])).toThrow("features need each other: one → other → one");
});

test("a feature gets the services it needs and is closed before they are", async () => {
  const closed: string[] = [];
  const base = defineFeature({
    name: "base",
    open: () => ({ service: { greet: () => "hello" }, close: () => closed.push("base") }),
  });
  const user = defineFeature({
    name: "user",
    needs: { base },
    open: (_node, { base }) => ({ service: base.greet(), close: () => closed.push("user") }),
  });
  const disposer = new Disposer();
  // Neither of them uses the node.
  const { opened } = await openFeatures([user], {} as NodeContext, disposer);
  expect(opened.map(({ service }) => service)).toEqual([expect.anything(), "hello"]);
  await disposer.dispose(() => {});
  expect(closed).toEqual(["user", "base"]);
});

test("a tenant's end goes through the features from the last opened to the first", async () => {
  const asked: string[] = [];
  const one = (name: string, needs: Record<string, AnyFeature>, isOver: boolean) =>
    defineFeature({
      name,
      tenantTables: [`${name}_rows`],
      needs,
      open: () => ({
        service: null,
        async endWork(tenant) {
          asked.push(`${name} ${tenant}`);
          return isOver;
        },
      }),
    });
  const base = one("base", {}, true);
  const user = one("user", { base }, false);
  const { tenantWork } = await openFeatures([base, user], {} as NodeContext, new Disposer());
  expect(tenantWork.erasures).toEqual([
    { name: "user", tables: ["user_rows"], erase: null },
    { name: "base", tables: ["base_rows"], erase: null },
  ]);
  expect(await tenantWork.endWork("acme")).toBe(false);
  expect(asked).toEqual(["user acme", "base acme"]);
});
