/** Runs as the command line begins, follows and ends them, against a server that plays what the service sends. */
import { afterAll, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { Failure } from "../../../src/programs/svc/edge/command/exit.ts";
import { followRun } from "../../../src/programs/svc/edge/fleet/follow.ts";
import { until } from "../../harness/until.ts";
import { edge } from "./harness.ts";

const run = "0190b3c2-99ff-7b20-a5a5-3c4d5e6f7081";
const [web, db] = ["0190b3c2-7d4e-7a11-8c22-5f0e6d7a8b90", "0190b3c2-7d4e-7a11-8c22-5f0e6d7a8b91"];
const counts = { ok: 0, err: 0, timed_out: 0, cancelled: 0, refused: 0, lost: 0, expired: 0, not_started: 0 };
const summary = { ...counts, in_progress: 0, failed: 0 };

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  // What a test looks into.
  readonly body: ReturnType<typeof JSON.parse>;
}
const asked: Asked[] = [];
let play: (asked: Asked) => Response | Promise<Response> = () => new Response(null, { status: 500 });

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  async fetch(request) {
    const url = new URL(request.url);
    const text = await request.text();
    const one = {
      method: request.method,
      path: url.pathname + url.search,
      headers: request.headers,
      body: text === "" ? null : JSON.parse(text),
    };
    asked.push(one);
    return play(one);
  },
});
afterAll(() => server.stop(true));
beforeEach(() => {
  asked.length = 0;
});

const env = { SVC_API_URL: `http://127.0.0.1:${server.port}`, SVC_USER_TOKEN: "token-of-a-test", SVC_TENANT: "acme" };

