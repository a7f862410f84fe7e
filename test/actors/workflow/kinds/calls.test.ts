/** The kinds Tool, Fleet and Http as the run's actor plays them (docs/reference/workflow-calls.md). */
import { describe, expect, test } from "bun:test";
import type { Json } from "../../../../actors/kernel/json.ts";
import { branches, definitionOf, mapOf, noop, runId, wait } from "../fixture.ts";
import { Company } from "../map/company.ts";
import { asked, Calls, decided, fleet, http, tool } from "./calls.ts";

const minute = 60_000;
const starter = {
  realm: "system",
  kind: "operator",
  sub: "ida",
  role: "admin",
  membership: null,
  key_id: null,
} as const;

describe("a Tool state", () => {
  test("of an item has its run tell of the people who are asked", () => {
    const one = new Company(mapOf(tool({ transitions: [] }) as never, ["a", "b"])).start().settle();
    const call = one.asked[1] as NonNullable<(typeof one.asked)[number]>;
    const of = { ...(call.input as { invocation_id: string }), tool: "web.search" };
    const people = (news: object) => {
      const { invocation_id, tool: name } = of;
      const body = { invocation_id, tool: name, asked: null, decided: null, ...news };
      one.tell(call.of, "tool_waiting", body);
      one.settle();
    };
    people(asked(one.now));
    people(decided("approved"));
    const told = one.events.filter(({ type }) => type.startsWith("HumanInput"));
    expect(told).toMatchObject([
      { type: "HumanInputRequested", state_name: "EACH", details: { approval_id: "ap", index: 1 } },
      { type: "HumanInputResolved", state_name: "EACH", details: { status: "approved", index: 1 } },
    ]);
  });

  test("in a branch fails the run where people were not in time and policy wants that", () => {
    const side = branches("BOTH", 1, { slow: { ASK: tool({ transitions: [] }) }, other: { HOLD: wait("go", []) } });
    const run = new Calls(definitionOf({ ...side, DONE: noop() }, { initial_state: "BOTH" })).start() as Calls;
    const { invocation_id, tool: name } = run.call;
    run.answers({ is: "waiting" });
    const result = { status: "error", code: "approval_timed_out", message: "Late" };
    const outcome = { outcome: "failed", result };
    run.tell("tool_ended", { invocation_id, tool: name, outcome, fails_run: true });
    expect(run.state).toMatchObject({ status: "failed", ending: { error_code: "tool_approval_timed_out" } });
  });

  test("calls with rendered arguments, a sole path keeping its type", () => {
    const given = { query: "of {{input.what}}", max: "{{input.count}}", all: ["{{input.what}}", 1] };
    const header = { starter, context_ceilings: ["build"], security_context: "at-start" };
    const run = Calls.of(tool({ tool: "web.{{input.which}}", arguments: given }), {
      header,
      input: { what: "pumps", count: 3, which: "search" },
    });
    expect(run.call).toMatchObject({
      ...{ tool: "web.search", arguments: { query: "of pumps", max: 3, all: ["pumps", 1] } },
      ...{ context: "at-start", ceilings: ["build"], starter, counted_for: null },
      run: { id: runId, state_name: "WORK", visit: 1, owner: { kind: "workflow_run", key: runId } },
    });
    run.ends("success", { status: "success", results: [1] });
    expect(run.result).toEqual({ status: "success", output: { status: "success", results: [1] }, duration_ms: 0 });
    expect(run.way).toEqual(["WORK", "DONE"]);
  });

  test("is bound by the context that the workflow names before that of the start", () => {
    const run = Calls.of(tool(), { header: { security_context: "at-start" } }, { security_context: "own" });
    expect(run.call.context).toBe("own");
  });

  test.each<[string, { readonly [name: string]: Json }, "success" | "failed", string]>([
    ["a failure of the tool", { isError: true, code: "not_found", message: "No such" }, "failed", "not_found"],
    ["what policy refuses", { isError: true, code: "tool_denied", message: "No" }, "failed", "tool_denied"],
    ["what a tool server calls an error", { content: [], isError: true }, "success", "tool_failed"],
    ["a rejection by a person", { code: "rejected_by_person", message: "No" }, "failed", "rejected_by_person"],
  ])("%s is a failed result, and rules are evaluated", (_, result, outcome, error) => {
    const run = Calls.of(tool()).ends(outcome, result);
    expect(run.result).toMatchObject({ status: "failed", error, output: result });
    expect(run.way).toEqual(["WORK", "SORRY"]);
  });

  test.each([
    ["no name", { tool: " {{input.none}} " }, "template_resolved_empty"],
    ["arguments that are no object", { arguments: "{{input.list}}" }, "invalid_arguments"],
  ])("with %s it fails without a call", (_, change, error) => {
    const run = Calls.of(tool(change), { input: { list: [] } });
    expect(run.asked("workflow.tool")).toEqual([]);
    expect(run.result).toMatchObject({ status: "failed", error });
  });

  test("tries again what a rate refuses, under one key, until its time is up", () => {
    const run = Calls.of(tool({ timeout_ms: 5 * minute }));
    const first = run.call;
    run.later(30_000).wait();
    expect(run.call.key).toBe(first.key);
    expect(run.call.invocation_id).not.toBe(first.invocation_id);
    run.later(10 * minute);
    for (let at = 0; at < 10 && run.way.length === 1; at += 1) {
      run.wait();
      if (run.way.length === 1 && run.sim.underWay("workflow.tool").length > 0) run.later(10 * minute);
    }
    expect(run.result).toMatchObject({ status: "failed", error: "state_timeout", timed_out: true });
  });

  test("without a timeout waits such refusals out for half an hour", () => {
    const run = Calls.of(tool());
    let tries = 1;
    for (; run.way.length === 1; tries += 1) {
      run.later(minute);
      if (run.way.length === 1) run.wait();
    }
    expect(tries).toBe(31);
    expect(run.result).toMatchObject({ status: "failed", error: "rate_limited" });
  });

  test("stands still while people are asked, and shows whom it waits for", () => {
    const run = Calls.of(tool({ timeout_ms: 5 * minute }));
    run.answers({ is: "waiting" });
    run.sim.now += minute;
    run.people(asked(run.sim.now));
    expect(run.event("HumanInputRequested").details).toMatchObject({ approval_id: "ap", prompt: "May it?" });
    expect(run.state.current?.waits).toMatchObject([{ waiting: { approval_id: "ap", tool: "web.search" } }]);
    run.sim.now += 50 * minute;
    run.sim.tell("state_overdue", { entry: run.state.current?.entry ?? 0 });
    expect(run.way).toEqual(["WORK"]);
    run.people(decided("approved"));
    expect(run.event("HumanInputResolved").details).toMatchObject({
      approval_id: "ap",
      status: "approved",
      via: "approve",
    });
    const { current, started_at } = run.state;
    expect(current?.deadline_at).toBe(started_at + 55 * minute);
    run.sim.now += 1000;
    const outcome = { outcome: "success", result: { status: "success" } };
    run.tell("tool_ended", { invocation_id: run.call.invocation_id, tool: "web.search", outcome });
    expect(run.result).toMatchObject({ status: "success", approval_id: "ap", duration_ms: 1000 });
  });

  test("fails the run where the policy that asks wants that of silence", () => {
    const run = Calls.of(tool());
    run.people(asked(run.sim.now));
    const outcome = { outcome: "failed", result: { code: "tool_approval_timed_out", message: "No person" } };
    const { invocation_id } = run.call;
    run.tell("tool_ended", { invocation_id, tool: "web.search", outcome, fails_run: true });
    expect(run.state).toMatchObject({ status: "failed", ending: { error_code: "tool_approval_timed_out" } });
  });

  test("cancelled gives the call up and has people asked no longer", () => {
    const run = Calls.of(tool());
    const { invocation_id } = run.call;
    run.ask("cancel", { reason: null });
    expect(run.sim.abandoned).toContain(`tool:${invocation_id}`);
    expect(run.toldOf("withdraw")).toMatchObject([{ kind: "tool_call", key: invocation_id, coCommit: true }]);
    // Opened although nothing waits for it any more.
    run.people(asked(run.sim.now));
    expect(run.toldOf("withdraw")).toHaveLength(2);
  });

  test("an attempt that failed is followed by one with another key", () => {
    const retry = { attempts: 2, delay_ms: 1000, backoff: 1, max_delay_ms: 1000, on: ["all"] };
    const run = Calls.of(tool({ retry }));
    const { key } = run.call;
    run.ends("failed", { code: "timeout", message: "late" }).wait();
    expect(run.call.key).not.toBe(key);
    run.ends("success", { status: "success" });
    expect(run.way).toEqual(["WORK", "DONE"]);
  });

  test("news of a former call changes nothing", () => {
    const run = Calls.of(tool());
    const outcome = { outcome: "success", result: {} };
    run.tell("tool_ended", { invocation_id: "01909999-0000-7000-8000-000000000000", tool: "web.search", outcome });
    expect(run.way).toEqual(["WORK"]);
  });
});

