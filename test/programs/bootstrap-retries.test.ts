/** When the bootstrap asks its gateway again, on a clock of its own (docs/reference/gateway.md). */
import { describe, expect, test } from "bun:test";
import { type ExchangeParts, exchange, judge } from "../../src/programs/bootstrap/exchange.ts";
import type { BootstrapInput } from "../../src/programs/bootstrap/input.ts";
import type { Reply } from "../../src/programs/bootstrap/transport.ts";
import { final } from "./fake-gateway.ts";

describe("bootstrap: retry rules", () => {
  const input = {
    executionId: "e",
    agentId: "",
    modelAlias: "m",
    iteration: 1,
    llmTimeoutMs: 1_000,
    prompt: "p",
  } as BootstrapInput;

  /** Runs the exchange with replies by script on a clock of its own. */
  async function rehearse(
    replies: (n: number) => Reply,
    { random = 0.999, lifetimeMs = null }: { random?: number; lifetimeMs?: number | null } = {},
  ) {
    const waits: number[] = [];
    const bodies: string[] = [];
    let now = 0;
    const parts: ExchangeParts = {
      send: async (body, timeoutMs) => {
        expect(timeoutMs).toBe(31_000);
        bodies.push(body);
        return replies(bodies.length - 1);
      },
      exec: () => Promise.reject(new Error("nothing to run")),
      sleep: async (ms) => {
        waits.push(Math.round(ms));
        now += ms;
      },
      now: () => now,
      random: () => random,
      report: () => {},
    };
    return { outcome: await exchange({ ...input, lifetimeMs }, parts), waits, sent: bodies.length };
  }
  const answered = (status: number, body: object, retryAfterMs: number | null = null): Reply => ({
    kind: "answered",
    status,
    retryAfterMs,
    body,
  });
  const unreachable: Reply = { kind: "unreachable", reason: "ECONNREFUSED" };

  test("while no gateway answers it waits as long as the token is good", async () => {
    const hour = 3_600_000;
    const { outcome, waits } = await rehearse(() => unreachable, { random: 1, lifetimeMs: hour });
    expect(outcome.kind).toBe("unavailable");
    expect(waits.slice(0, 6)).toEqual([500, 1_000, 2_000, 4_000, 5_000, 5_000]);
    expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeWithin(hour - 5_000, hour + 1);
    const back = await rehearse((n) => (n < 600 ? unreachable : answered(200, final("x"))), { lifetimeMs: hour });
    expect(back).toMatchObject({ outcome: { kind: "final", content: "x" }, sent: 601 });
  });

  const away: [string, Reply][] = [
    ["503 of the gateway", answered(503, { code: "service_unavailable" })],
    ["429 of the gateway", answered(429, { code: "llm_quota_exceeded" })],
    ["502 of a proxy before the nodes", { kind: "unreadable", status: 502 }],
    ["an unreadable reply", { kind: "unreadable", status: 200 }],
  ];
  test.each(away)("%s is waited out as well", async (_, reply) => {
    const { outcome, sent } = await rehearse((n) => (n < 60 ? reply : answered(200, final("x"))), {
      lifetimeMs: 3_600_000,
    });
    expect({ outcome, sent }).toEqual({ outcome: { kind: "final", content: "x" }, sent: 61 });
  });

  const failed: [string, Reply][] = [
    ["upstream_timeout", answered(504, { code: "upstream_timeout" })],
    ["upstream_network", answered(502, { code: "upstream_network" })],
  ];
  test.each(failed)("%s: eight retries, full jitter doubling from 0.5 s to 30 s", async (_, reply) => {
    const { outcome, waits, sent } = await rehearse(() => reply, { random: 1, lifetimeMs: 3_600_000 });
    expect(outcome.kind).toBe("unavailable");
    expect(sent).toBe(9);
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  });

  test("without a token that says how long, 300 s", async () => {
    const { outcome, waits } = await rehearse(() => unreachable, { random: 1 });
    expect(outcome.kind).toBe("unavailable");
    expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeWithin(290_000, 300_001);
  });

  test("Retry-After is honoured, and one beyond the execution's time ends it", async () => {
    const { waits } = await rehearse((n) =>
      n === 0 ? answered(429, { code: "upstream_rate_limit" }, 20_000) : answered(200, final("x")),
    );
    expect(waits).toEqual([20_000]);
    const late = await rehearse(() => answered(429, { code: "llm_quota_exceeded" }, 301_000), { lifetimeMs: 300_000 });
    expect(late).toMatchObject({ outcome: { kind: "unavailable" }, waits: [], sent: 1 });
  });

  test("timeouts join the work again without counting", async () => {
    const { outcome, waits, sent } = await rehearse((n) =>
      n < 40 ? { kind: "timed_out" } : answered(200, final("x")),
    );
    expect(outcome).toEqual({ kind: "final", content: "x" });
    expect({ waits, sent }).toEqual({ waits: [], sent: 41 });
  });

  const verdicts: [number, string, string][] = [
    [502, "upstream_network", "retry"],
    [502, "upstream_invalid_input", "refused"],
    [429, "llm_quota_exceeded", "retry"],
    [503, "mailbox_full", "retry"],
    [504, "upstream_timeout", "retry"],
    [500, "internal_error", "refused"],
    [413, "body_too_large", "refused"],
    [200, "-", "retry"],
  ];
  test.each(verdicts)("%i %s is %s", (status, code, kind) => {
    expect(judge(answered(status, { code })).kind).toBe(kind as "retry");
  });
});
