/** Many large bodies at once: each in its turn, and no more of them than the node can hold. */

import { describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { BodyGates, ByteBudget } from "../../../src/http/input/body-turns.ts";
import { definePublicRoute, jsonBody } from "../../../src/http/route.ts";
import { FairTurns } from "../../../src/lib/fair-turns.ts";
import { until } from "../../harness/until.ts";
import { openApp } from "../open-app.ts";

describe("turns", () => {
  const hold = (ms: number) => {
    const until = performance.now() + ms;
    while (performance.now() < until);
  };

  test("between two bodies everything else gets its time", async () => {
    const turns = new FairTurns();
    let [inARow, most] = [0, 0];
    const timer = setInterval(() => {
      inARow = 0;
    }, 1);
    const work = async () => {
      await turns.take("a");
      hold(15);
      inARow += 1;
      most = Math.max(most, inARow);
    };
    await Promise.all(Array.from({ length: 30 }, work));
    clearInterval(timer);
    expect(most).toBe(1);
  });

  test("a piece whose work goes on later is followed by the rest it asks for", async () => {
    const turns = new FairTurns();
    const began = performance.now();
    await turns.take("a", 60);
    await turns.take("b");
    expect(performance.now() - began).toBeGreaterThan(55);
  });

  test("heavy bodies wait for one another, light ones do not wait for them", async () => {
    const gates = new BodyGates();
    const request = new Request("http://localhost");
    const waited = async (tenant: string, bytes: number) => {
      using share = gates.enter(tenant, tenant);
      const began = performance.now();
      await share.turn(request, "json", bytes);
      return performance.now() - began;
    };
    const heavy = Promise.all(["a", "a", "a", "b"].map((tenant) => waited(tenant, 6_000_000)));
    const light = Math.max(await waited("c", 20_000), await waited("c", 1_000_000));
    const [, second, last, other] = (await heavy) as [number, number, number, number];
    expect(light).toBeLessThan(second);
    expect([second > 90, last > 280]).toEqual([true, true]);
    // Tenants go in turn here as well.
    expect(other).toBeLessThan(last);
  });

  test("tenants go in turn", async () => {
    const turns = new FairTurns();
    const order: string[] = [];
    const work = async (owner: string) => {
      await turns.take(owner);
      order.push(owner);
    };
    await Promise.all([...Array.from({ length: 20 }, () => work("many")), work("one"), work("other")]);
    expect(order.indexOf("one")).toBeLessThan(4);
    expect(order.indexOf("other")).toBeLessThan(4);
    expect(order).toHaveLength(22);
  });
});

test("bytes are set aside for each tenant and for all, and given back", () => {
  const budget = new ByteBudget(100, 60, 5);
  const first = budget.hold("a", 60);
  expect(first).not.toBeNull();
  expect(budget.hold("a", 10)).toBeNull();
  expect(budget.hold("a", 5)).not.toBeNull();
  expect(budget.hold("b", 41)).toBeNull();
  expect(budget.hold("b", 40)).not.toBeNull();
  first?.();
  expect(budget.hold("a", 60)).not.toBeNull();
});

test("large bodies of a route with a proof of its own wait by the tenant of the proof", async () => {
  const order: string[] = [];
  const route = definePublicRoute({
    method: "POST",
    path: "/x",
    summary: "x",
    prove: ({ request }) => request.headers.get("x-tenant") ?? "",
    tenantOf: (tenant) => tenant,
    body: jsonBody(Type.Unknown(), { limit: 8_000_000 }),
    responses: { 200: Type.Unknown() },
    handler: ({ proof }) => {
      order.push(proof);
      return {};
    },
  });
  const app = openApp({ routes: [route] });
  const body = JSON.stringify("x".repeat(6_000_000));
  const send = (tenant: string) =>
    fetch(`${app.url}/x`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-tenant": tenant },
      body,
    });
  const many = Array.from({ length: 8 }, () => send("many"));
  await until(() => order.length > 0, { what: "the first of many" });
  await Promise.all([...many, send("one")]);
  await app.stop();
  expect(order.indexOf("one")).toBeLessThan(8);
});
