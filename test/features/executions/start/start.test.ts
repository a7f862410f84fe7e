/** What a start is judged by, through the API (docs/reference/executions.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { join } from "node:path";
import { calls, say, shell } from "../../../harness/manifests.ts";
import { until } from "../../../harness/until.ts";
import { ExecutionFixture } from "../fixture.ts";

let at: ExecutionFixture;
beforeAll(async () => {
  at = await ExecutionFixture.open();
});
afterAll(() => at.close());

const spec = (more: Record<string, unknown>) => ({ script: [say("x")], spec: more });
const task = (prompt_template: string, more: Record<string, unknown> = {}) => ({
  spec: { task: { instruction: "Do as told.", prompt_template, ...more } },
});
const day = { type: "object", required: ["day"], properties: { day: { type: "string" }, hub: { default: "north" } } };

/** What the agent is given, as its record tells. */
async function inputOf(answer: { body: { execution_id: string } }) {
  return (await at.record(answer.body.execution_id)).input;
}

/** The scripted model's answer to a prompt without a script is the prompt. */
async function promptOf(options: ReturnType<typeof task>, body: Record<string, unknown> = {}) {
  const record = await at.run(options, body);
  expect(record).toMatchObject({ status: "completed" });
  return record.output;
}

describe("input_schema", () => {
  test("an object, its JSON text, a missing property", async () => {
    const agent = await at.deploy(spec({ input_schema: day }));
    expect(await inputOf(await at.start(agent, { input: { day: "mon" } }))).toEqual({ day: "mon", hub: "north" });
    expect(await inputOf(await at.start(agent, { input: '{"day":"mon","hub":"s"}' }))).toEqual({
      day: "mon",
      hub: "s",
    });
    const refused = await at.start(agent, { input: {} });
    expect(refused).toMatchObject({ status: 422, body: { code: "input_validation_failed" } });
    expect(refused.body.issues).toEqual([
      { path: "input", message: "required property day is missing", code: "input_validation_failed" },
    ]);
    expect((await at.start(agent, { input: { day: 1 } })).body.issues[0].path).toBe("input.day");
    expect((await at.start(agent, { input: "mon" })).status).toBe(422);
    expect((await at.start(agent, { input: '{"day":"a\\u0000"}' })).body.code).toBe("input_validation_failed");
  });

  test("draft 7, and references inside the schema", async () => {
    const agent = await at.deploy(
      spec({
        input_schema: {
          $schema: "http://json-schema.org/draft-07/schema#",
          definitions: { lane: { type: "string", enum: ["a", "b"], default: "a" } },
          type: "object",
          properties: { lane: { $ref: "#/definitions/lane" }, day: { type: "string", default: "mon" } },
        },
      }),
    );
    expect(await inputOf(await at.start(agent, { input: { lane: "b" } }))).toEqual({ lane: "b", day: "mon" });
    expect((await at.start(agent, { input: { lane: "c" } })).body.issues[0].path).toBe("input.lane");
  });

  test.each<[string, Record<string, unknown>, unknown]>([
    ["a pattern that backtracks for ever", { type: "string", pattern: "^(a|a)+$" }, `${"a".repeat(40)}!`],
    [
      "a comparison of all with all",
      { type: "array", uniqueItems: true },
      Array.from({ length: 30_000 }, (_, i) => ({ i })),
    ],
    [
      "references that multiply",
      {
        $ref: "#/$defs/l0",
        $defs: Object.fromEntries(
          Array.from({ length: 60 }, (_, l) => [
            `l${l}`,
            l === 59 ? { type: "string" } : { anyOf: [{ $ref: `#/$defs/l${l + 1}` }, { $ref: `#/$defs/l${l + 1}` }] },
          ]),
        ),
      },
      7,
    ],
  ])(
    "does not hold up the node: %s",
    async (_, input_schema, input) => {
      const agent = await at.deploy(spec({ input_schema }));
      const start = at.start(agent, { input });
      let done = false;
      void start.finally(() => {
        done = true;
      });
      let slowest = 0;
      for (let look = 0; look < 20 && !done; look++) {
        const begun = performance.now();
        expect((await fetch(`${at.node.url}/v1/runtimes`)).status).toBe(401);
        slowest = Math.max(slowest, performance.now() - begun);
        // A pace of looks, not a wait.
        await Bun.sleep(20);
      }
      // Held up, it would have been for the seconds that the work takes.
      expect(slowest).toBeLessThan(4000);
      const answer = await start;
      const refused = [422, "input_validation_failed"];
      // What is valid but takes long is accepted on a quick machine.
      const decided = Array.isArray(input) ? [[200, null], refused] : [refused];
      expect(decided).toContainEqual([answer.status, answer.body.code ?? null]);
    },
    30_000,
  );
});

