/**
 * `Idempotency-Key`: a POST repeated under the same key does its work once and is answered alike.
 *
 * A key belongs to its caller, tenant and route. The first caller of a key has the row that nodes of the former version
 * know as well, so that a request repeated while versions run side by side is still one piece of work. Other callers have
 * rows of their own.
 *
 * The key's row names the piece of work it stands for before the work begins. A request holds the row
 * while it works. If its process dies, the hold runs out, and the next request with that key
 * repeats the very same piece of work, which recognises itself by its id.
 */

import { createHash } from "node:crypto";
import { Type } from "@sinclair/typebox";
import { invalidField, Problem } from "../../actors/kernel/problem.ts";
import type { Sql } from "../store/postgres/pool.ts";
import { JsonText, Reply, textOfBody } from "./answer.ts";
import type { Call } from "./route.ts";

/** The header of routes that begin work, for the API document. */
export const IdempotencyHeaders = Type.Object({
  "Idempotency-Key": Type.Optional(
    Type.String({ maxLength: 255, description: "Repeats under the same key get the first answer, for 24 hours" }),
  ),
});

/** How long a hold lasts without renewal. A crashed request blocks its key no longer than this. */
const holdMs = 10_000;
const renewEveryMs = 3000;
/** How long a second request waits for the first before it is answered 503. */
const waitMs = 100_000;
const keptHours = 24;

interface Row {
  readonly route: string;
  /** Null: a node of the former version wrote the row. */
  readonly caller: string | null;
  readonly fingerprint: string;
  readonly work_id: string;
  readonly mine: boolean;
  /** No request has used this key before. */
  readonly fresh: boolean;
  /** An earlier request began the work, as far as it said so. */
  readonly begun: boolean;
  readonly status: number | null;
  readonly headers: Record<string, string> | null;
  readonly body: string | null;
  /** In place of the body, where that holds what is shown once. */
  readonly sealed: string | null;
}

/** How answers are kept that hold what is shown once: encrypted, for the piece of work alone. */
export interface AnswerSeal {
  seal(tenant: string, workId: string, text: string): string;
  /** @throws Problem 500 `decryption_failed` */
  open(tenant: string, workId: string, sealed: string): string;
}

/** A piece of work that cannot tell by its id that it was done before. */
export interface WorkMark {
  /** An earlier request under the key had begun it, and left no answer: whether it took effect is not known. */
  readonly begun: boolean;
  /** Says durably that it begins now. @throws Problem 503 where another request has taken the work over */
  begin(): Promise<void>;
}

const unmarked: WorkMark = { begun: false, begin: async () => {} };

/** What of a call tells whether it is repeated. */
export type RepeatableCall = Pick<Call, "request" | "tenant" | "path" | "url" | "bytes" | "signal"> & {
  readonly identity: Pick<Call["identity"], "realm" | "userId" | "keyId">;
};

/**
 * Runs `work` under the request's `Idempotency-Key`, or just runs it when there is none.
 * A `work` that throws leaves no answer behind. After a refusal (a `Problem` below 500) the key is free again;
 * after anything else the next request with the key repeats the same piece of work, which may have begun.
 * @param work gets the id of the piece of work (a UUIDv7); with the same id it must not happen twice. `fresh`
 *   says that no other request can have been given that id; what does not recognise itself uses its `mark`
 * @param newId makes the id of a new piece of work
 * @param seal of answers that hold what is shown once; null: answers are kept as they are
 * @throws Problem 422 `idempotency_key_reused`, 503 when the first request does not come to an end
 */
