/** The approval routes over a real runtime and real stores, with callers who are simply believed. */

import { Type } from "@sinclair/typebox";
import { approval } from "../../../actors/approval/approval.ts";
import {
  ApprovalDecided,
  approvalProtocol,
  type Open,
  Open as OpenSchema,
  ownerMessages,
} from "../../../actors/approval/messages.ts";
import type { Identity } from "../../../actors/identity/identity.ts";
import { defineActor } from "../../../actors/kernel/actor.ts";
import { tell } from "../../../actors/kernel/effect.ts";
import { message } from "../../../actors/kernel/message.ts";
import { parseHostPattern } from "../../../actors/policy/network/pattern.ts";
import { type Mail, openMail } from "../../../src/adapters/mail/port.ts";
import { openDeadlines } from "../../../src/features/approvals/deadlines/deadlines.ts";
import { approvalLinkRoutes } from "../../../src/features/approvals/links/links.ts";
import { approvalNotifyActivity } from "../../../src/features/approvals/notify/notify.ts";
import { approvalsProjection } from "../../../src/features/approvals/projection.ts";
import { approvalRecords } from "../../../src/features/approvals/records.ts";
import { approvalRoutes } from "../../../src/features/approvals/routes.ts";
import { createApprovals } from "../../../src/features/approvals/service.ts";
import type { Incident } from "../../../src/features/incidents/service.ts";
import { openBody } from "../../actors/approval/fixture.ts";
import { caller as believedCaller, believing } from "../../harness/callers.ts";
import type { LooseJson } from "../../harness/loose-json.ts";
import { startTestNode } from "../../harness/runtime/runtime.ts";
import { freshStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";
import { openApp } from "../../http/open-app.ts";

/** Opens approvals as a workflow run does, and notes what it is told of them. */
const owner = defineActor({
  kind: "owner",
  state: Type.Object({ told: Type.Array(ApprovalDecided) }),
  messages: {
    ask: message({ body: Type.Object({ id: Type.String(), request: OpenSchema }), reply: Type.Boolean() }),
    give_up: message({ body: Type.Object({ id: Type.String() }), reply: Type.Boolean() }),
    ...ownerMessages,
  },
  receive: {
    ask: (state, { id, request }) => ({
      state: state ?? { told: [] },
      reply: true,
      effects: [tell(approvalProtocol, id, "open", request, { coCommit: true })],
    }),
    give_up: (state, { id }) => ({
      state,
      reply: true,
      effects: [tell(approvalProtocol, id, "withdraw", { reason: "cancelled" }, { coCommit: true })],
    }),
    approval_decided: (state, decided) => ({ state: { told: [...(state?.told ?? []), decided] }, effects: [] }),
  },
});

const allScopes = ["approval:list", "approval:read", "approval:approve", "approval:reject"];
/** A person of the tenant `acme` unless the facts say otherwise; the answer is the token to call with. */
export const caller = (sub: string, facts: Partial<Identity> = {}): string =>
  believedCaller("acme", {
    kind: "tenant_user",
    userId: sub,
    membership: "member",
    email: `${sub}@example.com`,
    scopes: new Set(allScopes),
    ...facts,
  });

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: LooseJson;
}

export interface CallOptions {
  readonly method?: string;
  readonly body?: string | object;
  readonly headers?: Record<string, string>;
}

export interface FixtureOptions {
  readonly smtpUrl?: string;
}