describe("attachments", () => {
  /** A file in a volume of the tenant. */
  async function stored(text: string) {
    const id = crypto.randomUUID();
    const { sql } = at.stores;
    await sql`
      insert into volumes (volume_id, tenant, kind, label, size_limit_bytes)
      values (${id}, 'svc-system', 'user', ${id}, 1000000)`;
    await Bun.write(join(at.node.dataDir, "volumes", id, "note.csv"), text);
    return { volume_id: id, path: "/note.csv", name: "note.csv", mime_type: "text/csv", size: text.length };
  }
  const taking = {
    type: "object",
    required: ["day"],
    properties: { day: {}, attachments: { type: "array", maxItems: 1 } },
  };
  const declared = (script: unknown[] = [say("x")]) => ({
    script,
    tools: ["svc.attachment.read"],
    spec: { input_schema: taking },
  });

  test("are folded into the input, checked with it, recorded and readable by the agent", async () => {
    const attachment = await stored("a,b");
    const { volume_id, path } = attachment;
    const agent = await at.deploy(declared([calls(["svc.attachment.read", { volume_id, path }]), say("read")]));
    const { body } = await at.start(agent, { input: { day: 1 }, attachments: [attachment] });
    const record = await at.ended(body.execution_id);
    expect(record).toMatchObject({ status: "completed", attachments: [attachment] });
    expect(record.input).toEqual({ day: 1, attachments: [attachment] });
    expect(JSON.parse(record.iterations[0].trajectory[0].result_json).content).toBe("a,b");
    const two = await at.start(agent, { input: { day: 1 }, attachments: [attachment, attachment] });
    expect(two.body.issues[0].path).toBe("input.attachments");
    const other = await at.deploy({
      tools: ["svc.attachment.read"],
      spec: { input_schema: { properties: { attachments: {}, value: { type: "string" } } } },
    });
    const text = await at.start(other, { input: "look", attachments: [attachment] });
    expect(await inputOf(text)).toEqual({ value: "look", attachments: [attachment] });
  });
});

describe("the agents it needs", () => {
  const judged = (judge_agent: string) => ({
    spec: { execution: { validation: [{ type: "semantic", judge_agent, criteria: "good" }] } },
  });

  test("judges must be there and able to run", async () => {
    const agent = await at.deploy(judged("nobody-at-all"));
    const refused = await at.start(agent);
    expect(refused).toMatchObject({ status: 422, body: { code: "judge_not_found" } });
    expect(refused.body.issues).toMatchObject([{ path: "execution.validation", code: "judge_not_found" }]);
    const name = `judge-${crypto.randomUUID().slice(0, 8)}`;
    const judge = await at.deploy({ name, script: [say('{"score":1}')] });
    const good = await at.deploy(judged(name));
    expect((await at.start(good)).status).toBe(200);
    await at.node.call("POST", `/v1/agents/${judge}/pause`, {});
    expect((await at.start(good)).body.code).toBe("judge_not_found");
  });
});

