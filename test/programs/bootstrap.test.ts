import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { openDoors } from "../../src/programs/bootstrap/doors.ts";
import { describeHistory } from "../../src/programs/bootstrap/input.ts";
import { createTransport } from "../../src/programs/bootstrap/transport.ts";
import { processesWith } from "../harness/processes.ts";
import { scratch } from "../harness/scratch.ts";
import { until } from "../harness/until.ts";
import {
  type BootstrapOptions,
  dispatch,
  fakeGateway,
  final,
  refusal,
  type Script,
  startBootstrap,
} from "./fake-gateway.ts";

/** Runs the real program against a script. */
async function converse(script: Script, options: BootstrapOptions = {}, path = "") {
  const gateway = fakeGateway(script);
  const end = await (await startBootstrap(gateway.url + path, options)).end;
  await gateway.stop();
  return { ...end, seen: gateway.seen };
}

describe("bootstrap: input", () => {
  test("sends generate with the token and prints the final answer and one newline", async () => {
    const { code, stdout, stderr, seen } = await converse(() => final("All good.\n"), {
      env: { SVC_AGENT_ID: "ag", SVC_ITERATION: "3" },
    });
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "All good.\n\n", stderr: "" });
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({ path: "/v1/dispatch-gateway", authorization: "Bearer tok-5ecret" });
    expect(seen[0]?.body).toEqual({
      type: "generate",
      execution_id: "5b1e8a52-0d7e-4c3e-9a64-2f1b6c7d8e90",
      agent_id: "ag",
      iteration_number: 3,
      model_alias: "default",
      prompt: "do it",
      messages: [],
    });
  });

  test("keeps the address's path", async () => {
    const { seen } = await converse(() => final(""), {}, "/x/token/");
    expect(seen[0]?.path).toBe("/x/token/v1/dispatch-gateway");
  });

  test("prompt by file, by standard input, and neither", async () => {
    const file = join(scratch("prompt"), "p");
    await Bun.write(file, "from file");
    const byFile = await converse(() => final(""), {
      prompt: null,
      env: { SVC_PROMPT_FILE: file },
      stdin: "from stdin",
    });
    expect(byFile.seen[0]?.body.prompt).toBe("from file");
    const byStdin = await converse(() => final(""), { prompt: null, stdin: "from stdin" });
    expect(byStdin.seen[0]?.body.prompt).toBe("from stdin");
    const none = await converse(() => final(""), { prompt: null });
    expect(none).toMatchObject({ code: 2, stdout: "", seen: [] });
    expect(none.stderr).toStartWith("[BOOTSTRAP ");
  });

  test.each(["SVC_EXECUTION_ID", "SVC_MODEL_ALIAS", "SVC_ORCHESTRATOR_URL"])("without %s: 2", async (name) => {
    const { code, stderr } = await converse(() => final(""), { omit: [name] });
    expect(code).toBe(2);
    expect(stderr).toContain(name);
  });

  test("earlier attempts precede the prompt; broken history is ignored with a warning", async () => {
    const history = JSON.stringify([{ iteration: 1, output: "bad", error: "e1", feedback: "try harder" }]);
    const { seen } = await converse(() => final(""), { env: { SVC_ITERATION_HISTORY: history } });
    const prompt = String(seen[0]?.body.prompt);
    for (const part of ["Attempt 1", "bad", "e1", "try harder"]) expect(prompt).toContain(part);
    expect(prompt).toEndWith("\n\ndo it");
    const broken = await converse(() => final("ok"), { env: { SVC_ITERATION_HISTORY: "{nope" } });
    expect(broken).toMatchObject({ code: 0, stdout: "ok\n" });
    expect(broken.seen[0]?.body.prompt).toBe("do it");
    expect(broken.stderr).toContain("[BOOTSTRAP WARN]");
  });

  test("history keeps the newest within 64 KiB", () => {
    const attempts = Array.from({ length: 30 }, (_, i) => ({
      iteration: i + 1,
      output: `${i + 1}:${"x".repeat(4_000)}`,
    }));
    const text = describeHistory(JSON.stringify(attempts), () => {});
    expect(Buffer.byteLength(text)).toBeLessThan(66_000);
    expect(text).toContain("30:xxx");
    expect(text).not.toContain(" 1:xxx");
    fc.assert(fc.property(fc.json(), (json) => void describeHistory(json, () => {})));
  });
});

