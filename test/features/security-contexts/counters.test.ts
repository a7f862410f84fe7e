/** What capabilities bound by number, counted for all nodes (docs/reference/security-contexts.md). */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { Governing } from "../../../actors/policy/security/evaluate.ts";
import type { Capability } from "../../../actors/policy/security/spec.ts";
import { type CallCounters, openCallCounters } from "../../../src/features/security-contexts/counters.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

let stores: TestStores;
const prefix = `calls-${Bun.randomUUIDv7()}`;
const open = (leaseMs?: number): CallCounters =>
  openCallCounters({
    redisServers: stores.redisUrl,
    prefix,
    newId: () => Bun.randomUUIDv7(),
    warn: () => {},
    ...(leaseMs === undefined ? {} : { leaseMs }),
  });
let nodes: readonly CallCounters[];
beforeAll(async () => {
  stores = await freshStores();
  nodes = [open(), open()];
});
afterAll(async () => {
  for (const node of nodes ?? []) await node.stop();
  await stores?.dispose();
});

const by = (capability: Partial<Capability>, context = "build", index = 0): Governing => ({
  context,
  version: 3,
  index,
  capability: { tool_pattern: "*", ...capability },
});
const call = (...governing: readonly Governing[]) => ({ tool: "x.y", governing });
let executions = 0;
const newExecution = () => ({ tenant: "acme", principal: `execution-${executions++}` });
const first = () => nodes[0] as CallCounters;
const second = () => nodes[1] as CallCounters;

test("rate_limit 2 per 60 s: the third call is 2005 on any node, with when to retry", async () => {
  const whose = newExecution();
  const twice = call(by({ rate_limit: { calls: 2, per_seconds: 60 } }));
  expect(await first().debit(whose, [twice])).toEqual([null]);
  expect((await first().peek(whose, twice)).remaining).toBe(1);
  expect((await second().peek(whose, twice)).remaining).toBe(1);
  expect(await second().debit(whose, [twice, twice])).toEqual([
    null,
    expect.objectContaining({
      error_code: 2005,
      code: "rate_limited",
      violation_type: "rate_limit_exceeded",
      details: expect.objectContaining({
        security_context: "build",
        context_version: 3,
        capability_index: 0,
        limit_source: "capability",
        retry_after_seconds: expect.any(Number),
      }),
    }),
  ]);
  const { refused, remaining } = await first().peek(whose, twice);
  const seconds = Number(refused?.details.retry_after_seconds);
  expect([refused?.code, remaining, seconds > 0, seconds <= 62]).toEqual(["rate_limited", 0, true, true]);
  expect(await first().debit(newExecution(), [twice])).toEqual([null]);
  expect(await first().debit(whose, [call(by({ rate_limit: { calls: 2, per_seconds: 60 } }, "build", 1))])).toEqual([
    null,
  ]);
});

test("a window slides: room comes with the age of its calls, which refused ones are", async () => {
  const whose = newExecution();
  const once = call(by({ rate_limit: { calls: 1, per_seconds: 1 } }));
  expect(await first().debit(whose, [once])).toEqual([null]);
  expect((await first().debit(whose, [once]))[0]?.code).toBe("rate_limited");
  await until(async () => (await first().peek(whose, once)).refused === null);
  expect(await first().debit(whose, [once])).toEqual([null]);
});

test("a ceiling's window counts beside the own one, unless that one refuses", async () => {
  const whose = newExecution();
  const own = by({ rate_limit: { calls: 1, per_seconds: 60 } });
  const ceiling = by({ rate_limit: { calls: 2, per_seconds: 60 } }, "outer");
  const found = await first().debit(whose, [call(own, ceiling), call(own, ceiling), call(ceiling), call(ceiling)]);
  expect(found.map((one) => one?.details.security_context ?? null)).toEqual([null, "build", null, "outer"]);
});

test("max_concurrent 1: a parallel second call is 2008 until the first has ended", async () => {
  const whose = newExecution();
  const alone = call(by({ max_concurrent: 1 }));
  const lease = await first().acquire(whose, alone);
  if ("allowed" in lease) throw new Error(lease.message);
  expect(await second().acquire(whose, alone)).toMatchObject({
    error_code: 2008,
    code: "concurrency_exceeded",
    violation_type: "concurrent_exec_limit_exceeded",
    details: { allowed: 1, limit_source: "capability" },
  });
  expect((await second().peek(whose, alone)).refused?.code).toBe("concurrency_exceeded");
  lease.release();
  lease.release();
  await until(async () => (await second().peek(whose, alone)).refused === null);
});

test("of many calls at once as many run as may; places given back are taken at once", async () => {
  const whose = newExecution();
  const three = call(by({ max_concurrent: 3 }));
  const asked = await Promise.all(Array.from({ length: 40 }, () => first().acquire(whose, three)));
  const [place, ...others] = asked.flatMap((one) => ("release" in one ? [one] : []));
  expect(others).toHaveLength(2);
  place?.release();
  const [next, further] = await Promise.all([first().acquire(whose, three), first().acquire(whose, three)]);
  expect(["release" in next, "release" in further]).toEqual([true, false]);
});

test("places of a call under several contexts are taken all at once or not at all", async () => {
  const whose = newExecution();
  const [own, ceiling] = [by({}), by({ max_concurrent: 1 }, "outer")];
  const held = await first().acquire(whose, call(ceiling));
  if ("allowed" in held) throw new Error(held.message);
  for (let tries = 0; tries < 10; tries++) {
    expect(await first().acquire(whose, call(own, ceiling))).toMatchObject({ details: { security_context: "outer" } });
  }
  // Eight at once is what a capability allows that says nothing.
  expect((await first().peek(whose, call(own))).refused).toBeNull();
  held.release();
});

test("the places of a node that is gone come free; a running call keeps its own", async () => {
  const whose = newExecution();
  const alone = call(by({ max_concurrent: 1 }));
  const living = open(300);
  const lease = await living.acquire(whose, alone);
  if ("allowed" in lease) throw new Error(lease.message);
  // Renewed more than once meanwhile.
  const since = Date.now();
  await until(async () => Date.now() - since > 1000);
  expect((await first().peek(whose, alone)).refused?.code).toBe("concurrency_exceeded");
  const dead = newExecution();
  const program = Bun.spawn([process.execPath, join(import.meta.dir, "holding-program.ts"), stores.redisUrl, prefix], {
    stdin: "pipe",
    stdout: "pipe",
  });
  program.stdin.write(JSON.stringify([dead, alone]));
  program.stdin.end();
  const { value } = await program.stdout.getReader().read();
  expect(new TextDecoder().decode(value)).toBe("held");
  expect((await first().peek(dead, alone)).refused?.code).toBe("concurrency_exceeded");
  program.kill("SIGKILL");
  await until(async () => (await first().peek(dead, alone)).refused === null);
  await living.stop();
  await until(async () => (await first().peek(whose, alone)).refused === null);
});

test("while Redis is away nothing is let through that is counted", async () => {
  const away = openCallCounters({
    redisServers: "redis://127.0.0.1:1",
    prefix,
    newId: () => Bun.randomUUIDv7(),
    warn: () => {},
  });
  const whose = newExecution();
  const limited = call(by({ rate_limit: { calls: 2, per_seconds: 60 } }));
  await expect(away.debit(whose, [limited])).rejects.toMatchObject({ code: "service_unavailable" });
  await expect(away.acquire(whose, limited)).rejects.toMatchObject({ code: "service_unavailable" });
  expect(await away.debit(whose, [call(by({}))])).toEqual([null]);
  await away.stop();
});