describe("the prompt", () => {
  test("{hub} renders; an array is accepted; a reserved key is refused", async () => {
    const options = task("{{instruction}} {{hub}}/{{hub2.deep}} {{json context_overrides}}");
    expect(await promptOf(options, { context_overrides: { hub: "north", hub2: { deep: 7 } } })).toBe(
      'Do as told. north/7 {"hub":"north","hub2":{"deep":7}}',
    );
    expect(await promptOf(options, { context_overrides: ["a"] })).toBe('Do as told. / ["a"]');
    const agent = await at.deploy(options);
    const refused = await at.start(agent, { context_overrides: { instruction: "x", input: 1, fine: 2 } });
    expect(refused).toMatchObject({ status: 422, body: { code: "reserved_override_key" } });
    expect(refused.body.issues.map(({ path }: { path: string }) => path)).toEqual([
      "context_overrides.instruction",
      "context_overrides.input",
    ]);
  });

  test("agentskills, input_data and intent are its variables", async () => {
    const options = task(
      "{{agentskills}} {{input_data.a}} {{intent}} {{input.b}} {{iteration_number}}/{{max_iterations}}",
      {
        agentskills: ["sew"],
        input_data: { a: 1 },
      },
    );
    expect(await promptOf(options, { intent: "i", input: { b: 2 } })).toBe('["sew"] 1 i 2 1/1');
  });

  test("that cannot be rendered is told at the start", async () => {
    const agent = await at.deploy(task("{{#each input}}{{#each ../input}}{{/each}}{{/each}}"));
    expect((await at.start(agent, { input: [1, 2] })).status).toBe(200);
    const refused = await at.start(agent, { input: Array.from({ length: 5000 }, () => 0) });
    expect(refused).toMatchObject({ status: 422, body: { code: "template_error" } });
    const before = (await at.node.call("GET", `/v1/executions?agent_id=${agent}`)).body.count;
    expect(before).toBe(1);
  });

  test.each([
    ["NUL in overrides", { context_overrides: { a: "\0" } }, "validation_failed"],
    ["NUL in a name", { context_overrides: { "a\0": 1 } }, "validation_failed"],
    ["large overrides", { context_overrides: "x".repeat(300_000) }, "validation_failed"],
  ])("%s is refused", async (_, body, code) => {
    const agent = await at.deploy(spec({}));
    expect(await at.start(agent, body)).toMatchObject({ status: 422, body: { code } });
  });
});

describe("budgets", () => {
  const thrifty = { script: [{ ...shell("echo x"), usage: { input_tokens: 60, output_tokens: 5 } }, say("done")] };
  const spent = { status: "failed", error_code: "llm_error", usage: { llm_calls: 1 } };

  test("once the tokens are used no model call and no iteration begins", async () => {
    const record = await at.run({ ...thrifty, execution: { max_iterations: 3 } }, { max_tokens: 65 });
    expect(record).toMatchObject({ ...spent, total_iterations: 1 });
    expect(record.error).toContain("budget of 65 tokens");
    expect(await at.run(thrifty, { max_tokens: 66 })).toMatchObject({ status: "completed", output: "done" });
    expect(await at.run({ ...thrifty, execution: { max_tokens: 1 } })).toMatchObject(spent);
  });

  test("iterations and tokens are lowered by a start, never raised", async () => {
    const validation = [{ type: "regex", pattern: "never" }];
    const options = { script: [say("x")], execution: { max_iterations: 3, max_tokens: 1000, validation } };
    const record = await at.run(options, { max_iterations: 2 });
    expect(record).toMatchObject({ error_code: "max_iterations_exceeded", total_iterations: 2, max_iterations: 2 });
    const agent = await at.deploy(options);
    for (const more of [{ max_iterations: 4 }, { max_tokens: 1001 }, { max_tokens: 0 }, { max_iterations: 0 }]) {
      expect(await at.start(agent, more)).toMatchObject({ status: 422, body: { code: "validation_failed" } });
    }
  });
});

describe("the order of the checks", () => {
  test("shape, then the agent, then the input, then what the agent needs", async () => {
    const nobody = crypto.randomUUID();
    expect((await at.start(nobody, { intent: "\0" })).body.code).toBe("validation_failed");
    expect((await at.start(nobody, { input: "\0" })).body.code).toBe("agent_not_found");
    const agent = await at.deploy({ tools: ["no.such"], spec: { input_schema: day } });
    expect((await at.start(agent, { input: {} })).body.code).toBe("input_validation_failed");
    expect((await at.start(agent, { input: { day: "" }, context_overrides: { input: 1 } })).body.code).toBe(
      "reserved_override_key",
    );
    expect((await at.start(agent, { input: { day: "" } })).body.code).toBe("unknown_tool");
  });
});