export async function idempotent<Answered extends Reply>(
  call: RepeatableCall,
  sql: Sql,
  work: (workId: string, fresh: boolean, mark: WorkMark) => Promise<Answered>,
  newId: () => string,
  seal: AnswerSeal | null = null,
): Promise<Answered> {
  const key = call.request.headers.get("idempotency-key");
  if (key === null) return work(newId(), true, unmarked);
  const route = `${call.request.method} ${call.path}`;
  const slot = new Slot(sql, call.tenant, route, callerOf(call), checkedKey(key), fingerprintOf(call), seal);
  const waitedFrom = performance.now();
  for (let pauseMs = 20; ; pauseMs = Math.min(500, pauseMs * 1.5)) {
    const row = await slot.take(newId());
    if (row.fingerprint !== slot.fingerprint) {
      throw new Problem("idempotency_key_reused", "This Idempotency-Key was used for another request");
    }
    // What is stored under the key is an earlier answer of the same route.
    if (row.status !== null) return slot.replay(row) as Reply as Answered;
    if (row.mine) return slot.fill(row, work);
    if (call.signal.aborted || performance.now() - waitedFrom > waitMs) {
      const message = "The first request with this Idempotency-Key is still under way";
      throw new Problem("service_unavailable", message, {}, { "Retry-After": "5" });
    }
    await Bun.sleep(pauseMs);
  }
}

function checkedKey(key: string): string {
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw invalidField("Idempotency-Key", "must be 1–255 printable ASCII characters");
}

/** Realm and subject, or the API key, which is a caller of its own. */
function callerOf({ identity: { realm, userId, keyId } }: RepeatableCall): string {
  const names = JSON.stringify(keyId === null ? [realm, userId] : [keyId]);
  return createHash("sha256").update(names).digest("base64url");
}

/** What makes two requests the same: where they go, what they ask, what they carry. */
function fingerprintOf({ url, bytes }: RepeatableCall): string {
  const hash = createHash("sha256").update(url.pathname + url.search);
  return hash.update("\n").update(bytes).digest("base64url");
}

/** One key's row, as one request sees it. */
class Slot {
  private readonly holder = crypto.randomUUID();
  /** Where the row of this caller is when another caller was first. */
  private readonly ownRoute: string;
  constructor(
    private readonly sql: Sql,
    private readonly tenant: string,
    /** Where the row is. */
    private route: string,
    private readonly caller: string,
    private readonly key: string,
    readonly fingerprint: string,
    private readonly seal: AnswerSeal | null,
  ) {
    this.ownRoute = `${route} ${caller}`;
  }

  /** The answer that is kept. @throws Problem 500 `decryption_failed` */
  replay({ work_id, status, headers, body, sealed }: Row): Reply {
    const text = sealed === null ? body : (this.seal?.open(this.tenant, work_id, sealed) ?? null);
    return new Reply(status ?? 200, text === null ? undefined : new JsonText(text), {
      ...headers,
      "Idempotent-Replay": "true",
    });
  }

  /** Takes the row if it is new, expired or not held; gives what is in it either way. */
  async take(newWorkId: string): Promise<Row> {
    const { sql, holder } = this;
    // A row past its 24 hours starts over, as if it had never been.
    const [taken] = await sql<Row[]>`
      insert into idempotency_keys as k (tenant, route, key, caller, fingerprint, work_id, holder, held_until)
      select ${this.tenant}, ${this.route}, ${this.key}, ${this.caller}, ${this.fingerprint}, ${newWorkId}::uuid,
        ${holder}::uuid, now() + ${holdMs} * interval '1 millisecond'
      where ${this.route} = ${this.ownRoute} or not exists (
        select from idempotency_keys where tenant = ${this.tenant} and route = ${this.ownRoute} and key = ${this.key})
      on conflict (tenant, route, key) do update set
        holder = excluded.holder,
        held_until = excluded.held_until,
        caller = excluded.caller,
        fingerprint = excluded.fingerprint,
        work_id = case when k.created_at < now() - ${keptHours} * interval '1 hour' then excluded.work_id else k.work_id end,
        created_at = case when k.created_at < now() - ${keptHours} * interval '1 hour' then now() else k.created_at end,
        begun_at = case when k.created_at < now() - ${keptHours} * interval '1 hour' then null else k.begun_at end,
        status = null, headers = null, body = null, sealed = null
      where k.created_at < now() - ${keptHours} * interval '1 hour'
        or (k.status is null and k.fingerprint = excluded.fingerprint and (k.held_until is null or k.held_until < now())
          and (k.caller is null or k.caller = excluded.caller))
      returning route, caller, fingerprint, work_id, true as mine, xmax = 0 as fresh, begun_at is not null as begun,
        status, headers, body, sealed`;
    if (taken) return taken;
    const found = await sql<Row[]>`
      select route, caller, fingerprint, work_id, false as mine, false as fresh, begun_at is not null as begun, status,
        headers, body, sealed
      from idempotency_keys
      where tenant = ${this.tenant} and route in (${this.route}, ${this.ownRoute}) and key = ${this.key}`;
    const row = found.find(({ caller }) => caller === this.caller) ?? found.find(({ caller }) => caller === null);
    if (row?.route === this.route) return row;
    // Another caller's is first, or this caller's own row is from a time when one was.
    if (found.length > 0) this.route = this.ownRoute;
    return this.take(newWorkId);
  }

