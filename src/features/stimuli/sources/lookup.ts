/** Where stimuli come from, looked up at the pace deliveries come in: answers are kept for up to 3 s. */
import { parseSource } from "../../../../actors/stimulus/routing.ts";
import { isUuid } from "../../../http/route.ts";
import { gather } from "../../../store/gather.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import type { Encryption } from "../../encryption/port.ts";
import type { SecretValues } from "../../secrets/port.ts";
import { noteIgnored } from "./ignored.ts";
import { noteReceived } from "./last-received.ts";
import type { Candidate, Router, Sources, StimulusSource } from "./port.ts";
import { type SourceRow, sourceRecords } from "./records.ts";
import { type RouterRow, routerRecords } from "./routers/records.ts";
import { defaultTolerance } from "./settings.ts";
import type { SecretsOfEnvironment } from "./verification/environment.ts";
import { environmentKeys, type Keys, keysOf } from "./verification/keys.ts";
import { type RefreshedValue, RefreshingCache } from "./verification/refreshing-cache.ts";
import { sourceOfRow } from "./wire.ts";

/** Changes are promised to hold on every node within 5 s. */
const freshMs = 3000;
const renewAfterMs = 2000;
/** Names, sources and tenants remembered at most, each. */
const remembered = 2000;
/** No agent has it. */
const noAgent = "00000000-0000-0000-0000-000000000000";

