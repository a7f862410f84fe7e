/** Fleet runs on a real node: streams, lists, verbs, the gate (docs/reference/edge-fleet.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { commandFacts } from "../../../../src/features/edge/commands/facts.ts";
import { told } from "../fixture.ts";
import { FleetFixture } from "./fixture.ts";

let at: FleetFixture;
beforeAll(async () => {
  at = await FleetFixture.open();
});
afterAll(() => {
  if (process.env.SHOW) console.log(at.node.output.slice(-6000));
  return at?.close();
});

const echo = { tool: "cmd.run", args: { command: "echo a", env_additions: { TOKEN: "s3cret" } } };
const tagged = (tag: string) => ({ Selector: { tags: [tag] } });

test("a run's events come as they happen, in two formats with the same data", async () => {
  const [web] = await at.hosts("one", ["web-1"]);
  await at.hosts("one", ["web-2"], false);
  const reader = at.invoke({ target: tagged("one"), ...echo }, { Accept: "*/*" });
  const id = (await reader.response).headers.get("x-svc-fleet-command-id") ?? "";
  const command = (await web?.next()) ?? "";
  web?.started(command);
  web?.output(command, 0, "hel");
  web?.output(command, 3, "lo");
  await web?.result(command);
  expect(await reader.end()).toMatchObject({
    fleet_command_id: id,
    ...{ status: "complete", outcome: "complete", reason: null, targets_resolved: 1, targets_skipped: 1 },
    summary: { ok: 1, err: 0, not_started: 0, in_progress: 0, failed: 0 },
  });
  expect(reader.events.map(({ id }) => id)).toEqual(reader.events.map((_, nth) => nth + 1));
  expect(reader.events[0]).toMatchObject({
    id: 1,
    event: "fleet_started",
    data: {
      fleet_command_id: id,
      tool: "cmd.run",
      resolved: [{ node_id: web?.id, name: "web-1", status: "connected" }],
      queued: [],
      skipped: [{ name: "web-2", reason: "Disconnected" }],
    },
  });
  const output = reader.events.filter(({ event }) => event === "command_progress").map(({ data }) => data.chunk.stdout);
  expect(output.join("")).toBe("hello");
  expect(reader.lasting.find(({ event }) => event === "command_result")?.data).toEqual({
    ...{ node_id: web?.id, name: "web-1", command_id: command, attempt: 1, status: "ok" },
    result: { ok: { exit_code: 0, duration_ms: 12 } },
    ...{ stdout_tail: "done\n", stderr_tail: "", structured: null },
  });
  const lines = at.follow(id, { Accept: "application/x-ndjson" });
  await lines.end();
  expect((await lines.response).headers.get("content-type")).toContain("application/x-ndjson");
  expect(lines.events).toEqual(reader.events);
  const behind = at.follow(id, { "Last-Event-ID": "2" });
  await behind.end();
  expect(behind.events).toEqual(reader.events.slice(2));
  const detail = await at.run(id);
  expect(detail).toMatchObject({ args: { command: "echo a", env_additions: { TOKEN: "********" } } });
  expect(detail.per_node).toMatchObject([
    { name: "web-1", status: "ok", outcome: "ok", wave: 1, attempt: 1, late: false },
  ]);
});