describe("the security context", () => {
  test("of the manifest counts, else the caller's wish; unknown 422, not permitted 403", async () => {
    const plain = await at.deploy(spec({}));
    const contextOf = async (agent: string, body: Record<string, unknown>) => {
      const { body: started } = await at.start(agent, body);
      return (await at.record(started.execution_id)).security_context;
    };
    expect(await contextOf(plain, {})).toBe("svc-agent-runtime");
    expect(await contextOf(plain, { security_context: "svc-system-operator" })).toBe("svc-system-operator");
    expect(await contextOf(plain, { security_context_name: "svc-system-operator" })).toBe("svc-system-operator");
    expect((await at.start(plain, { security_context: "no-such" })).body.code).toBe("unknown_security_context");
    expect(await at.start(plain, { security_context: "svc-consumer-free" })).toMatchObject({
      status: 403,
      body: { code: "security_context_forbidden" },
    });
    const bound = await at.deploy(spec({ security_context: "svc-agent-runtime" }));
    expect(await contextOf(bound, { security_context: "svc-system-operator" })).toBe("svc-agent-runtime");
  });
});

describe("waiting", () => {
  test("Prefer: wait=N holds the answer, on both routes; wait_seconds is stronger", async () => {
    const agent = await at.deploy({ script: [say("done")] });
    const prefer = { Prefer: "respond-async, wait=30" };
    const one = await at.start(agent, {}, prefer);
    expect(one.body).toMatchObject({ status: "completed", output: "done" });
    expect(one.headers.get("preference-applied")).toBe("wait=30");
    const two = await at.node.call("POST", `/v1/agents/${agent}/execute`, { input: "" }, { Prefer: "wait=99" });
    expect(two.body.status).toBe("completed");
    expect(two.headers.get("preference-applied")).toBe("wait=60");
    const three = await at.start(agent, { wait_seconds: 0 }, prefer);
    expect(three.body.status).toBe("pending");
    expect(three.headers.get("preference-applied")).toBeNull();
    const four = await at.start(agent, {}, { Prefer: "wait=soon" });
    expect([four.status, four.headers.get("preference-applied")]).toEqual([200, null]);
  });

  test("the API document tells of it", async () => {
    const { body } = await at.node.call("GET", "/openapi.json");
    for (const path of ["/v1/executions", "/v1/agents/{id}/execute"]) {
      const names = body.paths[path].post.parameters.map(({ name, in: place }: { name: string; in: string }) => [
        place,
        name,
      ]);
      expect(names).toContainEqual(["header", "Prefer"]);
    }
  });

  test("a caller that goes away leaves the first answer for the repeat: one execution", async () => {
    const agent = await at.deploy({ script: [{ content: "late", delay_ms: 1500 }] });
    const key = crypto.randomUUID();
    const body = JSON.stringify({ agent_id: agent, input: "", wait_seconds: 30 });
    const token = await at.node.token();
    const socket = connect(at.node.port, "127.0.0.1");
    socket.write(
      `POST /v1/executions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nIdempotency-Key: ${key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    const listed = async () => (await at.node.call("GET", `/v1/executions?agent_id=${agent}`)).body.executions;
    const [begun] = await until(async () => ((await listed()).length > 0 ? listed() : null), {
      timeoutMs: 5000,
      what: "the execution",
    });
    socket.destroy();
    const again = await at.node.call("POST", "/v1/executions", JSON.parse(body), { "Idempotency-Key": key });
    expect(again).toMatchObject({
      status: 200,
      body: { execution_id: begun.execution_id, status: "pending", output: null },
    });
    expect(again.headers.get("idempotent-replay")).toBe("true");
    expect((await listed()).length).toBe(1);
  });
});
