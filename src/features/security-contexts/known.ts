/**
 * Security contexts as this node knows them: read when they are first asked for, at most three seconds old, and read
 * anew at once after a notice. While PostgreSQL is away nothing older is used: calls fail rather than run under rules
 * that may have been withdrawn.
 */
import { LRUCache } from "lru-cache";
import type { StartContext } from "../../../actors/execution/start/settle.ts";
import { type Identity, systemTenant, type Tier } from "../../../actors/identity/identity.ts";
import { isOwnSubject } from "../../../actors/identity/tenant.ts";
import type { Binding } from "../../../actors/policy/security/evaluate.ts";
import { isNamed } from "../../../actors/policy/security/people.ts";
import { defaultSecurityContext, systemContext, tenantDefault } from "../../../actors/policy/security/system.ts";
import type { Notices } from "../../store/redis/notices.ts";
import { type ContextRecords, type ContextRow, holderOf } from "./records.ts";

/** What permission to use a context is decided by. */
export type ContextCaller = Pick<Identity, "kind" | "role" | "membership" | "userId"> &
  Partial<Pick<Identity, "email" | "homeTenant">>;

/** A context as a use of it is decided by. */
export interface KnownContext extends Binding {
  readonly usableBy: readonly string[] | null;
}

export interface ContextReader {
  /**
   * The contexts that bind a call: its own first, then its ceilings. Of one that is gone `spec` is null: it refuses all.
   * @throws when PostgreSQL does not answer
   */
  bindings(tenant: string, name: string, ceilings: readonly string[]): Promise<Binding[]>;
  /** Null: neither the tenant nor the system has one of that name. */
  find(tenant: string, name: string): Promise<KnownContext | null>;
  exists(tenant: string, name: string): Promise<boolean>;
  /**
   * Whether the caller may name the context; false for one that does not exist.
   * @param tier of the tenant
   */
  mayUse(tenant: string, name: string, caller: ContextCaller | null, tier: Tier | "system"): Promise<boolean>;
  /** Of an execution for which none is named: the tenant's `default`, else the system's. */
  defaultOf(tenant: string): Promise<string>;
  /**
   * The context that a start runs under: the named one, else the default one.
   * @param tier of the tenant
   */
  ofStart(
    tenant: string,
    named: { readonly name: string | null; readonly byCaller: boolean },
    caller: ContextCaller | null,
    tier: Tier | "system",
  ): Promise<StartContext>;
  /** Has every node read the tenant's contexts anew; call it after the commit. */
  changed(holder: string): void;
}

/** Changes are promised to bind within 5 s, also where a notice is lost. */
const freshMs = 3000;
const maxRemembered = 10_000;
/** Characters of what is remembered, as JSON. */
const maxRememberedSize = 64 * 1024 * 1024;

interface Entry {
  readonly at: number;
  readonly context: KnownContext | null;
}

export interface KnownOptions {
  readonly records: Pick<ContextRecords, "find">;
  readonly notices: Pick<Notices, "on" | "tell">;
  /** Unix milliseconds. */
  readonly now: () => number;
}

export function createContextReader({ records, notices, now }: KnownOptions): ContextReader {
  const remembered = new LRUCache<string, Entry>({ max: maxRemembered, maxSize: maxRememberedSize });
  const reading = new Map<string, Promise<KnownContext | null>>();
  /** Raised by every notice: what was read before it may be old. */
  let heard = 0;
  const forget = (holder: string | null) => {
    heard++;
    reading.clear();
    if (holder === null || holder === systemTenant) remembered.clear();
    else for (const key of remembered.keys()) if (key.startsWith(`${holder} `)) remembered.delete(key);
  };
  notices.on("context", forget);

  async function read(key: string, tenant: string, name: string): Promise<KnownContext | null> {
    const since = heard;
    const at = now();
    const context = knownOf(name, await records.find(tenant, name));
    const size = context === null ? 100 : JSON.stringify(context).length;
    if (heard === since) remembered.set(key, { at, context }, { size });
    return context;
  }

  function find(tenant: string, name: string): Promise<KnownContext | null> {
    const key = `${holderOf(tenant, name)} ${name}`;
    const known = remembered.get(key);
    if (known !== undefined && now() - known.at < freshMs) return Promise.resolve(known.context);
    const under = reading.get(key);
    if (under !== undefined) return under;
    const found = read(key, tenant, name);
    reading.set(key, found);
    const done = () => {
      if (reading.get(key) === found) reading.delete(key);
    };
    found.then(done, done);
    return found;
  }

  const defaultOf = async (tenant: string) =>
    (await find(tenant, tenantDefault)) === null ? defaultSecurityContext : tenantDefault;

  return {
    find,
    async ofStart(tenant, { name: asked, byCaller }, caller, tier) {
      const name = asked ?? (await defaultOf(tenant));
      const found = await find(tenant, name);
      if (found === null) return { name, version: 0, spec: null, isAllowed: false };
      return {
        name,
        version: found.version,
        spec: found.spec,
        isAllowed: !byCaller || mayUse(found, tenant, caller, tier),
      };
    },
    bindings: (tenant, name, ceilings) =>
      Promise.all(
        [name, ...ceilings].map(async (one) => {
          const found = await find(tenant, one);
          return found ?? { name: one, version: 0, spec: null };
        }),
      ),
    exists: async (tenant, name) => (await find(tenant, name)) !== null,
    async mayUse(tenant, name, caller, tier) {
      const found = await find(tenant, name);
      return found !== null && mayUse(found, tenant, caller, tier);
    },
    defaultOf,
    changed(holder) {
      forget(holder);
      notices.tell("context", holder);
    },
  };
}

/** What is stored, or else what the service brings under that name. */
function knownOf(name: string, row: ContextRow | null): KnownContext | null {
  if (row !== null) return { name, version: row.version, spec: row.spec, usableBy: row.usable_by };
  const brought = systemContext(name);
  return brought === null ? null : { name, version: 1, spec: brought.spec, usableBy: null };
}

/** Of a context that the service brings, both its own rule and `usable_by` decide. */
function mayUse(
  { name, usableBy }: KnownContext,
  tenant: string,
  caller: ContextCaller | null,
  tier: Tier | "system",
): boolean {
  if (systemContext(name)?.usableBy(caller, tier) === false) return false;
  if (usableBy === null) return true;
  if (caller === null) return false;
  const { userId, email = null, role, membership, kind, homeTenant } = caller;
  return isNamed(usableBy, {
    sub: userId,
    email,
    roles: [role, membership].filter((one) => one !== null),
    ...(homeTenant === undefined ? {} : { own_realm: isOwnSubject({ kind, homeTenant }, tenant) }),
  });
}