export async function openFixture({ smtpUrl }: FixtureOptions = {}) {
  const stores = await freshStores();
  let ahead = 0;
  const now = () => Date.now() + ahead;
  const incidents: Incident[] = [];
  const mail: Mail | null = smtpUrl === undefined ? null : openMail({ url: smtpUrl, from: "Svc <svc@svc.test>" });
  const notify = approvalNotifyActivity({
    runtime: { of: (definition) => node.runtime.of(definition) },
    outside: {
      resolve: async () => ["127.0.0.1"],
      allowPrivate: [parseHostPattern("127.0.0.1")].filter((pattern) => pattern !== null),
    },
    incidents: { report: (incident) => void incidents.push(incident) },
    mail,
    publicUrl: "https://svc.test",
    now,
    firstDelayMs: 20,
  });
  const deadlines = openDeadlines({
    redisServers: stores.redisUrl,
    prefix: stores.prefix,
    runtime: { of: (definition) => node.runtime.of(definition) },
    now,
    gatherMs: 50,
  });
  const startNode = () =>
    startTestNode(stores, {
      actors: [approval, owner],
      projections: [approvalsProjection(deadlines.committed)],
      activities: [notify],
      clock: { now, newId: () => Bun.randomUUIDv7() },
    });
  let node = await startNode();
  deadlines.work();
  const carriedOut = () =>
    until(async () => (await stores.sql`select 1 from runtime_outbox limit 1`).length === 0, { what: "the outbox" });
  const records = approvalRecords(stores.sql);
  const approvals = createApprovals({
    // Of the node there is now: it may be another one after a restart.
    runtime: {
      of: (definition) => ({
        at: (tenant, key) => node.runtime.of(definition).at(tenant, key),
        newId: () => node.runtime.of(definition).newId(),
        isHere: (key) => node.runtime.of(definition).isHere(key),
        readMany: (tenant, keys) => node.runtime.of(definition).readMany(tenant, keys),
        readListed: (tenant, keys) => node.runtime.of(definition).readListed(tenant, keys),
        logPoints: (log, behind, limit) => node.runtime.of(definition).logPoints(log, behind, limit),
        logEntries: (log, points) => node.runtime.of(definition).logEntries(log, points),
        eraseLogs: (keys, except) => node.runtime.of(definition).eraseLogs(keys, except),
      }),
    },
    records,
    publicUrl: "https://svc.test",
    now,
  });
  const callerOf = (request: Request) => believing.identify(request, false, null).catch(() => null);
  const app = openApp({
    routes: [
      ...approvalRoutes({ approvals, sql: stores.sql, newId: Bun.randomUUIDv7 }),
      ...approvalLinkRoutes(approvals, callerOf, { status: async () => "active" }),
    ],
    authenticator: believing,
  });

  async function call(token: string | null, path: string, options: CallOptions = {}): Promise<Answer> {
    const { body, method = body === undefined ? "GET" : "POST" } = options;
    const isText = typeof body === "string" || body === undefined;
    const headers = {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(isText ? {} : { "content-type": "application/json" }),
      ...options.headers,
    };
    const payload = body === undefined ? {} : { body: isText ? body : JSON.stringify(body) };
    const response = await fetch(app.url + path, { method, headers, ...payload });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") ?? false;
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson && text !== "" ? JSON.parse(text) : null,
    };
  }

  return {
    sql: stores.sql,
    stores,
    records,
    incidents,
    approvals,
    app,
    call,
    runtime: () => node.runtime,
    now,
    /** Resolves once every effect committed so far is carried out: timers are set by the clock of that moment. */
    carriedOut,
    /** Sets the clock of everything here ahead. */
    async advance(ms: number): Promise<void> {
      await carriedOut();
      ahead += ms;
    },
    /** Opens an approval as a run of the tenant; its owner is the run. */
    async open(changes: Partial<Open> = {}, tenant = "acme"): Promise<{ id: string; run: string }> {
      const id = Bun.randomUUIDv7();
      const run = changes.execution_id ?? Bun.randomUUIDv7();
      const request = openBody({
        execution_id: run,
        root_execution_id: run,
        asked_at: now(),
        ...changes,
        owner: { kind: "owner", key: run },
      });
      await node.runtime.of(owner).at(tenant, run).ask("ask", { id, request });
      await this.settled(id, tenant);
      return { id, run };
    },
    /** Resolves once the approval itself is committed. */
    async settled(id: string, tenant = "acme") {
      await until(() => node.runtime.of(approval).at(tenant, id).read(), { what: "the approval", everyMs: 2 });
    },
    giveUp: (run: string, id: string, tenant = "acme") => node.runtime.of(owner).at(tenant, run).ask("give_up", { id }),
    /** What the run has been told. */
    async told(run: string, tenant = "acme"): Promise<readonly ApprovalDecided[]> {
      return (await node.runtime.of(owner).at(tenant, run).read())?.told ?? [];
    },
    /** The node goes and another comes. */
    async restart(between: () => Promise<unknown> = async () => {}) {
      await node.stop();
      await between();
      node = await startNode();
    },
    async dispose() {
      await app.stop();
      await deadlines.close();
      await node.stop();
      mail?.close();
      await stores.dispose();
    },
  };
}