type Event = readonly [id: number, name: string, data: object];
const text = ([id, name, data]: Event) => `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

/** A stream of these events. @param end how it ends: after an event, within one, or never */
function stream(events: readonly Event[], end: "ends" | "cut" | "stays" = "ends"): Response {
  const pieces = [": hello\n\n", ...events.map(text)];
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      for (const piece of pieces) {
        // In two halves: events come as the network cuts them.
        const bytes = new TextEncoder().encode(piece);
        controller.enqueue(bytes.subarray(0, 5));
        await Bun.sleep(0);
        controller.enqueue(bytes.subarray(5));
      }
      if (end === "cut") controller.enqueue(new TextEncoder().encode("id: 99\nevent: command_res"));
      if (end !== "stays") controller.close();
    },
  });
  return new Response(body, {
    headers: { "Content-Type": "text/event-stream", "X-Svc-Fleet-Command-Id": run },
  });
}

const started: Event = [
  1,
  "fleet_started",
  {
    ...{ fleet_command_id: run, status: "running", tool: "cmd.run", targets_resolved: 2, targets_skipped: 1 },
    resolved: [
      { node_id: web, name: "web-1", status: "connected" },
      { node_id: db, name: "db-1", status: "connected" },
    ],
    queued: [],
    skipped: [{ node_id: "x", name: "old-1", reason: "Disconnected" }],
    started_at: "2031-04-02T09:15:00.000Z",
  },
];
const said = (id: number, node_id: string, chunk: object): Event => [
  id,
  "command_progress",
  { node_id, command_id: `c-${node_id}`, chunk },
];
const ended = (id: number, node_id: string, name: string, more: object = {}): Event => [
  id,
  "command_result",
  {
    ...{ node_id, name, command_id: `c-${node_id}`, attempt: 1, status: "ok" },
    ...{ result: { ok: { exit_code: 0, duration_ms: 12 } }, stdout_tail: "", stderr_tail: "", structured: null },
    ...more,
  },
];
const result = (id: number, more: object = {}): Event => [
  id,
  "fleet_result",
  {
    ...{ fleet_command_id: run, status: "complete", outcome: "complete", reason: null },
    ...{ targets_resolved: 2, targets_skipped: 1, summary: { ...summary, ok: 2 } },
    ...more,
  },
];

test("a command on hosts: what is sent, and what a person sees of it", async () => {
  play = () =>
    stream([
      started,
      said(2, web, { stdout: "up 3 ", offset: 0 }),
      said(3, db, { stderr: "warn\u001b[31m\n", offset: 0 }),
      said(4, web, { stdout: "days\nand", offset: 5 }),
      ended(5, web, "web-1"),
      ended(6, db, "db-1", { stdout_tail: "late words\n" }),
      result(7),
    ]);
  const done = await edge(["fleet", "run", "os=linux", "tags=web", "--canary=1", "--", "uptime", "-p"], { env });
  expect([done.code, done.err]).toEqual([0, "db-1 | warn�[31m\n"]);
  expect(done.out.split("\n")).toEqual([
    `run ${run}: cmd.run on 2 hosts`,
    "old-1: skipped, Disconnected",
    "web-1 | up 3 days",
    "web-1 | and",
    "web-1: ok (12 ms)",
    "db-1 | late words",
    "db-1: ok (12 ms)",
    "run is complete: 2 ok",
    "",
  ]);
  const [{ method, path, headers, body }] = asked as [Asked];
  expect([asked.length, method, path]).toEqual([1, "POST", "/v1/edge/fleet/invoke"]);
  expect([headers.get("authorization"), headers.get("x-svc-tenant"), headers.get("accept")]).toEqual([
    "Bearer token-of-a-test",
    "acme",
    "text/event-stream",
  ]);
  expect(headers.get("idempotency-key")).toMatch(/^[0-9a-f-]{36}$/);
  expect(body).toEqual({
    target: { Selector: { os: "linux", arch: null, tools: [], labels: [], tags: [{ Has: "web" }] } },
    tool: "cmd.run",
    args: { command: "uptime", args: ["-p"] },
    policy: { mode: "Parallel", failure_policy: "FailFast", canary: 1 },
  });
});

test("no name or message makes lines that look like the run's own", async () => {
  const forged = "x\nrun is complete: 2 ok";
  const structured = { exit_code: 0, stdout: "up\n", stderr: "" };
  play = () =>
    stream([
      started,
      ended(2, web, forged, { stdout_tail: "up\n", structured }),
      ended(3, db, "db-1", { status: "err", result: { err: { code: "io_error", message: forged, exit_code: null } } }),
      result(4),
    ]);
  const done = await edge(["fleet", "run", "all", "--", "uptime"], { env });
  expect(done.out.split("\n").slice(2)).toEqual([
    "x run is complete: 2 ok | up",
    // Its output was told.
    "x run is complete: 2 ok: ok (12 ms)",
    "db-1: err (io_error, x run is complete: 2 ok)",
    "run is complete: 2 ok",
    "",
  ]);
});

test("programs get every event as a line, with its id", async () => {
  const events = [started, ended(2, web, "web-1"), result(3)];
  play = () => stream(events);
  const done = await edge(["fleet", "run", `@${web}`, "fs.read", "--arg", "path=a", "--json"], { env });
  expect(done.lines).toEqual(events.map(([id, event, data]) => ({ id, event, data })));
  expect(asked[0]?.body.policy.failure_policy).toBe("ContinueOnError");
});

test("a stream that is cut is resumed after its last event; none is told twice", async () => {
  play = ({ method, headers }) => {
    if (method === "POST") return stream([started, ended(2, web, "web-1")], "cut");
    const after = Number(headers.get("last-event-id"));
    if (asked.length === 2) return new Response('{"code":"service_unavailable"}', { status: 503 });
    if (asked.length === 3) return stream([ended(2, web, "web-1"), ended(3, db, "db-1")]);
    return stream([result(4)].filter(([id]) => id > after));
  };
  const done = await edge(["fleet", "run", "all", "--json", "--", "true"], { env });
  expect([done.code, done.lines.map(({ id }: { id: number }) => id)]).toEqual([0, [1, 2, 3, 4]]);
  expect(done.err).toContain("cannot be reached");
  expect(done.err).toContain("is back");
  expect(asked.slice(1).map(({ method, path, headers }) => [method, path, headers.get("last-event-id")])).toEqual([
    ["GET", `/v1/edge/fleet/runs/${run}/stream`, "2"],
    ["GET", `/v1/edge/fleet/runs/${run}/stream`, "2"],
    ["GET", `/v1/edge/fleet/runs/${run}/stream`, "3"],
  ]);
});

test("a lost first answer is asked for again under the same key", async () => {
  play = () => (asked.length === 1 ? new Response(null, { status: 502 }) : stream([started, result(2)]));
  const done = await edge(["fleet", "run", "all", "--", "true"], { env });
  expect([done.code, asked.length, asked.map(({ method }) => method)]).toEqual([0, 2, ["POST", "POST"]]);
  expect(new Set(asked.map(({ headers }) => headers.get("idempotency-key"))).size).toBe(1);
});

test.each([
  [{ status: "complete", summary: { ...summary, ok: 1, err: 1, failed: 1 } }, 1],
  [{ status: "halted", reason: "canary_failed" }, 6],
  [{ status: "cancelled", reason: "approval_rejected" }, 7],
  [{ status: "halted", reason: "run_deadline" }, 8],
  [{ status: "halted", reason: "min_targets_unmet" }, 9],
  [{ status: "halted", reason: "no_targets" }, 5],
])("a run that ends with %j exits with its own code", async (end, code) => {
  play = () => stream([started, [2, "error", { reason: "Halted", code: "x", message: "why" }], result(3, end)]);
  const done = await edge(["fleet", "run", "all", "--", "true"], { env });
  expect([done.code, done.out.includes("Halted: why")]).toEqual([code, true]);
});

test("a run that waits for a person, is paused, or goes wave by wave says so", async () => {
  const status = (id: number, data: object): Event => [id, "fleet_status", { fleet_command_id: run, ...data }];
  play = () =>
    stream([
      status(1, { status: "awaiting_approval", reason: null, pause_reasons: [], approval_id: "a-7" }),
      status(2, { status: "running", reason: null, pause_reasons: [], wave: 1, waves: 2 }),
      status(3, { status: "paused", reason: "canary_done", pause_reasons: ["canary_done"], wave: 1, waves: 2 }),
      ended(4, web, "web-1", {
        status: "err",
        result: { err: { code: "nonzero_exit", message: "", exit_code: 3 } },
      }),
      result(5, { status: "halted", reason: "failure_threshold", summary: { ...summary, err: 1, failed: 1 } }),
    ]);
  const done = await edge(["fleet", "runs", run, "--follow"], { env });
  expect(done.out.split("\n")).toEqual([
    "run is awaiting_approval, approval a-7",
    "run is running, wave 1 of 2",
    "run is paused (canary_done), wave 1 of 2",
    "web-1: err (exit 3, nonzero_exit)",
    "run is halted (failure_threshold): 1 err, 1 failed",
    "",
  ]);
  expect([done.code, asked[0]?.path]).toEqual([6, `/v1/edge/fleet/runs/${run}/stream`]);
});

test("what the service refuses ends the command line, without a second try", async () => {
  play = () =>
    Response.json(
      { code: "validation_failed", error: "The request is invalid", issues: [{ path: "tool", message: "is unknown" }] },
      { status: 422 },
    );
  const done = await edge(["fleet", "run", "all", "x.y"], { env });
  expect([done.code, asked.length]).toEqual([2, 1]);
  expect(done.err).toBe("The request is invalid [validation_failed]\n  tool: is unknown\n");
  play = () => Response.redirect("https://elsewhere.test/", 307);
  expect((await edge(["fleet", "pause", run], { env })).code).toBe(1);
  expect(asked.length).toBe(2);
});

test("Ctrl-C leaves the run going and says how to follow and cancel it", async () => {
  play = () => stream([started], "stays");
  const child = Bun.spawn(
    [
      ...[process.execPath, join(import.meta.dir, "../../../src/programs/svc/edge/main.ts")],
      ...["edge", "fleet", "run", "all", "--", "sleep", "1"],
    ],
    { env: { PATH: process.env.PATH ?? "", ...env }, stdio: ["ignore", "pipe", "pipe"] },
  );
  let out = "";
  const reading = (async () => {
    for await (const piece of child.stdout) out += new TextDecoder().decode(piece);
  })();
  await until(() => out.includes("skipped"), { what: "the first event" });
  child.kill("SIGINT");
  const err = await new Response(child.stderr).text();
  await reading;
  expect(await child.exited).toBe(1);
  expect(err).toContain(`svc edge fleet runs ${run} --follow`);
  expect(err).toContain(`svc edge fleet cancel ${run}`);
  expect(asked.map(({ path }) => path)).toEqual(["/v1/edge/fleet/invoke"]);
});

test("a service that is not there is waited for, and not for ever; then 5", async () => {
  const away = { stream: async () => Promise.reject(new Failure("unavailable", "away")) };
  const notes: string[] = [];
  const follow = (runId: string | null, timing: object) =>
    followRun({
      ...{ service: away, begin: away.stream, runId, named: () => {}, tell: () => {} },
      note: (text) => notes.push(text),
      interrupted: new AbortController().signal,
      timing: { pauseMs: 1, ...timing },
    });
  await expect(follow(null, { firstPatienceMs: -1 })).rejects.toMatchObject({ exit: "unavailable" });
  await expect(follow(run, { patienceMs: -1 })).rejects.toMatchObject({ exit: "unavailable" });
  expect(notes).toEqual(Array(2).fill("the service cannot be reached; waiting for it"));
});

test("a run whose follower is refused goes on, and says how to come back", async () => {
  play = ({ method }) =>
    method === "POST"
      ? stream([started], "cut")
      : Response.json({ code: "token_expired", error: "x" }, { status: 401 });
  const done = await edge(["fleet", "run", "all", "--", "true"], { env });
  expect([done.code, done.err]).toEqual([3, expect.stringContaining(`svc edge fleet runs ${run} --follow`)]);
});

test("a slow reader gets all of a long answer", async () => {
  const name = "x".repeat(1_000_000);
  play = () => Response.json({ items: Array.from({ length: 4 }, () => ({ id: run, name })), next_cursor: null });
  const program = join(import.meta.dir, "../../../src/programs/svc/edge/main.ts");
  const line = `"${process.execPath}" "${program}" token ls --json | (sleep 0.3; wc -c)`;
  const child = Bun.spawn(["/bin/sh", "-c", line], {
    env: { PATH: process.env.PATH ?? "", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  expect(Number(await new Response(child.stdout).text())).toBeGreaterThan(4_000_000);
});

test("a proxy of the environment is the way out, and NO_PROXY the way around it", async () => {
  const seen: string[] = [];
  const proxy = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      seen.push(request.url);
      return Response.json({ items: [], next_cursor: null });
    },
  });
  play = () => Response.json({ items: [], next_cursor: null });
  const ls = (more: Readonly<Record<string, string>>, ...words: readonly string[]) =>
    Bun.spawn([process.execPath, join(import.meta.dir, "../../../src/programs/svc/edge/main.ts"), "ls", ...words], {
      env: { PATH: process.env.PATH ?? "", ...env, HTTP_PROXY: `http://127.0.0.1:${proxy.port}`, ...more },
      stdio: ["ignore", "ignore", "ignore"],
    }).exited;
  expect(await ls({ SVC_API_URL: "http://svc.test" }, "--allow-plaintext")).toBe(0);
  expect([seen.length, seen[0]]).toEqual([1, expect.stringContaining("/v1/edge/hosts")]);
  expect([await ls({ NO_PROXY: "127.0.0.1" }), seen.length, asked.length]).toEqual([0, 1, 1]);
  proxy.stop(true);
});

