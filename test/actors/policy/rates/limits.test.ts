/** Which buckets a use counts in, and what they hold (docs/reference/identity.md). */
import { describe, expect, test } from "bun:test";
import { limitsOf, type RateOverride, type RateUser, rateUserOf } from "../../../../actors/policy/rates/limits.ts";
import {
  buckets,
  readBucket,
  readResource,
  resources,
  tierLimit,
  toolResource,
  unlimited,
} from "../../../../actors/policy/rates/resources.ts";
import { crossings, headersOf, refusal } from "../../../../actors/policy/rates/standing.ts";
import { standingIn, usedOf } from "../../../../actors/policy/rates/usage.ts";

const ada: RateUser = { realm: "people", userId: "ada" };
const base = {
  tenant: null,
  user: null,
  owns: null,
  resource: "agent_execution",
  bucket: "hourly",
  burst: null,
} as const;

function hourly(slug: string, user: RateUser | null, overrides: readonly Partial<RateOverride>[]) {
  const all = overrides.map((one) => ({ ...base, limit: 0, ...one }));
  const limits = limitsOf({ slug, tier: "free" }, user, "agent_execution", all);
  const of = (scope: string) => limits.find((one) => one.scope === scope && one.bucket === "hourly")?.limit;
  return { user: of("user"), tenant: of("tenant") };
}

describe("overrides", () => {
  const everywhere = { user: ada, limit: 30 };
  const there = { user: ada, tenant: "acme", limit: 40 };
  const ofTenant = { tenant: "acme", limit: 20 };

  test("the most particular holds: the user there, the user, the tenant, the tier", () => {
    expect(hourly("acme", ada, [ofTenant, everywhere, there])).toEqual({ user: 40, tenant: 20 });
    expect(hourly("acme", ada, [ofTenant, everywhere])).toEqual({ user: 30, tenant: 20 });
    expect(hourly("acme", ada, [ofTenant])).toEqual({ user: 20, tenant: 20 });
    expect(hourly("acme", ada, [])).toEqual({ user: 5, tenant: 5 });
  });

  test("in a team a user's override does not lift the team's cap", () => {
    const team = "t-0192c0de-0000-7000-8000-000000000001";
    expect(hourly(team, ada, [{ ...everywhere, owns: "u-ada" }])).toEqual({ user: 30, tenant: 5 });
    expect(hourly(team, ada, [{ ...there, tenant: team, owns: "u-ada" }])).toEqual({ user: 40, tenant: 5 });
  });

  test("in a consumer's own tenant the owner's override holds at both scopes", () => {
    const own = { ...everywhere, owns: "u-ada" };
    expect(hourly("u-ada", ada, [own])).toEqual({ user: 30, tenant: 30 });
    expect(hourly("u-ada", null, [own])).toEqual({ user: undefined, tenant: 30 });
    expect(hourly("u-bob", ada, [own])).toEqual({ user: 30, tenant: 5 });
  });

  test("the same subject of another realm is another user", () => {
    const namesake = { realm: "tenant-acme", userId: "ada" };
    expect(hourly("acme", namesake, [everywhere, there])).toEqual({ user: 5, tenant: 5 });
  });
});

test("service accounts count for the tenant alone, all others as a user", () => {
  expect(rateUserOf({ kind: "service_account", realm: "svc-system", userId: "ci" })).toBeNull();
  expect(rateUserOf({ kind: "operator", realm: "svc-system", userId: "root" })).toEqual({
    realm: "svc-system",
    userId: "root",
  });
});

test.each([
  ["fs.read", "seal_tool:fs_*"],
  ["fs_write", "seal_tool:fs_*"],
  ["fsx.read", "seal_tool:*"],
  ["web.search", "seal_tool:web_search"],
  ["web_search", "seal_tool:web_search"],
  ["webhook.send", "seal_tool:*"],
  ["svc.agent.search", "seal_tool:aegis.agent.search"],
  ["aegis.workflow.search", "seal_tool:aegis.workflow.search"],
  ["aegis.agent.list", "seal_tool:*"],
  ["cmd.run", "seal_tool:*"],
] as const)("a call of %s counts in %s", (tool, resource) => {
  expect(toolResource(tool)).toBe(resource);
});

