/** Who has to agree to a run, and what holds all runs of a tenant up (docs/reference/edge-fleet.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../../../harness/until.ts";
import { type Headers, told } from "../fixture.ts";
import { FleetFixture } from "./fixture.ts";

let at: FleetFixture;
let cara: Headers;
let root: Headers;
beforeAll(async () => {
  at = await FleetFixture.open();
  cara = await at.edge.user("acme", "cara", { role: "tenant:admin" });
  root = await at.edge.operator("admin");
});
afterAll(() => at?.close());

const uptime = { tool: "cmd.run", args: { command: "uptime" } };
const tagged = (tag: string) => ({ Selector: { tags: [tag] } });
const decide = (id: string, verb: string, headers: Headers, body: object = {}) =>
  at.node.call("POST", `/v1/human-approvals/${id}/${verb}`, body, headers);
const settings = (change: object, headers = at.ann) => at.call("PUT", "settings", change, headers);
const approvalOf = async (id: string): Promise<string> => (await at.run(id)).approval_id;

test("a run on all hosts waits for another person, and then for none that came later", async () => {
  const [one] = await at.hosts("all", ["all-1"]);
  const preview = (await at.call("POST", "fleet/preview", { target: "ALL" })).body;
  expect(preview).toMatchObject({ count: 1, requires_approval: true });
  const reader = at.invoke({ target: { All: null }, ...uptime });
  const { fleet_command_id: id } = await reader.first("fleet_started");
  const approval = await approvalOf(id);
  expect(await reader.first("fleet_status")).toMatchObject({ status: "awaiting_approval", approval_id: approval });
  const { items } = (await at.node.call("GET", "/v1/human-approvals?kind=fleet_run", undefined, at.ann)).body;
  expect(items).toMatchObject([{ id: approval, kind: "fleet_run", execution_id: id, fleet_command_id: id }]);
  expect(items[0].prompt).toContain("cmd.run on all hosts");
  const [late] = await at.hosts("all", ["all-2"]);
  expect(told(await decide(approval, "approve", at.ann))).toEqual([403, "self_approval_forbidden"]);
  expect(one?.told).toEqual([]);
  expect((await decide(approval, "approve", cara)).status).toBe(200);
  await one?.result((await one.next()) ?? "");
  expect(await reader.end()).toMatchObject({ status: "complete", targets_resolved: 1, targets_skipped: 1 });
  const starts = reader.events.filter(({ event }) => event === "fleet_started").map(({ data }) => data);
  expect(starts).toMatchObject([
    { status: "awaiting_approval", resolved: [{ name: "all-1" }], skipped: [], started_at: null },
    { status: "running", resolved: [{ name: "all-1" }], skipped: [{ node_id: late?.id, reason: "NotApproved" }] },
  ]);
  expect(late?.told).toEqual([]);
});

test("a run refused or given up sends nothing; an approved one covers its repeat", async () => {
  const [host] = await at.hosts("refused", ["refused-1"]);
  const refused = await at.begin({ target: tagged("refused"), ...uptime, policy: { approval: true } });
  await decide(await approvalOf(refused), "reject", cara, { reason: "no" });
  expect(await at.ended(refused)).toMatchObject({ outcome: "cancelled", reason: "approval_rejected" });
  const given = await at.begin({ target: tagged("refused"), ...uptime, policy: { approval: true } });
  const question = await approvalOf(given);
  expect((await at.call("POST", `fleet/${given}/cancel`)).body).toMatchObject({ status: "cancelled", cancelled: 1 });
  expect(told(await decide(question, "approve", cara))[0]).toBe(409);
  for (const former of [refused, given]) {
    const body = { statuses: ["not_started"], policy: { approval: false } };
    const repeat = await at.call("POST", `fleet/${former}/retry`, body, { ...at.ann, Accept: "application/json" });
    expect([former, repeat.body.status]).toEqual([former, "awaiting_approval"]);
    await at.call("POST", `fleet/${repeat.body.fleet_command_id}/cancel`);
  }
  expect(host?.told).toEqual([]);
  const id = await at.begin({ target: tagged("refused"), ...uptime, policy: { approval: true } });
  await decide(await approvalOf(id), "approve", cara);
  await host?.result((await host.next()) ?? "", "err");
  await at.ended(id);
  const again = await at.call("POST", `fleet/${id}/retry`, {}, { ...at.ann, Accept: "application/json" });
  expect(again.body.status).toBe("running");
  await host?.result((await host.next()) ?? "");
  expect(await at.ended(again.body.fleet_command_id)).toMatchObject({ outcome: "complete" });
});

test("a run that waits keeps the hosts of a group that is deleted meanwhile", async () => {
  const [host] = await at.hosts("grouped", ["grouped-1"]);
  const group = (await at.call("POST", "groups", { name: "gone", pinned_members: [host?.id] })).body.group_id;
  const id = await at.begin({ target: { Group: group }, ...uptime, policy: { approval: true } });
  expect((await at.call("DELETE", `groups/${group}`)).status).toBe(204);
  await decide(await approvalOf(id), "approve", cara);
  await host?.result((await host.next()) ?? "");
  expect(await at.ended(id)).toMatchObject({ outcome: "complete", target: { Group: group }, summary: { ok: 1 } });
});

test("settings say from how many hosts on people are asked, and who may change them", async () => {
  await at.hosts("many", ["many-1", "many-2", "many-3"], false);
  const usual = (await at.call("GET", "settings")).body;
  expect(usual).toEqual({
    ...{ approve_all: true, approve_above: null, agent_runs: "approve", self_approval: false, dispatch_enabled: true },
  });
  const bob = await at.edge.user("acme", "bob", { role: "tenant:member" });
  await at.node.call("GET", "/v1/agents", undefined, bob);
  expect((await settings({ approve_above: 2 }, bob)).status).toBe(403);
  const operator = { ...(await at.edge.operator("operator")), "X-Tenant-Id": "acme" };
  expect(told(await settings({ approve_above: 2 }, operator))).toEqual([403, "admin_required"]);
  expect(told(await settings({ approve_above: 10_001 }))).toEqual([422, "validation_failed"]);
  expect((await settings({ approve_above: 2 })).body).toEqual({ ...usual, approve_above: 2 });
  const { items } = (await at.node.call("GET", "/v1/audit?action=edge.settings_updated", undefined, at.ann)).body;
  expect(items).toMatchObject([{ action: "edge.settings_updated", details: { after: { approve_above: 2 } } }]);
  const needs = async (target: object) => (await at.call("POST", "fleet/preview", { target })).body.requires_approval;
  const hosts = (await at.call("GET", "hosts?tag=many")).body.hosts.map(({ id }: { id: string }) => id);
  expect([await needs(tagged("many")), await needs({ Nodes: hosts.slice(1) })]).toEqual([true, false]);
  expect((await settings({ approve_above: null })).body.approve_above).toBeNull();
  expect(await needs({ Selector: { tags: { none_of: [] } } })).toBe(true);
  const mia = await at.edge.consumer("mia", { tier: "enterprise" });
  expect((await at.call("GET", "settings", undefined, mia)).body.self_approval).toBe(true);
});

test("a tenant that sends nothing holds its runs up, apart from what people paused", async () => {
  const [one, two] = await at.hosts("still", ["still-1", "still-2"]);
  const id = await at.begin({ target: tagged("still"), ...uptime });
  const command = (await one?.next()) ?? "";
  await settings({ dispatch_enabled: false });
  expect(await at.run(id)).toMatchObject({ status: "paused", pause_reasons: ["dispatch_disabled"] });
  for (const path of ["fleet/invoke", `fleet/${id}/resume`, `fleet/${id}/retry`])
    if (!path.endsWith("retry"))
      expect([
        path,
        told(await at.call("POST", path, path === "fleet/invoke" ? { target: tagged("still"), ...uptime } : undefined)),
      ]).toEqual([path, [409, "dispatch_disabled"]]);
  await at.call("POST", `fleet/${id}/pause`);
  await settings({ dispatch_enabled: true });
  expect(await at.run(id)).toMatchObject({ status: "paused", pause_reasons: ["requested"] });
  await one?.result(command);
  await at.call("POST", `fleet/${id}/resume`);
  await two?.result((await two.next()) ?? "");
  expect(await at.ended(id)).toMatchObject({ outcome: "complete" });
});

test("a suspended tenant's runs pause, finish what is in flight, and go on with it", async () => {
  const [one, two] = await at.hosts("away", ["away-1", "away-2"]);
  const id = await at.begin({ target: tagged("away"), ...uptime });
  const command = (await one?.next()) ?? "";
  await at.node.call("POST", "/v1/admin/tenants/acme/suspend", { reason: "unpaid" }, root);
  const standing = async () => {
    const [row] = await at.edge.stores.sql<{ doc: string }[]>`select doc from edge_runs where id = ${id}`;
    return JSON.parse(row?.doc ?? "{}");
  };
  await until(async () => (await standing()).pause_reasons.includes("tenant_suspended"), { what: "the pause" });
  await one?.result(command);
  await until(async () => (await standing()).summary.ok === 1, { what: "the end of what is in flight" });
  expect((await standing()).summary.not_started).toBe(1);
  await at.node.call("POST", "/v1/admin/tenants/acme/resume", {}, root);
  await two?.result((await two.next()) ?? "");
  expect(await at.ended(id)).toMatchObject({ outcome: "complete", summary: { ok: 2 } });
});

test("what an agent asks of one host waits, is refused, or runs, as the tenant says", async () => {
  const [one] = await at.hosts("agent", ["agent-1", "agent-2"]);
  const call = (id: string, target: object) =>
    at.node.call("POST", `/calls/${id}`, { target, ...uptime, securityContext: null, deadlineSeconds: 60 }, at.ann);
  const target = { edge_node_id: one?.id };
  const first = crypto.randomUUID();
  const waiting = await call(first, target);
  expect(waiting.body).toMatchObject({ is: "waiting", approval_id: await approvalOf(first) });
  expect((await at.run(first)).requested_by).toMatchObject({ entry: "mcp", execution_id: "e1" });
  await decide(waiting.body.approval_id, "approve", cara);
  const ended = call(first, target);
  await one?.result((await one.next()) ?? "", "ok", { structured: { stdout: "up" } });
  expect((await ended).body).toMatchObject({ is: "ended", status: "ok", exit_code: 0, structured: { stdout: "up" } });
  const refused = crypto.randomUUID();
  await decide((await call(refused, target)).body.approval_id, "reject", cara, { reason: "no" });
  expect((await call(refused, target)).body).toEqual({ is: "not_run", reason: "approval_rejected" });
  expect(told(await call(crypto.randomUUID(), { edge_selector: { tags: ["agent"] } }))).toEqual([
    422,
    "multiple_targets",
  ]);
  expect(told(await call(crypto.randomUUID(), { edge_selector: { tags: ["none"] } }))).toEqual([
    422,
    "multiple_targets",
  ]);
  await settings({ agent_runs: "deny" });
  expect(told(await call(crypto.randomUUID(), target))).toEqual([403, "agent_runs_denied"]);
  await settings({ agent_runs: "allow" });
  const third = crypto.randomUUID();
  const allowed = call(third, target);
  await one?.result((await one.next()) ?? "", "err", { exit_code: 3 });
  expect((await allowed).body).toMatchObject({ is: "ended", status: "err", exit_code: 3, error_kind: "nonzero_exit" });
});