test("cancel, pause, resume, retry and a run that is not followed", async () => {
  play = ({ path }) =>
    path.endsWith("/cancel")
      ? Response.json({ fleet_command_id: run, status: "cancelling", cancelled: 3, already_terminal: 1 })
      : path.endsWith("/retry")
        ? stream([started, result(2)])
        : path.endsWith("/invoke")
          ? Response.json(
              { fleet_command_id: run, status: "running", targets_resolved: 2, targets_skipped: 0, stream_url: "x" },
              { status: 202 },
            )
          : Response.json({ fleet_command_id: run, status: "paused", pause_reasons: ["tenant_suspended"] });
  expect((await edge(["fleet", "cancel", run, "--reason", "wrong one"], { env })).out).toBe(
    `run ${run} is cancelling; 3 commands are cancelled\n`,
  );
  expect((await edge(["fleet", "pause", run], { env })).code).toBe(0);
  expect((await edge(["fleet", "resume", run], { env })).out).toBe(`run ${run} is paused (tenant_suspended)\n`);
  const retried = await edge(["fleet", "retry", run, "--status", "err,lost", "--mode=sequential"], { env });
  const detached = await edge(["fleet", "run", "all", "--detach", "--", "true"], { env });
  expect([retried.code, detached.code, detached.out]).toEqual([0, 0, `run ${run} is running: 2 hosts\n`]);
  expect(asked.map(({ path, body }) => [path, body])).toEqual([
    [`/v1/edge/fleet/${run}/cancel`, { reason: "wrong one" }],
    [`/v1/edge/fleet/${run}/pause`, {}],
    [`/v1/edge/fleet/${run}/resume`, {}],
    [`/v1/edge/fleet/${run}/retry`, { statuses: ["err", "lost"], policy: { mode: "Sequential" } }],
    ["/v1/edge/fleet/invoke", expect.objectContaining({ tool: "cmd.run" })],
  ]);
  expect(asked.at(-1)?.headers.get("accept")).toBe("application/json");
  expect((await edge(["fleet", "cancel", "web"], { env })).code).toBe(2);
});