describe("bootstrap: exchange", () => {
  test("several dispatches in turn, each answered under its id", async () => {
    const ids = [crypto.randomUUID(), crypto.randomUUID()];
    const { code, stdout, seen } = await converse((_, n) =>
      n < 2 ? dispatch({ dispatch_id: ids[n], command: "echo", args: [`run ${n}`] }) : final("done"),
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: "done\n" });
    expect(seen.slice(1).map(({ body }) => [body.dispatch_id, body.stdout])).toEqual([
      [ids[0], "run 0\n"],
      [ids[1], "run 1\n"],
    ]);
  });

  test("a bad directory does not end the loop", async () => {
    const { seen } = await converse((_, n) =>
      n === 0 ? dispatch({ command: "ls", cwd: "/workspace/none" }) : final("on"),
    );
    expect(seen[1]?.body).toMatchObject({ exit_code: -1 });
  });

  const exits: [number, string, number][] = [
    [401, "invalid_token", 3],
    [403, "agent_mismatch", 3],
    [404, "execution_not_found", 4],
    [409, "loop_not_active", 4],
    [410, "dispatch_expired", 4],
    [422, "unknown_model_alias", 4],
    [502, "upstream_provider", 4],
    [502, "upstream_authentication", 4],
  ];
  test.each(exits)("%i %s ends with %i and is not repeated", async (status, code, exit) => {
    const result = await converse(() => refusal(status, code));
    expect(result).toMatchObject({ code: exit, stdout: "" });
    expect(result.seen).toHaveLength(1);
    expect(result.stderr).toContain(code);
    expect(result.stderr).not.toContain("tok-5ecret");
  });

  test("retriable refusals and unreadable replies are repeated with the same bytes", async () => {
    const failures = [
      refusal(429, "upstream_rate_limit", { "retry-after": "1" }),
      new Response("garbage"),
      refusal(503, "upstream_unavailable"),
    ];
    const started = performance.now();
    const { code, stdout, seen } = await converse((_, n) => failures[n] ?? final("at last"));
    expect({ code, stdout }).toEqual({ code: 0, stdout: "at last\n" });
    expect(new Set(seen.map((s) => s.text)).size).toBe(1);
    expect(performance.now() - started).toBeGreaterThan(1_000);
  }, 15_000);

  test("a gateway that goes down while a command runs is found again when it is back", async () => {
    const marks = scratch("marks");
    const text = `touch ${marks}/begun; sleep 0.5; touch ${marks}/over; echo survived`;
    const first = fakeGateway(() => dispatch({ command: "sh", args: ["-c", text] }));
    const port = Number(new URL(first.url).port);
    const run = await startBootstrap(first.url);
    await until(() => existsSync(join(marks, "begun")), { what: "the command to run" });
    await first.stop();
    await until(() => existsSync(join(marks, "over")), { what: "the end of the command" });
    // How long there is no gateway is the subject: its result meets none, again and again.
    await Bun.sleep(500);
    const second = fakeGateway(() => final("back"), { port });
    expect(await run.end).toMatchObject({ code: 0, stdout: "back\n" });
    expect(second.seen[0]?.body).toMatchObject({ type: "dispatch_result", stdout: "survived\n" });
    await second.stop();
  }, 30_000);

  test("with sockets, whichever node answers will do", async () => {
    const sockets = scratch("gw");
    const dead = fakeGateway(() => final(""), { unix: join(sockets, "dead.sock") });
    const begun = join(scratch("marks"), "begun");
    const first = fakeGateway(() => dispatch({ command: "sh", args: ["-c", `touch ${begun}; sleep 0.5`] }), {
      unix: join(sockets, "a.sock"),
    });
    await dead.stop();
    const run = await startBootstrap("http://127.0.0.1:9", { env: { SVC_GATEWAY_SOCKETS: sockets } });
    await until(() => existsSync(begun), { what: "the command to run" });
    await first.stop();
    const second = fakeGateway(() => final("taken over"), { unix: join(sockets, "b.sock") });
    expect(await run.end).toMatchObject({ code: 0, stdout: "taken over\n" });
    await second.stop();
  }, 20_000);

  test("SIGTERM kills the command's group and ends with 143, SIGINT with 130", async () => {
    for (const [signal, code] of [
      ["SIGTERM", 143],
      ["SIGINT", 130],
    ] as const) {
      const tag = `34${Math.floor(Math.random() * 1e6)}`;
      const gateway = fakeGateway(() => dispatch({ command: "sh", args: ["-c", `sleep ${tag} & wait`] }));
      const run = await startBootstrap(gateway.url);
      await until(() => processesWith(`sleep ${tag}`).length > 1, { what: "the command" });
      run.kill(signal);
      expect(await run.end).toMatchObject({ code, stdout: "" });
      await until(() => processesWith(`sleep ${tag}`).length === 0, { what: "nothing left" });
      await gateway.stop();
    }
  });
});

