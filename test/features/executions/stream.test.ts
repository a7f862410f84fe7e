/** The event stream of an execution: resuming, filters, slow readers. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { Value } from "@sinclair/typebox/value";
import { ExecutionEvent } from "../../../actors/execution/record/wire-events.ts";
import { calls, say, shell } from "../../harness/manifests.ts";
import { until } from "../../harness/until.ts";
import { ExecutionFixture } from "./fixture.ts";

let at: ExecutionFixture;
beforeAll(async () => {
  at = await ExecutionFixture.open({ SVC_METRICS_ENABLED: "true", SVC_METRICS_PORT: "0" });
});
afterAll(() => at.close());

describe("the stream", () => {
  test("resumed after id k, the next id is k+1; the header wins over from", async () => {
    const executionId = await at.launch({ script: [shell("true"), say("x")] });
    const all = await at.events(executionId);
    // Each as the API document describes it.
    const described = (frames: typeof all) =>
      frames.filter(({ name, body }) => !Value.Check(ExecutionEvent, { [name]: body }));
    expect(described(all)).toEqual([]);
    expect(described(await at.events(executionId, "?verbose=true"))).toEqual([]);
    const k = 4;
    const rest = all.filter(({ id }) => id > k).map(({ id }) => id);
    const resume = async (query: string, headers = {}) => {
      const followed = await at.follow(executionId, query, headers);
      await followed.done;
      return followed.ids;
    };
    expect(await resume("", { "Last-Event-ID": String(k) })).toEqual(rest);
    expect(await resume(`?from=${k}`)).toEqual(rest);
    expect(await resume("?from=1", { "Last-Event-ID": String(k) })).toEqual(rest);
    // After the terminal event there is nothing to wait for.
    expect(await resume(`?from=${all.length}`)).toEqual([]);
    expect(await resume("?from=100000")).toEqual([]);
  });

  test("from an id never given nothing comes, and the stream still closes at the end", async () => {
    const executionId = await at.launch({ script: [shell("sleep 1"), say("x")] });
    const lost = await at.follow(executionId, "", { "Last-Event-ID": "9999" });
    const near = await at.follow(executionId, "?from=9");
    await at.ended(executionId);
    await until(() => lost.ended && near.ended, { timeoutMs: 5_000, what: "both streams to close" });
    expect(lost.ids).toEqual([]);
    expect(near.ids).toEqual((await at.events(executionId)).map(({ id }) => id).filter((id) => id > 9));
  });

  test("connections that break again and again miss nothing and repeat nothing", async () => {
    const executionId = await at.launch({ script: [...Array.from({ length: 8 }, () => shell("sleep 0.1")), say("x")] });
    const ids: number[] = [];
    let last = "";
    for (let ended = false; !ended; ) {
      const followed = await at.follow(executionId, "", { "Last-Event-ID": String(ids.at(-1) ?? 0) });
      await until(() => followed.frames.length >= 3 || followed.ended, { what: "some events" });
      followed.close();
      ids.push(...followed.ids);
      last = followed.names.at(-1) ?? last;
      ended = /^execution_(?!started)/.test(last);
    }
    expect(last).toBe("execution_completed");
    expect(ids).toEqual(ids.map((_, index) => index + 1));
  });

  test("many followers, joining at any time, all see the same", async () => {
    const executionId = await at.launch({ script: [...Array.from({ length: 6 }, () => shell("sleep 0.1")), say("x")] });
    const followers = [];
    for (let index = 0; index < 20; index++) {
      followers.push(await at.follow(executionId));
      // A pace: they join over the whole run, and those that join after its end see the same.
      await Bun.sleep(30);
    }
    await Promise.all(followers.map(({ done }) => done));
    const stored = (await at.events(executionId)).map(({ text }) => text);
    for (const { frames } of followers) expect(frames.map(({ text }) => text)).toEqual(stored);
  });

  test("/events equals /stream, ?token= works, a header wins over it", async () => {
    const executionId = await at.launch({ script: [say("x")] });
    await at.ended(executionId);
    const token = await at.node.token();
    const path = `${at.node.url}/v1/executions/${executionId}`;
    const stream = await (await fetch(`${path}/stream?token=${token}`)).text();
    const response = await fetch(`${path}/events?token=${token}`);
    expect(await response.text()).toBe(stream);
    expect(response.headers.get("content-type")).toStartWith("text/event-stream");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("referrer-policy")).toBe("no-referrer");
    const wrong = await fetch(`${path}/events?token=${token}`, { headers: { Authorization: "Bearer nonsense" } });
    expect(wrong.status).toBe(401);
    expect(at.node.output).not.toContain(token);
  });

  test("follow=false ends with the backlog; events= filters but terminal; flat has type", async () => {
    const executionId = await at.launch({ script: [shell("sleep 30"), say("x")] });
    const live = await at.follow(executionId);
    await ExecutionFixture.seen(live, "tool_call_started");
    const backlog = await at.follow(executionId, "?follow=false");
    await backlog.done;
    expect(backlog.ended).toBe(true);
    expect(backlog.names.at(-1)).toBe("tool_call_started");
    const filtered = await at.follow(executionId, "?events=iteration_started,llm_interaction");
    await ExecutionFixture.seen(filtered, "llm_interaction");
    await at.node.call("POST", `/v1/executions/${executionId}/cancel`);
    await filtered.done;
    expect(filtered.names).toEqual(["iteration_started", "llm_interaction", "execution_cancelled"]);
    expect(filtered.ids[0]).toBe(2);
    await live.done;
    const flat = await (
      await fetch(`${at.node.url}/v1/executions/${executionId}/stream?format=flat&token=${await at.node.token()}`)
    ).text();
    const first = JSON.parse(/^data: (.*)$/m.exec(flat)?.[1] ?? "");
    expect(first).toMatchObject({
      type: "execution_started",
      event_type: "execution_started",
      sequence: 1,
      execution_id: executionId,
    });
    expect(first.data.execution_id).toBe(executionId);
  });

  test.each(["?from=-1", "?from=x", "?follow=maybe", "?format=xml", "?events=%00"])(
    "a bad query %s is 422 JSON",
    async (query) => {
      const executionId = await at.launch({ script: [say("x")] });
      const answer = await at.node.call("GET", `/v1/executions/${executionId}/stream${query}`);
      expect(answer).toMatchObject({ status: 422, body: { code: "validation_failed" } });
    },
  );
});

describe("commands in the stream", () => {
  test("lines of a command appear while it runs; a broken connection misses none", async () => {
    const line = "for i in 1 2 3; do echo line $i; sleep 0.6; done; while ! test -e go; do sleep 0.1; done; exit 3";
    const executionId = await at.launch({
      script: [shell(line), calls(["fs.write", { path: "x", content: "y" }]), say("x")],
    });
    const first = await at.follow(executionId);
    const seen = await ExecutionFixture.seen(first, "console_output");
    expect(first.names).not.toContain("tool_call_completed");
    first.close();
    const rest = await at.follow(executionId, "", { "Last-Event-ID": String(seen.id) });
    const text = () =>
      [seen, ...rest.frames].filter(({ name }) => name === "console_output").map(({ body }) => body.content);
    await until(() => text().join("") === "line 1\nline 2\nline 3\n", { what: "all lines" });
    expect(rest.names).not.toContain("tool_call_completed");
    expect(rest.frames[0]?.id).toBe(seen.id + 1);
    rest.close();
    await at.node.call("POST", `/v1/executions/${executionId}/cancel`);
  });

  test("exit codes are in the events; verbose carries arguments and results", async () => {
    const executionId = await at.launch({ script: [shell("echo no >&2; exit 3"), say("x")] });
    await at.ended(executionId);
    const told = async (query: string, token?: string) => {
      const bearer = token === undefined ? {} : { Authorization: `Bearer ${token}` };
      const followed = await at.follow(executionId, query, bearer);
      await followed.done;
      const of = (wanted: string) => followed.frames.find(({ name }) => name === wanted)?.body;
      return { started: of("tool_call_started"), completed: of("tool_call_completed"), console: of("console_output") };
    };
    const usual = await told("");
    expect(usual.completed).toMatchObject({ status: "succeeded", exit_code: 3 });
    expect(usual.console).toMatchObject({ stream: "stderr", content: "no\n", call_id: usual.started.call_id });
    expect({ ...usual.started, ...usual.completed }).not.toContainAnyKeys(["arguments", "result", "_result"]);
    const verbose = await told("?verbose=true");
    expect(verbose.started.arguments).toEqual({ command: "sh", args: ["-c", "echo no >&2; exit 3"] });
    expect(verbose.completed.result).toMatchObject({ exit_code: 3, stderr: "no\n" });
  });
});

describe("readers that are no good", () => {
  test("a slow reader of a long backlog gets all of it: the stream waits for it", async () => {
    // The result of each command is in the prompt of the next model call, which verbose readers get.
    const big = shell("head -c 60000 /dev/zero | tr '\\0' x");
    const executionId = await at.launch({ script: [...Array.from({ length: 45 }, () => big), say("x")] });
    const { usage } = await at.ended(executionId);
    expect(usage.tool_calls).toBe(45);
    const path = `/v1/executions/${executionId}/stream?verbose=true`;
    const socket = connect(at.node.port, "127.0.0.1");
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      // Reads a little, rests, reads on.
      socket.pause();
      setTimeout(() => socket.resume(), 2);
    });
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${await at.node.token()}\r\n\r\n`);
    await until(() => text.includes('{"execution_completed"'), { timeoutMs: 40_000, what: "the end of the backlog" });
    expect(text.length).toBeGreaterThan(2_500_000);
    const ids = [...text.matchAll(/^id: (\d+)\r?$/gm)].map((match) => Number(match[1]));
    expect(ids).toEqual(ids.map((_, index) => index + 1));
    socket.destroy();
  }, 60_000);
});