test("a preview shows hosts, waves and whether a person must approve", async () => {
  play = () =>
    Response.json({
      resolved: [{ node_id: web, name: "web-1", status: "connected" }],
      queued: [],
      skipped: [{ node_id: db, name: "db-1", reason: "NotAccepting" }],
      ...{ count: 1, requires_approval: true, waves: [[web]] },
    });
  const done = await edge(["fleet", "preview", "group:web", "--mode=rolling=2"], { env });
  expect(done.out.split("\n")).toEqual([
    "NAME   ID                                    WAVE  STATUS",
    `web-1  ${web}  1     connected`,
    `db-1   ${db}  –     skipped: NotAccepting`,
    "1 of 2 hosts, 1 waves; another person must approve",
    "",
  ]);
  expect(asked[0]?.body).toEqual({ target: { Group: "web" }, policy: { mode: { Rolling: { batch: 2 } } } });
});

test("runs are listed; one is shown with all of its hosts, page by page", async () => {
  const one = {
    ...{ fleet_command_id: run, tool: "cmd.run", status: "complete", reason: null, created_at: "2031-04-02T09:15:00Z" },
    ...{ summary: { ...summary, ok: 1, err: 1, failed: 1 }, requested_by: { sub: "ann" } },
    ...{ approval_id: null, retry_of: null },
  };
  const host = (node_id: string, name: string, more: object) => ({
    ...{ node_id, name, status: "ok", attempt: 1, exit_code: 0, error_kind: null, error_message: null, duration_ms: 5 },
    ...more,
  });
  play = ({ path }) => {
    if (path.startsWith("/v1/edge/fleet/runs?")) return Response.json({ items: [one], next_cursor: null });
    const isSecond = path.includes("cursor=next");
    return Response.json({
      ...one,
      per_node: [
        isSecond
          ? host(db, "db-1", { status: "err", exit_code: 2, error_kind: "nonzero_exit" })
          : host(web, "web-1", {}),
      ],
      next_cursor: isSecond ? null : "next",
    });
  };
  const list = await edge(["fleet", "runs", "--tool", "cmd.run"], { env });
  expect(list.out).toContain(`${run}  cmd.run  complete  –       2031-04-02T09:15:00Z  ann  1 ok, 1 err, 1 failed`);
  expect(asked[0]?.path).toBe("/v1/edge/fleet/runs?tool=cmd.run&limit=500");
  const shown = await edge(["fleet", "runs", run, "--json"], { env });
  expect(shown.json.per_node.map(({ name }: { name: string }) => name)).toEqual(["web-1", "db-1"]);
  expect((await edge(["fleet", "runs", run], { env })).out).toContain("nonzero_exit");
});