describe("bootstrap: nodes", () => {
  const times = { firstMs: 20, everyMs: 20, answerMs: 1_000 };

  test("a node that works long and says that it is there is asked once", async () => {
    const unix = join(scratch("gw"), "a.sock");
    const asked = { live: 0, generate: 0 };
    const server = Bun.serve({
      unix,
      fetch: async (request) => {
        if (request.method === "GET") {
          asked.live += 1;
          return Response.json({ status: "healthy" });
        }
        asked.generate += 1;
        await until(() => asked.live >= 5, { what: "questions" });
        return Response.json(final("late"));
      },
    });
    const url = new URL("http://127.0.0.1:9/x/tok");
    const send = createTransport({ url, token: "tok", sockets: dirname(unix), times });
    expect(await send("{}", 30_000)).toMatchObject({ kind: "answered", status: 200 });
    expect(asked.generate).toBe(1);
    await server.stop(true);
  });

  test("nodes that take connections and say nothing are passed over", async () => {
    const sockets = scratch("gw");
    const good = fakeGateway(() => final("answered"), { unix: join(sockets, "good.sock") });
    const frozen = ["1", "2"].map((name) => Bun.listen({ unix: join(sockets, `${name}.sock`), socket: { data() {} } }));
    const url = new URL("http://127.0.0.1:9/x/tok");
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => createTransport({ url, token: "tok", sockets, times })("{}", 60_000)),
    );
    for (const reply of replies) expect(reply).toMatchObject({ kind: "answered", body: final("answered") });
    for (const one of frozen) one.stop(true);
    await good.stop();
  });

  test("a model that works for long is asked once; a gateway killed meanwhile is left", async () => {
    const sockets = scratch("gw");
    const generates: string[] = [];
    let asked = 0;
    const node = (name: string, answer: () => Promise<Response>) =>
      Bun.serve({
        unix: join(sockets, `${name}.sock`),
        fetch: (request) => {
          if (request.method === "GET") asked += 1;
          if (request.method === "GET") return Response.json({ status: "healthy" });
          generates.push(name);
          return answer();
        },
      });
    const never = () => new Promise<Response>(() => {});
    const first = node("first", never);
    const send = createTransport({ url: new URL("http://127.0.0.1:9"), token: null, sockets, times });
    const reply = send("{}", 60_000);
    await until(() => generates.length > 0, { what: "the model to be asked" });
    await until(() => asked >= 8, { what: "questions whether it is there" });
    expect(generates).toEqual(["first"]);
    const second = node("second", async () => Response.json(final("from the other")));
    await first.stop(true);
    // The exchange sends again what no gateway took.
    const next = (await reply).kind === "answered" ? await reply : await send("{}", 60_000);
    expect(next).toMatchObject({ kind: "answered", body: final("from the other") });
    expect(generates).toEqual(["first", "second"]);
    await second.stop(true);
  });

  test("programs begin with any node, stay with one that answers, leave a silent one", () => {
    const sockets = scratch("gw");
    const servers = ["a", "b", "c"].map((name) => Bun.listen({ unix: join(sockets, name), socket: { data() {} } }));
    const firsts = Array.from({ length: 60 }, () => openDoors(sockets, () => 0).candidates()[0]);
    expect(new Set(firsts).size).toBe(3);
    let now = 0;
    const doors = openDoors(sockets, () => now);
    const b = join(sockets, "b");
    doors.answered(b);
    expect(doors.candidates()).toHaveLength(3);
    expect(doors.candidates()[0]).toBe(b);
    doors.silent(b);
    expect(doors.candidates()[2]).toBe(b);
    now += 30_000;
    doors.answered(b);
    expect(doors.candidates()[0]).toBe(b);
    for (const server of servers) server.stop(true);
  });
});