const noHosts = {
  ...{ ok: 0, err: 0, timed_out: 0, cancelled: 0, refused: 0, lost: 0, expired: 0, not_started: 0 },
  ...{ in_progress: 0, failed: 0 },
};
const host = (name: string, status: string, stdout = ""): { readonly [name: string]: Json } => ({
  ...{ node_id: `id-${name}`, name, status, exit_code: 0, error_kind: null, error_message: null, duration_ms: 3 },
  ...{ stdout, stderr: "", structured: null, truncated: false },
});

describe("a Fleet state", () => {
  const id = "0f7a4f7e-6a0c-4a53-9a39-0e6f1d0b8a11";
  const of = (run: Calls) => ({ fleet_command_id: id, invocation_id: run.call.invocation_id });
  const over = (run: Calls, status: string, summary: object, reason: string | null = null) =>
    run.tell("fleet_ended", { ...of(run), status, reason, summary: { ...noHosts, ...summary } });
  const read = (run: Calls, ...results: Json[]) => {
    run.sim.succeed(`fleet:${run.call.invocation_id}`, { results });
    return run.settle();
  };

  test("sends its run on its way by the tool that does so", () => {
    const state = fleet({ target: { Group: "{{input.group}}" }, policy: { mode: "Parallel" } });
    const run = Calls.of(state, { input: { group: "web" } });
    expect(run.call).toMatchObject({
      tool: "svc.edge.fleet.invoke",
      arguments: {
        target: { Group: "web" },
        tool: "cmd.run",
        args: { command: "uptime" },
        policy: { mode: "Parallel" },
      },
      run: { sends: true },
    });
  });

  test.each<[string, Json, { readonly [name: string]: Json }]>([
    ["a text", "systemctl restart web", { command: "systemctl restart web" }],
    ["a list", ["echo", "{{input.x}}"], { command: "echo", args: ["a; rm -rf /"] }],
    [
      "a text with values",
      "echo {{input.x}} '{{input.y}}'",
      {
        command: "/bin/sh",
        args: [
          "-c",
          `SVC_ARG_1=\${1}; SVC_ARG_2=\${2}; echo "\${SVC_ARG_1}" ''"\${SVC_ARG_2}"''`,
          ...["sh", "a; rm -rf /", "$(id)"],
        ],
      },
    ],
  ])("runs as a command %s, with no value where a shell reads", (_, command, args) => {
    const run = Calls.of(fleet({ tool: null, args: {}, command }), { input: { x: "a; rm -rf /", y: "$(id)" } });
    expect(run.call.arguments).toMatchObject({ tool: "cmd.run", args });
  });

  test("refuses a value in the script of a list", () => {
    const state = fleet({ tool: null, args: {}, command: ["sh", "-c", "echo {{input.x}}"] });
    const run = Calls.of(state, { input: { x: "1" } });
    expect(run.result).toMatchObject({ status: "failed", error: "unsafe_template_position" });
  });

  test("waits for the end, reads the results, and succeeds where no host failed", () => {
    const run = Calls.of(fleet());
    run.people({}, of(run));
    run.ends("success", { status: "success", fleet_command_id: id });
    over(run, "complete", { ok: 1 });
    read(run, host("a", "ok", "up"));
    expect(run.result).toMatchObject({
      ...{ status: "success", fleet_command_id: id, summary: { ok: 1, failed: 0 }, output: { a: "up" } },
      results: [{ name: "a", status: "ok" }],
    });
  });

  test.each([
    ["one failed host", "complete", { ok: 1, err: 1, failed: 1 }, null, "hosts_failed"],
    ["no host at all", "halted", {}, "no_targets", "no_targets"],
    ["a rejection", "cancelled", {}, "approval_rejected", "approval_rejected"],
  ])("fails by %s", (_, status, summary, reason, error) => {
    const run = Calls.of(fleet());
    // The run may end before the call that began it has answered.
    over(run, status, summary, reason);
    run.ends("success", { status: "success", fleet_command_id: id });
    read(run, host("a", "ok"), host("b", "err"));
    expect(run.result).toMatchObject({ status: "failed", error });
    expect(run.way).toEqual(["WORK", "SORRY"]);
  });

  test("that was refused fails with the code", () => {
    const run = Calls.of(fleet()).ends("failed", { code: "insufficient_scope", message: "No" });
    expect(run.result).toMatchObject({ status: "failed", error: "insufficient_scope", summary: null, results: [] });
  });

  test("stands still while people are asked about the fleet run", () => {
    const run = Calls.of(fleet({ timeout_ms: minute }));
    run.people(asked(run.sim.now), of(run));
    run.sim.now += 30 * minute;
    run.sim.tell("state_overdue", { entry: run.state.current?.entry ?? 0 });
    expect(run.way).toEqual(["WORK"]);
    run.people(decided("approved"), of(run));
    expect(run.types).toContain("HumanInputResolved");
    run.wait();
    expect(run.result).toMatchObject({ error: "state_timeout", timed_out: true, fleet_command_id: id });
    expect(run.toldOf("cancel")).toMatchObject([{ kind: "fleet-run", key: id }]);
  });

  test.each([["before it has told of itself"], ["once it is there"]])("cancelled %s cancels it", (when) => {
    const run = Calls.of(fleet());
    const news = { ...of(run), asked: null, decided: null };
    if (when.startsWith("once")) run.people({}, of(run));
    run.ask("cancel", { reason: null });
    if (when.startsWith("before")) run.tell("fleet_waiting", news);
    expect(run.toldOf("cancel")).toMatchObject([{ kind: "fleet-run", key: id, body: { by: null } }]);
  });
});

