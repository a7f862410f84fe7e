/** What a context says on paper is what a call meets (docs/reference/security-contexts.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { starterOf } from "../../../actors/identity/starter.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import type { Capability, SecurityContextSpec } from "../../../actors/policy/security/spec.ts";
import { type CallCounters, openCallCounters } from "../../../src/features/security-contexts/counters.ts";
import { dryRun } from "../../../src/features/security-contexts/dry-run.ts";
import { identityOf } from "../../harness/callers.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { callOf, openPipeline, toolOf } from "../pipeline/fixture.ts";

/** As the calls of the fixture have it. */
const principal = "realm/user";
const starter = starterOf(identityOf("acme"));
const tools = ["fs.read", "fs.delete", "cmd.run", "web.fetch", "svc.agent.list", "tickets.search"];

let stores: TestStores;
let at: ReturnType<typeof openPipeline>;
let counters: CallCounters;
beforeAll(async () => {
  stores = await freshStores();
  const done = async () => ({ status: "succeeded" as const, result: {} });
  at = openPipeline(
    stores,
    tools.map((name) => [toolOf(name, { inputSchema: { type: "object" } }), done] as const),
  );
  const newId = () => Bun.randomUUIDv7();
  counters = openCallCounters({ redisServers: stores.redisUrl, prefix: stores.prefix, newId, warn: () => {} });
});
afterAll(async () => {
  await counters?.stop();
  await at?.close();
  await stores?.dispose();
});

let contexts = 0;
/** A context that no call was counted for. */
function newContext(spec: SecurityContextSpec): string {
  const name = `context-${contexts++}`;
  at.specs.set(name, spec);
  return name;
}

const onPaper = (context: string, tool_name: string, given: { [name: string]: Json }) =>
  dryRun(
    {
      contexts: {
        bindings: async (_, name, ceilings) =>
          [name, ...ceilings].map((one) => ({ name: one, version: 3, spec: at.specs.get(one) ?? null })),
      },
      counters,
      ceilingsOf: async () => [],
      registry: {
        of: async () => ({
          listed: [],
          entries: [],
          find: (name) => (tools.includes(name) ? toolOf(name) : undefined),
        }),
      },
    },
    "acme",
    principal,
    context,
    { tool_name, arguments: given },
  );
async function inEarnest(context: string, tool: string, given: { [name: string]: Json }) {
  const policy = { context, ceilings: [], tools: null, patterns: null };
  const call = callOf(tool, given, { policy });
  const [judged] = await at.pipeline.clear([{ ...call, who: { ...call.who, starter } }]);
  const clearance = judged?.clearance;
  return clearance === undefined || clearance.is === "cleared" ? null : clearance.code;
}

const pattern = fc.constantFrom(
  "*",
  "fs.*",
  "fs.read",
  "cmd.*",
  "web.*",
  "aegis.agent.*",
  "tickets.search",
  "svc.edge.*",
);
const optional = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: null });
const capability: fc.Arbitrary<Capability> = fc.record({
  tool_pattern: pattern,
  path_allowlist: optional(fc.subarray(["/workspace", "/workspace/a/**", "/etc", "/workspace/*.md"])),
  command_allowlist: optional(fc.subarray(["git", "sh", "/bin/ls"])),
  subcommand_allowlist: optional(fc.constantFrom({ git: ["status"] }, { git: [] }, ["status", ""])),
  domain_allowlist: optional(fc.subarray(["x.org", "*.y.org", "127.0.0.1"])),
  rate_limit: optional(fc.constant({ calls: 1, per_seconds: 60 })),
});
const spec: fc.Arbitrary<SecurityContextSpec> = fc.record({
  capabilities: fc.array(capability, { maxLength: 4 }),
  deny_list: fc.array(pattern, { maxLength: 1 }),
});
const call = fc.oneof(
  fc.tuple(fc.constantFrom("fs.read", "fs.delete"), fc.record({ path: fc.constantFrom("a/b", "../etc/x", "n.md") })),
  fc.tuple(fc.constant("cmd.run"), fc.record({ command: fc.constantFrom("git status", "git", "ls | wc", "/bin/ls") })),
  fc.tuple(
    fc.constant("web.fetch"),
    fc.record({ url: fc.constantFrom("https://x.org/", "http://a.y.org", "http://127.1") }),
  ),
  fc.tuple(
    fc.constantFrom("cmd.run", "fs.read"),
    fc.record({
      command: fc.constantFrom("git status", "id"),
      path: fc.constantFrom("a/b", "../etc/x"),
      target: fc.constant({ edge_node_id: "0190f3c4-0000-7000-8000-00000000000b" }),
    }),
  ),
  fc.tuple(fc.constantFrom("svc.agent.list", "aegis.agent.list", "tickets.search"), fc.constant({})),
);

test("evaluate agrees with the real call, also once its rate is used up", async () => {
  await fc.assert(
    fc.asyncProperty(spec, call, async (said, [tool, given]) => {
      const context = newContext(said);
      for (const _ of "12") {
        const { code } = await onPaper(context, tool, given);
        expect((await onPaper(context, tool, given)).code).toBe(code);
        expect(await inEarnest(context, tool, given)).toBe(code);
      }
    }),
    { numRuns: 60 },
  );
});

test("evaluate tells the calls that are left; only real ones take any away", async () => {
  const context = newContext({
    capabilities: [{ tool_pattern: "tickets.*", rate_limit: { calls: 3, per_seconds: 3600 } }],
    deny_list: [],
  });
  const left = async () => (await onPaper(context, "tickets.search", {})).remaining;
  const seen = [await left(), await left()];
  for (let round = 0; round < 4; round++) {
    await inEarnest(context, "tickets.search", {});
    seen.push(await left());
  }
  expect(seen).toEqual([3, 3, 2, 1, 0, 0]);
});