test("former and shorter names are read, others and members of objects are not", () => {
  expect(["execution", "workflow", "seal_tool:fs.*", "seal_tool:web.*"].map(readResource)).toEqual([
    "agent_execution",
    "workflow_execution",
    "seal_tool:fs_*",
    "seal_tool:web_search",
  ]);
  expect(["minute", "hour", "day", "week", "month"].map(readBucket)).toEqual([...buckets]);
  expect(["", "toString", "__proto__", "EXECUTION"].map((name) => [readResource(name), readBucket(name)])).toEqual(
    Array(4).fill([null, null]),
  );
});

test("every tier has more than the one below it in every bucket", () => {
  for (const resource of resources)
    for (const bucket of buckets) {
      const row = (["free", "pro", "business", "enterprise"] as const).map((tier) => tierLimit(tier, resource, bucket));
      const isUnlimited = row.every((limit) => limit === unlimited);
      expect([
        resource,
        bucket,
        isUnlimited || row.every((limit, at) => at === 0 || limit > (row[at - 1] ?? 0)),
      ]).toEqual([resource, bucket, true]);
      expect(tierLimit("system", resource, bucket)).toBe(tierLimit("enterprise", resource, bucket));
    }
});

describe("what a caller is told", () => {
  const now = Date.UTC(2031, 3, 2, 12, 30);
  const rule = (bucket: (typeof buckets)[number], limit: number, need = 1) =>
    ({ resource: "agent_execution", scope: "user", bucket, limit, capacity: limit, need, take: need }) as const;

  test("the tightest bucket in the headers, the one that takes longest in a refusal", () => {
    const findings = [
      { rule: rule("per_minute", 3), left: 0 },
      { rule: rule("hourly", 5), left: 0 },
      { rule: rule("daily", unlimited, 0), left: -40 },
    ];
    expect(headersOf(findings.slice(1), now)).toMatchObject({
      "RateLimit-Limit": "5",
      "RateLimit-Reset": "1800",
      "RateLimit-Policy": "5;w=3600",
    });
    const problem = refusal(findings, now);
    expect(problem.extras).toMatchObject({ bucket: "hourly", limit: 5, remaining: 0, retry_after_seconds: 1800 });
    expect(problem.headers).toMatchObject({ "RateLimit-Limit": "5", "Retry-After": "1800" });
    expect(headersOf(findings.slice(2), now)).toEqual({});
  });

  test("header and refusal name the same moment, also within a second", () => {
    const { extras, headers } = refusal([{ rule: rule("hourly", 5), left: 0 }], now + 250);
    expect(Number(headers["X-RateLimit-Reset"]) * 1000).toBe(Date.parse(String(extras.resets_at)));
    expect(headers["RateLimit-Reset"]).toBe("1800");
  });

  test("a use that crosses the line tells it, the ones before and behind it do not", () => {
    const at = (left: number) => crossings([{ rule: rule("hourly", 10), left }]).length;
    expect([4, 3, 2, 1, 0].map(at)).toEqual([0, 0, 1, 0, 0]);
    expect(crossings([{ rule: rule("per_minute", 10), left: 2 }])).toEqual([]);
    expect(crossings([{ rule: { ...rule("hourly", 100), take: 500 }, left: -400 }])).toHaveLength(1);
  });

  test("the share used: none of an unlimited bucket, all of one that blocks", () => {
    const limit = (limit: number) => ({ ...rule("hourly", limit), capacity: limit });
    expect(standingIn({ limit: limit(unlimited), left: -8 }, now)).toMatchObject({ used: 7, remaining: -1, share: 0 });
    expect(standingIn({ limit: limit(0), left: 0 }, now)).toMatchObject({ used: 0, remaining: 0, share: 1 });
    expect(standingIn({ limit: limit(5), left: null }, now)).toMatchObject({ used: 0, remaining: 5, share: 0 });
    expect(usedOf({ limit: rule("per_minute", 3), left: 1.2 })).toBe(2);
    expect(standingIn({ limit: rule("per_minute", 3), left: 1.2 }, now)).toMatchObject({
      remaining: 1,
      resetsAt: now + 36_000,
    });
  });
});
