/** Starting runs: what is admitted, in which order, and that one id is one run. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Json } from "../../../../../actors/kernel/json.ts";
import { Problem } from "../../../../../actors/kernel/problem.ts";
import type { RunRequest } from "../../../../../actors/workflow/run/start/request.ts";
import { definitionOf, human, noop, ways } from "../../../../actors/workflow/fixture.ts";
import { until } from "../../../../harness/until.ts";
import { type Fixture, openFixture } from "../fixture.ts";

let fixture: Fixture;
let north: string;
let south: string;
beforeAll(async () => {
  fixture = await openFixture();
  north = fixture.caller("north");
  south = fixture.caller("south");
  const ASK = human(ways(["approved", "ASK"]));
  fixture.register("north", definitionOf({ ASK }, { name: "asks" }));
  const input_schema = {
    type: "object",
    required: ["invoice"],
    properties: { invoice: { type: "string" }, pages: { type: "integer", default: 3 } },
  };
  fixture.register("north", definitionOf({ ASK }, { name: "strict", input_schema }));
});
afterAll(() => fixture.dispose());
beforeEach(() => {
  fixture.refuse(null);
  fixture.admitted.length = 0;
  fixture.refunds.count = 0;
});

const run = (body: Json, name = "asks", token = north, headers = {}) =>
  fixture.call(token, "POST", `/v1/workflows/${name}/run`, body, headers);
const listed = async (token = north) =>
  (await fixture.call(token, "GET", "/v1/workflows/executions")).body.items as { id: string }[];

const plainRequest: RunRequest = {
  tenant: "north",
  ref: "asks",
  version: null,
  input: {},
  blackboard: null,
  intent: "",
  attachments: [],
  timeoutSeconds: null,
  securityContext: null,
  starter: null,
  initiatedBy: { kind: "webhook", sub: "x", email: null },
  parent: null,
  stimulusId: null,
  rateExempt: true,
};

describe("the paths", () => {
  test("/run, /execute and /temporal/execute start it and say where it is", async () => {
    const { workflow_id } = fixture.register("north", definitionOf({ A: human([]) }, { name: "six" }));
    const starts = [
      ["/v1/workflows/six/run", {}],
      ["/v1/workflows/six/execute", { context_overrides: { a: 1 } }],
      [`/v1/workflows/${workflow_id}/run`, {}],
      ["/v1/workflows/temporal/execute", { workflow_name: "six" }],
      ["/v1/workflows/temporal/execute", { workflow_id }],
    ] as const;
    for (const [path, body] of starts) {
      const answer = await fixture.call(north, "POST", path, body);
      const { execution_id } = answer.body;
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({
        id: execution_id,
        workflow_id,
        workflow_name: "six",
        version: "1.2.0",
        status: "running",
        temporal_workflow_id: execution_id,
        temporal_run_id: execution_id,
      });
      expect(answer.headers.get("ratelimit-remaining")).toBe("7");
      expect(answer.headers.get("location")).toBe(`/v1/workflows/executions/${execution_id}`);
      expect((await fixture.record(north, execution_id)).workflow_id).toBe(workflow_id);
    }
  });

  test("no body at all is an empty one", async () => {
    expect((await fixture.call(north, "POST", "/v1/workflows/asks/run")).status).toBe(200);
  });

  test("a start by name needs the name", async () => {
    const { status, body } = await fixture.call(north, "POST", "/v1/workflows/temporal/execute", {});
    expect([status, body.code]).toEqual([422, "validation_failed"]);
  });
});

describe("what comes with it", () => {
  test("input, intent and overrides are on the blackboard, which wins; spellings merge", async () => {
    const body = {
      input: { word: "x" },
      intent: "to see",
      context_overrides: { a: 1, b: 1 },
      blackboard: { b: 2 },
      timeout_seconds: 60,
      tenant_id: "south",
    };
    const { body: started } = await run(body);
    const record = await fixture.record(north, started.execution_id);
    expect(record).toMatchObject({ tenant_id: "north", intent: "to see", input: { word: "x" } });
    expect(record.blackboard).toMatchObject({ a: 1, b: 2, input: { word: "x" }, intent: "to see", tenant_id: "north" });
    expect(Date.parse(record.deadline_at) - Date.parse(record.started_at)).toBe(60_000);
    expect(record.initiated_by).toEqual({
      kind: "service_account",
      realm: "test",
      sub: "user-of-north",
      email: null,
    });
  });

  test("what the schema refuses never was; its defaults fill in what is absent", async () => {
    const before = (await listed()).length;
    const refused = await run({ input: { pages: "many" } }, "strict");
    expect([refused.status, refused.body.code]).toEqual([422, "invalid_input"]);
    expect(refused.body.error).toStartWith("Input validation failed:");
    expect(refused.body.issues.map(({ path }: { path: string }) => path)).toContain("input");
    expect((await listed()).length).toBe(before);
    expect(fixture.admitted).toEqual([]);
    const { body } = await run({ input: { invoice: "INV-7" } }, "strict");
    expect((await fixture.record(north, body.execution_id)).input).toEqual({ invoice: "INV-7", pages: 3 });
  });

  const cases: [what: string, body: Json, status: number, code: string][] = [
    ["a list as blackboard", { blackboard: [1] }, 422, "invalid_blackboard"],
    ["a text as overrides", { context_overrides: "x" }, 422, "invalid_blackboard"],
    ["NUL in the blackboard", { blackboard: { a: ["\0"] } }, 422, "invalid_blackboard"],
    ["a reserved key", { blackboard: { input: 1 } }, 422, "reserved_blackboard_key"],
    ["a reserved key under the other name", { context_overrides: { human: {} } }, 422, "reserved_blackboard_key"],
    ["__proto__", JSON.parse('{"blackboard":{"__proto__":{}}}'), 422, "reserved_blackboard_key"],
    ["NUL in the input", { input: { a: "\0" } }, 422, "invalid_input"],
    ["half a surrogate pair in the input", { input: ["\ud800"] }, 422, "invalid_input"],
    ["an input over 1 MiB", { input: "x".repeat(1024 * 1024) }, 422, "invalid_input"],
    ["an intent over 16 KiB", { intent: "x".repeat(16 * 1024 + 1) }, 422, "validation_failed"],
    ["NUL in the intent", { intent: "\0" }, 422, "validation_failed"],
    ["an attachment that is none", { attachments: [{ volume_id: "x" }] }, 422, "invalid_attachment"],
    ["too many attachments", { attachments: Array.from({ length: 33 }, () => ({})) }, 422, "invalid_attachment"],
    ["no seconds", { timeout: 0 }, 422, "validation_failed"],
    ["more than thirty days", { timeout_seconds: 2_592_001 }, 422, "validation_failed"],
    ["two timeouts", { timeout: 1, timeout_seconds: 2 }, 422, "validation_failed"],
    ["a version of NUL", { version: "\0" }, 422, "validation_failed"],
    ["another version", { version: "9.0.0" }, 404, "workflow_not_found"],
    ["a forbidden context", { security_context_name: "svc-consumer-free" }, 403, "security_context_forbidden"],
    ["an unknown context", { security_context_name: "nobody's" }, 403, "security_context_forbidden"],
  ];
  test.each(cases)("%s is refused", async (_, body, status, code) => {
    const answer = await run(body);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(fixture.admitted).toEqual([]);
  });

  test("null counts as absent", async () => {
    const body = { input: null, blackboard: null, context_overrides: null, intent: null, timeout: null, version: null };
    const answer = await run(body);
    expect(answer.status).toBe(200);
    expect((await fixture.record(north, answer.body.execution_id)).input).toEqual({});
  });

  test("versions in body and query must agree", async () => {
    const ask = (body: string, query: string) =>
      fixture.call(north, "POST", `/v1/workflows/asks/run?version=${query}`, { version: body });
    expect((await ask("1.2.0", "1.2.0")).status).toBe(200);
    expect((await ask("1.2.0", "1.2.1")).body.code).toBe("validation_failed");
  });
});

describe("admission", () => {
  test("unknown and foreign workflows are 404 before anything else is judged", async () => {
    for (const [token, name] of [
      [north, "nothing"],
      [south, "asks"],
    ] as const) {
      const { status, body } = await run({ blackboard: { input: 1 } }, name, token);
      expect([status, body.code]).toEqual([404, "workflow_not_found"]);
    }
  });

  test("the rate is asked last, and what fails after it costs nothing", async () => {
    fixture.refuse(new Problem("rate_limited", "Later", {}, { "Retry-After": "7" }));
    const late = await run({});
    expect([late.status, late.headers.get("retry-after")]).toEqual([429, "7"]);
    expect((await run({ blackboard: [] })).body.code).toBe("invalid_blackboard");
    fixture.refuse(null);
    const workspace = {
      storage_class: "persistent" as const,
      ttl_ms: 1,
      size_limit_bytes: 1,
      volume_id: Bun.randomUUIDv7(),
      blackboard_key: "workspace_volume_id",
    };
    const storage = { workspace, shared_volumes: [] };
    fixture.register("north", definitionOf({ A: human([]) }, { name: "homeless", storage }));
    expect((await run({}, "homeless")).body.code).toBe("invalid_volume");
    expect([fixture.admitted.length, fixture.refunds.count]).toEqual([0, 0]);
    // No actor takes such a definition: nothing was stored.
    fixture.register("north", definitionOf({ A: human([]) }, { name: "broken", max_total_transitions: 0 }));
    expect((await run({}, "broken")).body.code).toBe("workflow_start_failed");
    expect([fixture.admitted.length, fixture.refunds.count]).toEqual([1, 1]);
  });

  test("a start whose check runs out of time costs its rate, other refusals cost nothing", async () => {
    const input_schema = { properties: { list: { uniqueItems: true, items: { type: "object" } } } };
    fixture.register("north", definitionOf({ A: human([]) }, { name: "distinct", input_schema }));
    expect((await run({ input: { list: [1] } }, "distinct")).body.code).toBe("invalid_input");
    expect(fixture.admitted).toEqual([]);
    const list = Array.from({ length: 60_000 }, (_, index) => ({ index }));
    const late = await run({ input: { list } }, "distinct");
    expect(late.body).toMatchObject({
      code: "invalid_input",
      error: expect.stringMatching(/longer than 5 s to check/),
    });
    expect([fixture.admitted.length, fixture.refunds.count]).toEqual([1, 0]);
  });

  test("without the scope 403, without a token 401", async () => {
    const reader = fixture.caller("north", { scopes: new Set(["workflow:read"]) });
    expect((await run({}, "asks", reader)).status).toBe(403);
    expect((await run({}, "asks", "nobody")).status).toBe(401);
  });
});

describe("one id is one run", () => {
  test("the same Idempotency-Key gives the same run, another body is refused", async () => {
    const headers = { "Idempotency-Key": "one" };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => run({ input: { a: 1 } }, "asks", north, headers)),
    );
    const ids = new Set(answers.map(({ body }) => body.execution_id));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(ids.size).toBe(1);
    expect(answers.filter((answer) => answer.headers.get("idempotent-replay") === "true").length).toBe(7);
    expect(answers.every((answer) => answer.headers.get("location")?.endsWith(answer.body.execution_id))).toBe(true);
    const other = await run({ input: { a: 2 } }, "asks", north, headers);
    expect([other.status, other.body.code]).toEqual([422, "idempotency_key_reused"]);
  });

  test("nothing starts below the third generation", async () => {
    const parent = {
      executionId: Bun.randomUUIDv7(),
      stateName: "IN",
      waits: true,
      depth: 3,
      path: [],
      rootExecutionId: Bun.randomUUIDv7(),
      attachments: [],
    };
    const started = fixture.runs.startAs(Bun.randomUUIDv7(), true, { ...plainRequest, parent });
    expect(await started.catch((error: unknown) => error)).toMatchObject({ code: "depth_exceeded" });
  });

  test("started once by any number at once; admitted callers get the same answer", async () => {
    const id = Bun.randomUUIDv7();
    const started = await Promise.all(Array.from({ length: 10 }, () => fixture.runs.startAs(id, false, plainRequest)));
    expect(new Set(started.map((one) => JSON.stringify(one))).size).toBe(1);
    const { body } = await fixture.call(north, "GET", `/v1/workflows/executions/${id}/logs`);
    expect(body.events.filter((one: { type: string }) => one.type === "WorkflowExecutionStarted").length).toBe(1);
    // Of another tenant the id is unknown.
    expect((await fixture.call(south, "GET", `/v1/workflows/executions/${id}`)).status).toBe(404);
    await until(async () => (await listed()).some((one) => one.id === id), { what: "it to be listed" });
  });
});

test("states that wait for nothing are entered and left in the commit of the start", async () => {
  fixture.register("north", definitionOf({ A: noop(["always", "B"]), B: noop() }, { name: "quick" }));
  const before = fixture.runtime.counts();
  const { execution_id } = await fixture.runs.startAs(Bun.randomUUIDv7(), true, { ...plainRequest, ref: "quick" });
  const { turns, commits } = fixture.runtime.counts();
  expect([turns - before.turns, commits - before.commits]).toEqual([3, 1]);
  const { body } = await fixture.call(north, "GET", `/v1/workflows/executions/${execution_id}/logs`);
  expect(body.events.map(({ type, state_name }: { type: string; state_name?: string }) => [type, state_name])).toEqual([
    ["WorkflowExecutionStarted", undefined],
    ["WorkflowStateEntered", "A"],
    ["WorkflowStateExited", "A"],
    ["WorkflowStateEntered", "B"],
    ["WorkflowStateExited", "B"],
    ["WorkflowExecutionCompleted", undefined],
  ]);
});