describe("an Http state", () => {
  const answer = { http_status: 200, headers: {}, body: { ok: true }, duration_ms: 4, error: null, message: null };
  const requests = (run: Calls) => run.asked("workflow.http");
  const underWay = (run: Calls) => run.sim.underWay("workflow.http")[0]?.id ?? "";

  test("asks with a rendered request; references stay references", () => {
    const headers = { "X-Id": "{{input.id}}", Authorization: "secret:api/token" };
    const body = { id: "{{input.id}}", n: "{{input.n}}" };
    const run = Calls.of(http({ headers, body }), { input: { id: "7", n: 2, no: "secret:other" } });
    expect(requests(run)).toMatchObject([
      {
        ...{ url: "https://a.example/7", method: "POST", secrets: ["Authorization"], body: '{"id":"7","n":2}' },
        headers: { "X-Id": "7", Authorization: "secret:api/token" },
        ...{ idempotency_key: `${runId}:WORK:1`, timeout_ms: 30_000, listed: [] },
      },
    ]);
    run.sim.succeed(underWay(run), answer);
    run.settle();
    expect(run.result).toEqual({
      status: "success",
      http_status: 200,
      headers: {},
      body: { ok: true },
      duration_ms: 4,
    });
  });

  test("takes no rendered value for a reference", () => {
    const run = Calls.of(http({ headers: { Authorization: "{{input.no}}" } }), { input: { no: "secret:other" } });
    expect(requests(run)).toMatchObject([{ secrets: [], headers: { Authorization: "secret:other" } }]);
  });

  test("carries one key over all attempts", () => {
    const retry = { attempts: 3, delay_ms: 1000, backoff: 1, max_delay_ms: 1000, on: ["unexpected_response"] };
    const run = Calls.of(http({ retry }));
    for (let at = 0; at < 3; at += 1) {
      run.sim.succeed(underWay(run), { ...answer, http_status: 500, error: "unexpected_response", message: "500" });
      run.settle();
      if (at < 2) run.wait();
    }
    const keys = requests(run).map((one) => one.idempotency_key);
    expect(keys).toEqual([`${runId}:WORK:1`, `${runId}:WORK:1`, `${runId}:WORK:1`]);
    expect(run.result).toMatchObject({ status: "failed", http_status: 500, error: "unexpected_response" });
  });

  test("fails by its timeout", () => {
    const run = Calls.of(http()).wait();
    expect(run.result).toMatchObject({ status: "failed", error: "timeout", timed_out: true, http_status: null });
    expect(run.way).toEqual(["WORK", "SORRY"]);
  });

  test("refuses a header that is more than plain text", () => {
    const run = Calls.of(http({ headers: { "X-A": "{{input.a}}" } }), { input: { a: "a\nX-B: c" } });
    expect(run.result).toMatchObject({ status: "failed", error: "template_value_invalid" });
  });
});

/** A record of items has no log and is no run by itself. */
class Items extends Calls {
  override check(): void {}
}

test("items of a Map act for the run of the Map", () => {
  const batch = { run_id: "0190aaaa-0000-7000-8000-000000000001", state_name: "EACH", visit: 2, entry: 3, first: 0 };
  const items = new Items(definitionOf({ WORK: tool() }), { header: { batch } });
  items.sim.askNow("start", items.startBody());
  expect(items.call.run).toMatchObject({ id: batch.run_id, state_name: "EACH", visit: 2, owner: { key: runId } });
});