  /** Does the work while holding the row, and keeps its answer. */
  async fill<Answered extends Reply>(
    row: Row,
    work: (workId: string, fresh: boolean, mark: WorkMark) => Promise<Answered>,
  ): Promise<Answered> {
    const renewal = setInterval(() => void this.renew().catch(() => {}), renewEveryMs);
    let begins = false;
    const begin = async () => {
      await this.begin();
      begins = true;
    };
    try {
      const reply = await work(row.work_id, false, { begun: row.begun, begin });
      await this.keep(row.work_id, reply);
      return reply;
    } catch (error) {
      const nothingBegan = row.fresh && !begins && error instanceof Problem && error.status < 500;
      await (nothingBegan ? this.forget() : this.letGo()).catch(() => {});
      throw error;
    } finally {
      clearInterval(renewal);
    }
  }

  private renew() {
    return this.sql`
      update idempotency_keys set held_until = now() + ${holdMs} * interval '1 millisecond'
      where tenant = ${this.tenant} and route = ${this.route} and key = ${this.key} and holder = ${this.holder}`;
  }

  private async begin(): Promise<void> {
    const { count } = await this.sql`
      update idempotency_keys set begun_at = coalesce(begun_at, now())
      where tenant = ${this.tenant} and route = ${this.route} and key = ${this.key} and holder = ${this.holder}`;
    if (count > 0) return;
    const message = "Another request with this Idempotency-Key has taken the work over";
    throw new Problem("service_unavailable", message, {}, { "Retry-After": "1" });
  }

  private keep(workId: string, { status, headers, body }: Reply) {
    const text = body === undefined ? null : textOfBody(body);
    const sealed = text === null || this.seal === null ? null : this.seal.seal(this.tenant, workId, text);
    return this.sql`
      update idempotency_keys
      set status = ${status}, headers = ${JSON.stringify(headers)}::text::jsonb, body = ${sealed === null ? text : null},
        sealed = ${sealed}, holder = null, held_until = null
      where tenant = ${this.tenant} and route = ${this.route} and key = ${this.key} and holder = ${this.holder}`;
  }

  private forget() {
    return this.sql`
      delete from idempotency_keys
      where tenant = ${this.tenant} and route = ${this.route} and key = ${this.key} and holder = ${this.holder}`;
  }

  private letGo() {
    return this.sql`
      update idempotency_keys set holder = null, held_until = null
      where tenant = ${this.tenant} and route = ${this.route} and key = ${this.key} and holder = ${this.holder}`;
  }
}

/** Removes keys past their 24 hours; run it now and then. @returns how many there were */
export async function sweepIdempotencyKeys(sql: Sql): Promise<number> {
  const gone = await sql`delete from idempotency_keys where created_at < now() - ${keptHours} * interval '1 hour'`;
  return gone.count;
}