export interface LookupOptions {
  readonly sql: Sql;
  readonly encryption: Encryption;
  readonly environment: SecretsOfEnvironment;
  /** What secrets of sources refer to; asked as often as the source itself, so that a changed one holds as soon. */
  readonly secrets: SecretValues;
  /** The agent a name or UUID means in a tenant; null: none. */
  readonly findAgent: (tenant: string, reference: string) => Promise<string | null>;
  readonly report: (event: string, facts: Record<string, unknown>) => void;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** What this node changed itself is felt at once. */
export interface OpenSources extends Sources {
  forgetSource(changed: { readonly tenant: string; readonly source: string; readonly id: string }): void;
  forgetRouter(tenant: string): void;
  /** Writes down what is noted yet. */
  close(): Promise<void>;
}

interface TenantSource {
  readonly tenant: string;
  readonly source: string;
}
interface Url {
  readonly source: string;
  readonly id: string;
}
/** Neither slugs nor sources nor UUIDs hold blanks. */
const nameOf = ({ tenant, source }: TenantSource): string => `${tenant} ${source}`;
const urlOf = ({ source, id }: Url): string => `${source} ${id}`;
const halves = (name: string): [string, string] => name.split(" ", 2) as [string, string];

/** A candidate, and when one of its secrets ceases to count. */
interface Opened extends Pick<Keys, "until"> {
  readonly candidate: Candidate;
}

export function createSources({
  sql,
  encryption,
  environment,
  secrets,
  findAgent,
  report,
  now,
}: LookupOptions): OpenSources {
  const records = sourceRecords(sql);
  const routers = routerRecords(sql);
  const received = noteReceived((marks) => records.received(marks), report);
  const ignored = noteIgnored((marks) => records.ignored(marks), report);

  const oldest = gather<string, readonly SourceRow[]>(
    (sources) => records.oldest(sources),
    (source) => source,
  );
  const ofTenant = gather<TenantSource, SourceRow>(
    async (keys) => new Map((await records.ofTenants(keys)).map((row) => [nameOf(row), row])),
    nameOf,
  );
  const ofUrl = gather<Url, SourceRow>(
    async (keys) => new Map((await records.ofUrls(keys)).map((row) => [urlOf(row), row])),
    urlOf,
  );
  const ofRouter = gather<string, RouterRow>(
    async (tenants) => new Map((await routers.ofTenants(tenants)).map((row) => [row.tenant, row])),
    (tenant) => tenant,
  );

  async function opened(row: SourceRow, at: number): Promise<Opened> {
    const { keys, until, fault } = await keysOf({ encryption, environment, secrets }, row, at);
    const { tenant, source, preset, tolerance_seconds: toleranceSeconds } = row;
    const { require_timestamp: requireTimestamp } = row;
    const registered = sourceOfRow(row);
    const candidate = { tenant, source, registered, preset, toleranceSeconds, requireTimestamp, secrets: keys };
    // Kept with the candidate, so that this is found out once as well.
    const isTold = fault !== null && (keys.length === 0 || fault.code === "secrets_unavailable");
    return { candidate: isTold ? { ...candidate, fault } : candidate, until };
  }

  /** A tenant that a variable alone binds. */
  function bound(tenant: string, source: string): Candidate {
    const secrets = environmentKeys(environment, tenant, source, "svc");
    return {
      tenant,
      source,
      registered: null,
      preset: "svc",
      toleranceSeconds: defaultTolerance,
      requireTimestamp: false,
      secrets,
    };
  }

  function foundOf(
    all: readonly Opened[],
    alone: readonly Candidate[],
    at: number,
  ): RefreshedValue<readonly Candidate[]> {
    const until = Math.min(at + freshMs, ...all.map((one) => one.until));
    return { value: [...all.map(({ candidate }) => candidate), ...alone], until };
  }

  async function findCandidates(source: string): Promise<RefreshedValue<readonly Candidate[]>> {
    const at = now();
    const rows = (await oldest(source)) ?? [];
    const tenants = environment.ofSource(source).map(({ tenant }) => tenant);
    const others = tenants.filter((tenant) => rows.every((row) => row.tenant !== tenant));
    const found = await Promise.all(others.map((tenant) => ofTenant({ tenant, source })));
    // A stored secret makes the variable that bound its tenant inert.
    const further = found.filter((row): row is SourceRow => row !== null && row.secret === null);
    const alone = others.filter((_, index) => found[index] === null).map((tenant) => bound(tenant, source));
    return foundOf(await Promise.all([...rows, ...further].map((row) => opened(row, at))), alone, at);
  }

  async function findByUrl(question: string): Promise<RefreshedValue<readonly Candidate[]>> {
    const at = now();
    const [source, id] = halves(question);
    const row = await ofUrl({ source, id });
    return foundOf(row === null ? [] : [await opened(row, at)], [], at);
  }

  async function findSource(question: string): Promise<RefreshedValue<StimulusSource | null>> {
    const at = now();
    const [tenant, source] = halves(question);
    const row = await ofTenant({ tenant, source });
    return { value: row === null ? null : sourceOfRow(row), until: at + freshMs };
  }

  async function findRouter(tenant: string): Promise<RefreshedValue<Router | null>> {
    const at = now();
    const row = await ofRouter(tenant);
    return { value: row === null ? null : await routerOfRow(row), until: at + freshMs };
  }

  async function routerOfRow(row: RouterRow): Promise<Router> {
    return {
      tenant: row.tenant,
      // Configured before there was such an agent.
      agentId: row.router_agent_id ?? (await findAgent(row.tenant, row.router_agent)) ?? noAgent,
      confidenceThreshold: row.confidence_threshold,
      timeoutSeconds: row.timeout_seconds,
      allowedWorkflows: row.allowed_workflows,
    };
  }

  const isEmpty = (candidates: readonly Candidate[]): boolean => candidates.length === 0;
  const isNull = (value: unknown): boolean => value === null;
  const shared = { now, renewAfterMs, capacity: remembered };
  const candidatesOf = new RefreshingCache({ ...shared, find: findCandidates, isNothing: isEmpty });
  const byUrl = new RefreshingCache({ ...shared, find: findByUrl, isNothing: isEmpty });
  const sourcesOf = new RefreshingCache({ ...shared, find: findSource, isNothing: isNull });
  const routersOf = new RefreshingCache({ ...shared, find: findRouter, isNothing: isNull });

  return {
    async candidates(written) {
      const source = parseSource(written);
      return source === null ? [] : candidatesOf.get(source);
    },
    async candidate(written, sourceId) {
      const source = parseSource(written);
      if (source === null || !isUuid(sourceId)) return null;
      const [candidate = null] = await byUrl.get(urlOf({ source, id: sourceId.toLowerCase() }));
      return candidate;
    },
    async sourceOf(tenant, written) {
      const source = parseSource(written);
      return source === null ? null : sourcesOf.get(nameOf({ tenant, source }));
    },
    routerOf: async (tenant) => routersOf.get(tenant),
    received: (registered, at) => received.note(registered, at),
    forgetSource(changed) {
      candidatesOf.drop(changed.source);
      byUrl.drop(urlOf(changed));
      sourcesOf.drop(nameOf(changed));
    },
    forgetRouter: (tenant) => routersOf.drop(tenant),
    ignored: (registered, what, at) => ignored.note(registered, what, at),
    async close() {
      await received.close();
      await ignored.close();
    },
  };
}