test("a reader that goes stops nothing; another node goes on without gap or repeat", async () => {
  const daemons = await at.hosts("two", ["two-1", "two-2", "two-3"]);
  const reader = at.invoke({ target: tagged("two"), ...echo, policy: { failure_policy: "continue_on_error" } });
  const { fleet_command_id: id } = await reader.first("fleet_started");
  const [one] = daemons;
  const command = (await one?.next()) ?? "";
  one?.output(command, 0, "some");
  await one?.result(command, "err");
  await reader.first("command_result");
  reader.close();
  const last = reader.events.at(-1)?.id ?? 0;
  const other = await at.another();
  try {
    const ann = { Authorization: `Bearer ${await other.token({ username: "ann" }, "tenant-acme")}` };
    const further = at.follow(id, { ...ann, "Last-Event-ID": String(last) }, "", other);
    for (const daemon of daemons.slice(1)) await daemon.result(await daemon.next());
    expect(await further.end()).toMatchObject({ status: "complete", summary: { ok: 2, err: 1, failed: 1 } });
    const whole = at.follow(id, ann, "?from=0", other);
    await whole.end();
    const seen = [...reader.lasting, ...further.lasting];
    expect(seen.map(({ id }) => id)).toEqual(whole.lasting.map(({ id }) => id));
    expect(seen).toEqual(whole.lasting);
    expect(whole.events.map(({ id }) => id)).toEqual(whole.events.map((_, nth) => nth + 1));
  } finally {
    await other.dispose();
  }
});

test("who cannot be reached is left out, and a run without hosts is halted in history", async () => {
  const [off] = await at.hosts("off", ["off-1"], false);
  const group = await at.call("POST", "groups", { name: "pinned", pinned_members: [off?.id] });
  const target = { kind: "group", group_name: "pinned" };
  const skipped = [{ node_id: off?.id, name: "off-1", reason: "Disconnected" }];
  expect((await at.call("POST", "fleet/preview", { target })).body).toEqual({
    ...{ resolved: [], queued: [], skipped, count: 0, requires_approval: false, waves: [] },
  });
  expect((await at.call("GET", `groups/${group.body.id}`)).body.resolved_members).toMatchObject([
    { status: "disconnected" },
  ]);
  const none = at.invoke({ target, ...echo });
  expect(await none.end()).toMatchObject({ status: "halted", reason: "no_targets", targets_skipped: 1 });
  expect(none.names).toEqual(["fleet_started", "error", "fleet_result"]);
  const [on] = await at.hosts("off", ["off-2"]);
  const few = await at.begin({ target: tagged("off"), ...echo, policy: { require_min_targets: 2 } });
  expect(await at.ended(few)).toMatchObject({ outcome: "halted", reason: "min_targets_unmet", skipped });
  expect(on?.told).toEqual([]);
  const { runs } = (await at.call("GET", "fleet/runs?outcome=halted")).body;
  expect(runs[0]).toMatchObject({ id: few, target: { Selector: { tags: [{ Has: "off" }] } } });
  expect(
    (await at.call("POST", "fleet/preview", { target: { Nodes: [off?.id, on?.id] }, policy: { offline_ttl_secs: 9 } }))
      .body,
  ).toMatchObject({
    resolved: [
      { name: "off-2", status: "connected" },
      { name: "off-1", status: "disconnected" },
    ],
    queued: [{ name: "off-1" }],
    count: 2,
    waves: [[on?.id]],
  });
});

test("those that failed run again under new ids, in the run and in one that repeats it", async () => {
  const [good, bad] = await at.hosts("again", ["again-1", "again-2"]);
  const policy = { mode: "parallel", failure_policy: "ContinueOnError", retries: 1 };
  const id = await at.begin({ target: tagged("again"), ...echo, policy });
  await good?.result(await good.next());
  const first = await bad?.next();
  const early = await at.call("POST", `fleet/${id}/retry`, {}, at.ann);
  expect([told(early), early.body.status]).toEqual([[409, "invalid_state"], "running"]);
  await bad?.result(first ?? "", "err");
  const second = await bad?.next();
  expect(second).not.toBe(first);
  await bad?.result(second ?? "", "timed_out");
  const run = await at.ended(id);
  expect(run).toMatchObject({ outcome: "complete", summary: { ok: 1, timed_out: 1, failed: 1 } });
  expect(run.per_node[1]).toMatchObject({
    ...{ name: "again-2", attempt: 2, status: "timed_out", command_id: second },
    previous_attempts: [{ attempt: 1, status: "err", command_id: first }],
  });
  expect((await at.run(id, "?node_status=ok")).per_node).toMatchObject([{ name: "again-1" }]);
  const page = await at.run(id, "?limit=1");
  expect(page.per_node).toHaveLength(1);
  expect((await at.run(id, `?limit=1&cursor=${page.next_cursor}`)).per_node).toMatchObject([{ name: "again-2" }]);
  const json = { ...at.ann, Accept: "application/json, text/plain, */*" };
  const again = await at.call("POST", `fleet/runs/${id}/retry`, {}, json);
  expect(again).toMatchObject({ status: 202, body: { targets_resolved: 1 } });
  await bad?.result((await bad.next()) ?? "");
  expect(await at.ended(again.body.fleet_command_id)).toMatchObject({ retry_of: id, summary: { ok: 1 } });
  expect(told(await at.call("POST", `fleet/${again.body.fleet_command_id}/retry`, {}))).toEqual([
    409,
    "nothing_to_retry",
  ]);
});

