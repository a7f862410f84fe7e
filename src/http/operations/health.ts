/** Health: is the process alive, and can it do its work? */
import { type Static, Type } from "@sinclair/typebox";
import { Nullable } from "../../../actors/kernel/schema.ts";
import { withTimeout } from "../../lib/timers.ts";
import type { RuntimeStatus } from "../../runtime/port.ts";
import { reply } from "../answer.ts";
import { definePublicRoute, type Route } from "../route.ts";

/** Resolves when the dependency answers; rejects when it does not. Null = this node does without it. */
export type Probe = (() => Promise<unknown>) | null;

/** Why something is not ready, in words that any client may read. */
export class NotReady extends Error {
  override readonly name = "NotReady";
}

export interface HealthOptions {
  readonly database: Probe;
  readonly redis: Probe;
  /** Leases and mailboxes count as the queue. */
  readonly runtime: () => Promise<RuntimeStatus>;
  readonly storage: Probe;
  readonly identityProvider: Probe;
  readonly payment: Probe;
  /** Of features, by the name that they are told under. */
  readonly others?: Readonly<Record<string, Probe>>;
  /** What this node does without although it works, for operators. */
  readonly weaknesses: () => readonly Weakness[];
  /** What only a restart ends; null while nothing is. */
  readonly stuck: () => string | null;
  readonly draining: () => boolean;
  readonly now: () => number;
}

const Alive = Type.Object({
  status: Type.Literal("healthy"),
  mode: Type.Literal("live"),
  uptime_seconds: Type.Integer(),
});
const Stuck = Type.Object({
  status: Type.Literal("stuck"),
  mode: Type.Literal("live"),
  uptime_seconds: Type.Integer(),
  reason: Type.String(),
});
const Finding = Type.Object({
  status: Type.Union([Type.Literal("up"), Type.Literal("down"), Type.Literal("disabled")]),
  latency_ms: Nullable(Type.Number()),
  reason: Nullable(Type.String()),
});
type Finding = Static<typeof Finding>;
const Weakness = Type.Object({ code: Type.String(), message: Type.String() });
type Weakness = Readonly<Static<typeof Weakness>>;
const Readiness = Type.Object({
  status: Type.Union([Type.Literal("ready"), Type.Literal("degraded"), Type.Literal("unavailable")]),
  uptime_seconds: Type.Integer(),
  dependencies: Type.Record(Type.String(), Finding),
  warnings: Type.Array(Weakness),
});

/** Without the others a node is degraded: it refuses by itself what needs them. */
const required = ["database", "redis", "queue"];
const cacheMs = 2000;
const probeLimitMs = 1000;

export function healthRoutes(options: HealthOptions): Route[] {
  const startedAt = options.now();
  const uptime = () => Math.floor((options.now() - startedAt) / 1000);
  const probes: Readonly<Record<string, Probe>> = {
    database: options.database,
    redis: options.redis,
    queue: async () => {
      const { partitions, consuming } = await options.runtime();
      if (!consuming) throw new NotReady(`mailboxes are not consumed (${partitions} partitions held)`);
    },
    storage: options.storage,
    identity_provider: options.identityProvider,
    payment: options.payment,
    ...options.others,
  };
  let cached: { readonly at: number; readonly findings: Promise<Record<string, Finding>> } | null = null;

  function findings(): Promise<Record<string, Finding>> {
    if (cached === null || options.now() - cached.at >= cacheMs)
      cached = { at: options.now(), findings: runAll(probes) };
    return cached.findings;
  }

  return [
    definePublicRoute({
      method: "GET",
      path: "/health",
      summary: "The process runs",
      responses: { 200: Type.Object({ status: Type.Literal("ok") }) },
      handler: () => ({ status: "ok" }),
    }),
    definePublicRoute({
      method: "GET",
      path: "/health/live",
      summary: "The process runs, and since when; 503 where only a restart helps",
      responses: { 200: Alive, 503: Stuck },
      handler: () => {
        const reason = options.stuck();
        const seen = { mode: "live" as const, uptime_seconds: uptime() };
        if (reason !== null) return reply(503, { status: "stuck" as const, ...seen, reason });
        return reply(200, { status: "healthy" as const, ...seen });
      },
    }),
    definePublicRoute({
      method: "GET",
      path: "/health/ready",
      summary: "The node can do its work",
      responses: { 200: Readiness, 503: Readiness },
      handler: async () => {
        const dependencies = await findings();
        const status = options.draining() ? "unavailable" : verdict(dependencies);
        const warnings = options.weaknesses().map((one) => ({ ...one }));
        const body = { status, uptime_seconds: uptime(), dependencies, warnings };
        return reply(status === "unavailable" ? 503 : 200, body, { "Cache-Control": "no-store" });
      },
    }),
  ];
}

function verdict(dependencies: Readonly<Record<string, Finding>>): "ready" | "degraded" | "unavailable" {
  const down = Object.keys(dependencies).filter((name) => dependencies[name]?.status === "down");
  if (down.some((name) => required.includes(name))) return "unavailable";
  return down.length > 0 ? "degraded" : "ready";
}

async function runAll(probes: Readonly<Record<string, Probe>>): Promise<Record<string, Finding>> {
  const entries = Object.entries(probes).map(async ([name, probe]) => [name, await run(probe)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

async function run(probe: Probe): Promise<Finding> {
  if (probe === null) return { status: "disabled", latency_ms: null, reason: null };
  const began = performance.now();
  const failure = await withTimeout(probe(), probeLimitMs, () => new NotReady("it does not answer in time")).then(
    () => null,
    // Other errors may hold addresses and paths, and any client may ask.
    (error: unknown) => (error instanceof NotReady ? error.message : "it fails"),
  );
  const latency_ms = Math.round((performance.now() - began) * 100) / 100;
  return { status: failure === null ? "up" : "down", latency_ms, reason: failure };
}
