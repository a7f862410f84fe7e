/**
 * Violations of what volumes allow: durable, and recording one never waits. They are gathered in memory and written once
 * a second; equal ones of one caller or execution within a minute are one record with a count.
 */
import type { Json } from "../../../actors/kernel/json.ts";
import { iso } from "../../../actors/kernel/time.ts";
import { madeStorable } from "../../../actors/manifest/storable.ts";
import { type Recurrence, Recurring } from "../../lib/recurring.ts";
import { repeatedly } from "../../lib/timers.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { type Category, countViolations, insertViolations, type NewViolation } from "./records.ts";

/** Of a record that its maker names, the path and texts in details, characters. */
const longestText = 1024;
const flushEveryMs = 1_000;
const clearEveryMs = 3_600_000;
/** Questions of what a record may tell, at once. */
const questionsAtOnce = 10;

export interface Violation {
  readonly category: Category;
  /** Of who was refused. */
  readonly tenant: string;
  /** Who was refused, for telling callers apart; null: the execution alone. */
  readonly by: string | null;
  /** Only where the one who was refused sees the volume. */
  readonly volumeId: string | null;
  /** The volume as the caller named it, for telling violations apart; never shown, for it may be of another tenant. */
  readonly asked?: string;
  readonly executionId: string | null;
  /** As it was asked for. */
  readonly path: string | null;
  /** Such as `upload`, `fs.read`, `execution.write`. */
  readonly operation: string;
  /** Small; equal violations have equal details. */
  readonly details: { readonly [member: string]: Json };
  /** A UUID by which a record that is told again after a crash is known. */
  readonly id?: string;
  /**
   * What has to be looked up, once for equal ones and after the refusal: the volume as the caller sees it. Null: there is
   * nothing to record.
   */
  readonly settle?: () => Promise<Pick<Violation, "volumeId"> | null>;
}

export interface StorageViolations {
  /** Never throws and never waits. */
  recordViolation(violation: Violation): void;
  /** Records of the last minute, and those that are not written yet. */
  waiting(): number;
  /** Records made since; of all tenants for null. */
  countSince(tenant: string | null, since: Date): Promise<number>;
  /** Writes what was recorded so far. */
  flush(): Promise<void>;
  /** The last flush; nothing may be recorded afterwards. */
  stop(): Promise<void>;
}

export interface StorageViolationsOptions {
  readonly sql: Sql;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
  readonly retentionDays: number;
  /** Told when writing or clearing up failed. */
  warn(error: unknown): void;
}

/** Starts the writer. */
export function createStorageViolations(options: StorageViolationsOptions): StorageViolations {
  const { sql, now, newId, retentionDays, warn } = options;
  const open = new Recurring<Violation>({
    now,
    newId: ({ id }) => id ?? newId(),
    subjectOf,
    kindOf: ({ category, volumeId, asked, path, operation, details, id }) => [
      category,
      volumeId,
      asked ?? null,
      path,
      operation,
      details,
      id ?? null,
    ],
    furtherOf,
    beyondOf: ({ tenant }) => tenant,
  });
  /** What was looked up, while its record is open. */
  const settled = new WeakMap<Violation, Pick<Violation, "volumeId"> | null>();
  let writing: Promise<void> = Promise.resolve();

  async function settle(violation: Violation): Promise<void> {
    if (violation.settle === undefined || settled.has(violation)) return;
    settled.set(violation, await violation.settle());
  }

  async function writeSome(changed: readonly Recurrence<Violation>[]): Promise<void> {
    for (let from = 0; from < changed.length; from += questionsAtOnce) {
      await Promise.all(changed.slice(from, from + questionsAtOnce).map(({ item }) => settle(item)));
    }
    await insertViolations(sql, changed.flatMap(rowOf));
  }

  function rowOf({ id, item, firstAt, lastAt, count }: Recurrence<Violation>): NewViolation[] {
    const found = item.settle === undefined ? item : (settled.get(item) ?? null);
    if (found === null) return [];
    const { tenant, category, executionId, path, operation, details } = item;
    return [
      {
        id,
        tenant,
        category,
        volume_id: found.volumeId,
        execution_id: executionId,
        path,
        operation,
        details,
        count,
        created_at: iso(firstAt),
        last_seen_at: iso(lastAt),
        once: item.id !== undefined,
      },
    ];
  }

  const flush = (): Promise<void> => {
    const write = () => open.write(writeSome);
    writing = writing.then(write, write);
    return writing;
  };
  const clear = async (): Promise<void> => {
    await sql`delete from storage_violations where last_seen_at < ${new Date(now() - retentionDays * 86_400_000)}`;
  };
  const writer = setInterval(() => {
    if (open.size > 0) void flush().catch(warn);
  }, flushEveryMs);
  const stopClearing = repeatedly(clearEveryMs, clear, warn);

  return {
    recordViolation: (violation) => open.note(inBounds(violation)),
    waiting: () => open.size,
    flush,
    countSince: (tenant, since) => countViolations(sql, tenant, since),
    async stop() {
      clearInterval(writer);
      await stopClearing();
      await flush();
    },
  };
}

const subjectOf = ({ tenant, by, executionId }: Violation): string => JSON.stringify([tenant, by, executionId]);

/** Stands for violations that are too many to be told apart; of volumes that may not be there nothing is said then. */
const furtherOf = ({ category, tenant, by, executionId }: Violation): Violation => ({
  category,
  tenant,
  by,
  executionId,
  volumeId: null,
  path: null,
  operation: "several",
  details: { further: true },
  ...(category === "unauthorized_volume_access" ? { settle: async () => null } : {}),
});

const bounded = (text: string): string => madeStorable(text.slice(0, longestText));

/** Before it is held. Texts may be a caller's; one that the store refuses would keep all others unwritten. */
const inBounds = ({ path, details, ...violation }: Violation): Violation => ({
  ...violation,
  path: path === null ? null : bounded(path),
  details: Object.fromEntries(
    Object.entries(details).map(([name, value]) => [name, typeof value === "string" ? bounded(value) : value]),
  ),
});