test("a host that comes in time runs what waited for it, another one's expires", async () => {
  const [in_time] = await at.hosts("late", ["late-1", "late-2"], false);
  const policy = { mode: "parallel", failure_policy: "ContinueOnError", offline_ttl_secs: 3 };
  const id = await at.begin({ target: tagged("late"), ...echo, policy });
  await in_time?.connect();
  await in_time?.result((await in_time.next()) ?? "");
  const run = await at.ended(id);
  expect(run).toMatchObject({ outcome: "complete", summary: { ok: 1, expired: 1 } });
  expect(run.per_node).toMatchObject([
    { status: "ok", wave: null },
    { status: "expired", error_kind: "offline_ttl" },
  ]);
});

test("policies are read beside the target too; a context the service knows judges", async () => {
  const [one, two] = await at.hosts("beside", ["beside-1", "beside-2"]);
  const body = { target: tagged("beside"), mode: "rolling", batch: 1 };
  expect((await at.call("POST", "fleet/preview", body)).body.waves).toEqual([[one?.id], [two?.id]]);
  const capabilities = [{ tool_pattern: "cmd.run", subcommand_allowlist: { echo: ["b"] } }];
  const made = await at.node.call("POST", "/v1/security-contexts", { name: "careful", capabilities }, at.ann);
  expect(made.status).toBe(201);
  const careful = { ...echo, ...body, security_context_name: "careful" };
  expect(told(await at.call("POST", "fleet/invoke", careful))).toEqual([403, "policy_violation"]);
  const known = await at.begin({ ...careful, args: { command: "echo b" }, canary: 1, pause_after_canary: true });
  await one?.result((await one.next()) ?? "");
  expect(await at.stands(known, ({ status }) => status === "paused")).toMatchObject({
    ...{ reason: "canary_done", security_context_name: "careful" },
    policy: { mode: { Rolling: { batch: 1 } }, canary: 1, max_concurrency: 1 },
    waves: { canary: 1, size: 1, hosts: 2 },
  });
  await at.call("POST", `fleet/${known}/resume`);
  await two?.result((await two.next()) ?? "");
  expect(await at.ended(known)).toMatchObject({ summary: { ok: 2 } });
});

