/** What executions learn, end to end (docs/reference/cortex.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { manifest, say, shell } from "../../harness/manifests.ts";
import { startNodeProcess } from "../../harness/node/node-process.ts";
import { until } from "../../harness/until.ts";
import { ExecutionFixture } from "../executions/fixture.ts";

let at: ExecutionFixture;
beforeAll(async () => {
  at = await ExecutionFixture.open();
});
afterAll(() => at?.close());

type Headers = Readonly<Record<string, string>>;
const bearer = async (fields: Headers, realm: string): Promise<Headers> => ({
  Authorization: `Bearer ${await at.node.token(fields, realm)}`,
});
const get = async (path: string, headers?: Headers) => at.node.call("GET", `/v1/cortex${path}`, undefined, headers);
const patterns = async (query: string, headers?: Headers) => (await get(`/patterns${query}`, headers)).body;

const schema = {
  type: "json_schema",
  schema: { type: "object", required: ["lanes"], properties: { lanes: { type: "array" } } },
};
const execution = { mode: "iterative", max_iterations: 3, validation: [schema] };
const answer = '{"lanes": ["north"]}';

test("one that fails once, then passes, is one pattern with a solution", async () => {
  const run = await at.run({ script: { "1": [say('{"gates": []}')], "2": [say(answer)] }, execution });
  expect(run).toMatchObject({ status: "completed", total_iterations: 2 });
  const found = await until(async () => {
    const { items } = await patterns("");
    return items.length > 0 && items[0].solution !== null ? items : null;
  });
  expect(found).toMatchObject([
    {
      error_type: "validation_rejected",
      error_message: expect.stringContaining("lanes"),
      error_signature: expect.stringMatching(/^validation_rejected: /),
      error_signature_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      solution: answer,
      solution_approach: answer,
      solution_code: null,
      frequency: 1,
      success_count: 1,
      total_count: 1,
      success_rate: 1,
      success_score: 1,
    },
  ]);
  for (const query of ["?q=NORTH", "?query=north", "?q=lanes", "?error_type=validation_rejected", "?limit=1"]) {
    expect(await patterns(query)).toMatchObject({ count: 1, patterns: found, items: found, next_cursor: null });
  }
  for (const query of ["?q=southern", "?query=southern", "?error_type=llm_error"]) {
    expect((await patterns(query)).count).toBe(0);
  }
  expect((await get("/metrics")).body).toMatchObject({
    pattern_count: 1,
    totalPatterns: 1,
    solution_count: 1,
    skill_count: 1,
    totalSkills: 1,
    avg_success_rate: 1,
    avgSuccessRate: 1,
    total_frequency: 1,
    totalFrequency: 1,
    metric_type: "all",
  });
  const skill = { name: "Validation rejected", level: "basic", pattern_count: 1, patternCount: 1, usageCount: 1 };
  const skills = (await get("/skills?limit=1")).body;
  expect(skills).toMatchObject({ count: 1, skills: [{ ...skill, category: "validation", successRate: 1 }] });
  expect((await get("/skills")).body.items).toEqual(skills.skills);
});

test("pages follow each other, and a metric of another kind is 422", async () => {
  for (const kind of ["authentication", "model_not_found", "invalid_input"]) {
    await at.run({ script: [{ error: { class: kind } }] });
  }
  const all = await until(async () => {
    const { items } = await patterns("?error_type=llm_error");
    return items.length === 3 ? items : null;
  });
  const paged = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page = await patterns(`?error_type=llm_error&limit=1&cursor=${cursor}`);
    paged.push(...page.items);
    cursor = page.next_cursor;
  }
  expect(paged).toEqual(all);
  expect((await get("/patterns?cursor=none")).status).toBe(422);
  for (const type of ["summary", "patterns", "skills"]) {
    expect((await get(`/metrics?metric_type=${type}`)).body.metric_type).toBe(type);
  }
  expect(await get("/metrics?metric_type=other")).toMatchObject({ status: 422, body: { code: "validation_failed" } });
});

test("another tenant sees nothing of it, and a caller without the scope is refused", async () => {
  const other = await bearer({ username: "owner-of-other" }, "tenant-other");
  expect((await patterns("", other)).count).toBe(0);
  expect((await get("/skills", other)).body).toEqual({ skills: [], items: [], count: 0 });
  expect((await get("/metrics", other)).body).toMatchObject({ pattern_count: 0, avg_success_rate: 0 });
  expect((await get("/patterns", { Authorization: "Bearer x" })).status).toBe(401);
});

test("a secret that an agent was given is in no pattern", async () => {
  const owner = await bearer({ username: "owner-of-acme" }, "tenant-acme");
  const value = "a-very-recognisable-word";
  const written = await at.node.call("PUT", "/v1/secrets/lamp", { value }, owner);
  expect(written.status).toBe(200);
  const document = manifest({
    // The value is told in the answer that is refused, and in the one that passes.
    script: { "1": [shell('echo "$LAMP"'), say(`no ${value}`)], "2": [say(`{"lanes": ["${value}"]}`)] },
    execution: { ...execution, validation: [schema, { type: "regex", pattern: "lanes", target: "stdout" }] },
    spec: { env: { LAMP: "secret:lamp" } },
  });
  const { body: agent } = await at.node.call("POST", "/v1/agents", document, owner);
  const { body } = await at.start(agent.agent_id, { wait_seconds: 60 }, owner);
  expect(body.status).toBe("completed");
  const { items } = await until(async () => {
    const found = await patterns("", owner);
    return found.items.some(({ solution }: { solution: string | null }) => solution !== null) ? found : null;
  });
  expect(items[0].solution).toContain("**********");
  for (const table of ["cortex_patterns", "cortex_lessons"]) {
    const [row] = await at.stores.sql<{ all: string | null }[]>`
      select string_agg(t::text, ' ') as all from ${at.stores.sql(table)} t`;
    expect(row?.all ?? "").not.toContain(value);
  }
});

test("disabled, every route is 501 and nothing is recorded", async () => {
  const count = async () => {
    const [row] = await at.stores.sql`
      select (select count(*) from cortex_lessons) + (select sum(frequency) from cortex_patterns) as all`;
    return Number(row?.all);
  };
  await at.node.stop();
  const node = await startNodeProcess(at.stores, { env: { SVC_LOG_LEVEL: "warn", SVC_CORTEX_ENABLED: "false" } });
  try {
    const before = await count();
    for (const path of ["patterns?limit=x", "skills", "metrics?metric_type=other"]) {
      const refused = await node.call("GET", `/v1/cortex/${path}`);
      expect([refused.status, refused.body.code]).toEqual([501, "cortex_not_configured"]);
    }
    const { body: agent } = await node.call(
      "POST",
      "/v1/agents",
      manifest({ script: [{ error: { class: "authentication" } }] }),
    );
    const { body } = await node.call("POST", "/v1/executions", {
      agent_id: agent.agent_id,
      input: "",
      wait_seconds: 60,
    });
    expect(body.status).toBe("failed");
    expect(await count()).toBe(before);
  } finally {
    await node.dispose();
  }
});