test("a pause starts nothing, a resume goes on, a cancel reaches what was sent", async () => {
  const daemons = await at.hosts("held", ["held-1", "held-2", "held-3"]);
  const [one, two] = daemons;
  const id = await at.begin({ target: tagged("held"), ...echo });
  const command = (await one?.next()) ?? "";
  const held = await at.call("POST", `fleet/${id}/pause`);
  expect(held).toMatchObject({ status: 200, body: { status: "paused", pause_reasons: ["requested"] } });
  expect((await at.call("POST", `fleet/runs/${id}/pause`)).status).toBe(200);
  await one?.result(command);
  const stands = await at.stands(id, ({ summary }) => summary.ok === 1);
  expect(stands).toMatchObject({ status: "paused", reason: "requested", summary: { not_started: 2 } });
  expect(two?.told).toEqual([]);
  expect((await at.call("POST", `fleet/${id}/resume`)).body).toMatchObject({ status: "running", pause_reasons: [] });
  const next = (await two?.next()) ?? "";
  const gone = await at.call("POST", `fleet/${id}/cancel`, { reason: "enough" });
  expect(gone.body).toMatchObject({ cancelled: 2, already_terminal: 1 });
  expect((await at.call("POST", `fleet/${id}/cancel`)).body).toMatchObject({ cancelled: 0 });
  await two?.result(next, "cancelled", { error_kind: "cancelled" });
  expect(await at.ended(id)).toMatchObject({ outcome: "cancelled", summary: { ok: 1, cancelled: 1, not_started: 1 } });
  const late = await at.call("POST", `fleet/${id}/pause`);
  expect([told(late), late.body.status]).toEqual([[409, "invalid_state"], "cancelled"]);
});

test("a host that is revoked meanwhile ends its part of the run", async () => {
  const [one, two] = await at.hosts("revoked", ["revoked-1", "revoked-2"]);
  const policy = { mode: "parallel", failure_policy: "ContinueOnError" };
  const id = await at.begin({ target: tagged("revoked"), ...echo, policy });
  await one?.next();
  await two?.result((await two.next()) ?? "");
  await at.call("DELETE", `hosts/${one?.id}`);
  const run = await at.ended(id);
  expect(run.per_node[0]).toMatchObject({ status: "lost", error_kind: "revoked", reason: "RevokedDuringDispatch" });
});

test("what is stated of a command behind its end changes nothing of its record", async () => {
  const [host] = await at.hosts("stands", ["stands-1"]);
  const id = await at.begin({ target: tagged("stands"), ...echo });
  const command = (await host?.next()) ?? "";
  await host?.result(command);
  const before = (await at.ended(id)).per_node;
  const at_ms = Date.now();
  const of = { id: command, run_id: id, idx: 0, attempt: 1, host_id: host?.id ?? "", tool: "cmd.run" };
  const fact = { ...of, status: "dispatched", epoch: 9, dispatched_at: at_ms };
  for (const tenant of ["acme", "other"])
    for (const { text, parameters } of commandFacts.write([{ tenant, at: at_ms, fact }]))
      await at.edge.stores.sql.unsafe(text, [...parameters] as never[]);
  expect((await at.run(id)).per_node).toEqual(before);
});

test("one key is one run for one caller, and streams it from its first event", async () => {
  const [host] = await at.hosts("key", ["key-1"]);
  const bob = await at.edge.user("acme", "bob", { role: "tenant:admin" });
  const body = { target: tagged("key"), ...echo };
  const key = { "Idempotency-Key": "k1" };
  const first = at.invoke(body, key);
  const { fleet_command_id: id } = await first.first("fleet_started");
  await host?.result((await host.next()) ?? "");
  await first.end();
  const again = at.invoke(body, key);
  await again.end();
  expect(again.events).toEqual(first.events);
  expect(told(await at.call("POST", "fleet/invoke", { ...body, args: {} }, { ...at.ann, ...key }))).toEqual([
    422,
    "idempotency_key_reused",
  ]);
  const others = await at.begin(body, { ...bob, ...key });
  expect(others).not.toBe(id);
  await at.call("POST", `fleet/${others}/cancel`);
  await host?.result((await host.next()) ?? "", "cancelled");
  await at.ended(others);
});

test("a request that means nothing is refused, and the 21st unfinished run", async () => {
  const refusals: readonly (readonly [object, number, string])[] = [
    [{ target: "All", tool: "rm" }, 422, "unknown_tool"],
    [{ target: "All" }, 422, "validation_failed"],
    [{ target: { Selctor: {} }, ...echo }, 422, "validation_failed"],
    [{ target: { Node: crypto.randomUUID() }, ...echo }, 404, "host_not_found"],
    [{ target: { Group: "no such" }, ...echo }, 404, "group_not_found"],
    [{ target: "All", ...echo, policy: { max_concurency: 3 } }, 422, "validation_failed"],
    [{ target: "All", tool: "cmd.run", args: { command: "x".repeat(262_144) } }, 413, "body_too_large"],
    [{ target: "All", tool: "fs.read", args: { offset: 2 ** 53 } }, 422, "validation_failed"],
    [{ target: "All", tool: "fs.read", args: { path: "a\0" } }, 422, "validation_failed"],
    [{ target: { Group: "a\0" }, ...echo }, 422, "validation_failed"],
    [{ target: "All", ...echo, security_context_name: "\ud800" }, 422, "validation_failed"],
  ];
  const cursor = (...key: string[]) => `cursor=${Buffer.from(JSON.stringify(key)).toString("base64url")}`;
  const some = crypto.randomUUID();
  for (const query of [cursor("2026", some), cursor("2026-02-31T00:00:00Z", some), cursor("x", some)])
    expect([query, (await at.call("GET", `fleet/runs?${query}&limit=1`)).status]).toEqual([query, 200]);
  for (const [body, status, code] of refusals)
    expect([body, told(await at.call("POST", "fleet/invoke", body))]).toEqual([body, [status, code]]);
  const many = await Promise.all(Array.from({ length: 20 }, () => at.begin({ target: "all", ...echo })));
  const full = await at.call("POST", "fleet/invoke", { target: "all", ...echo });
  expect([told(full), full.body.quota]).toEqual([[429, "quota_exceeded"], "edge_runs"]);
  const ids = new Set<string>();
  for (let cursor = ""; cursor !== null; ) {
    const page = (await at.call("GET", `fleet/runs?status=awaiting_approval&limit=7${cursor && `&cursor=${cursor}`}`))
      .body;
    for (const { id } of page.items) ids.add(id);
    cursor = page.next_cursor;
  }
  expect(ids).toEqual(new Set(many));
  for (const id of many) expect((await at.call("POST", `fleet/${id}/cancel`, { reason: "a\0" })).status).toBe(200);
});

test("another tenant's run is none, and each route asks for its scope", async () => {
  await at.hosts("mine", ["mine-1"], false);
  const id = await at.begin({ target: tagged("mine"), ...echo });
  const zoe = await at.edge.user("zeta", "zoe");
  await at.node.call("GET", "/v1/agents", undefined, zoe);
  const readonly = { ...(await at.edge.operator("readonly")), "X-Tenant-Id": "acme" };
  const routes = [
    ["GET", `fleet/runs/${id}`],
    ["GET", `fleet/runs/${id}/stream`],
    ["GET", `fleet/runs/${id}/events`],
    ...["cancel", "pause", "resume", "retry"].flatMap((verb) => [
      ["POST", `fleet/${id}/${verb}`],
      ["POST", `fleet/runs/${id}/${verb}`],
    ]),
  ] as const;
  for (const [method = "", path = ""] of routes) {
    expect([path, told(await at.call(method, path, undefined, zoe))]).toEqual([path, [404, "fleet_run_not_found"]]);
    if (method === "GET") continue;
    const refused = await at.call(method, path, undefined, readonly);
    expect([told(refused), refused.body.required]).toEqual([[403, "insufficient_scope"], "aegis.edge.fleet.manage"]);
  }
  expect((await at.call("POST", "fleet/invoke", { target: "all", ...echo }, readonly)).status).toBe(403);
  expect((await at.call("GET", "fleet/runs", undefined, readonly)).status).toBe(200);
  const [host] = (await at.call("GET", "hosts?tag=mine")).body.hosts;
  expect(told(await at.call("POST", "fleet/preview", { target: { Node: host.id } }, zoe))).toEqual([
    404,
    "host_not_found",
  ]);
});
