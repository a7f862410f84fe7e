/** Letters on their way: bounded, stored with the change that they tell of, sent until the server takes them. */
import { foldedAddress } from "../../../actors/identity/address.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import type { Mail } from "../../adapters/mail/port.ts";
import { sha256Hex } from "../../lib/digest.ts";
import { repeatedly } from "../../lib/timers.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";
import type { EncryptedColumn, Encryption } from "../encryption/port.ts";
import type { Letter, Letters } from "./port.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** How many letters are written, by whom and to whom. */
const bounds = { perTenantAndHour: 20, perAddressAndDay: 3 };

const everyMs = 5_000;
/** Letters sent at once; a mail server takes several over one connection. */
const atOnce = 5;
/** A letter that a node has begun to send is left to it for this long. */
const heldMs = 120_000;
/** Until the next try, by how many were made. */
const pausesMs = [30_000, 120_000, 600_000, 1_800_000, hourMs];

const version = "mail/1";
export const mailColumns: readonly EncryptedColumn[] = [
  { table: "mails", column: "ciphertext", version: () => version },
];

export interface LettersOptions {
  readonly sql: Sql;
  readonly encryption: Pick<Encryption, "encrypt" | "decrypt">;
  readonly mail: Mail | null;
  /** Unix ms. */
  readonly now: () => number;
  readonly newId: () => string;
  readonly warn: (event: string, facts: Readonly<Record<string, unknown>>) => void;
}

interface Due {
  readonly id: string;
  readonly tenant: string;
  readonly ciphertext: string;
  readonly attempts: number;
  readonly expires_at: Date;
}

export function createLetters({ sql, encryption, mail, now, newId, warn }: LettersOptions) {
  let sending = 0;
  let round: Promise<void> | null = null;
  let isWanted = false;

  async function post(tx: Transaction, { tenant, to, subject, text, expiresAt }: Letter): Promise<void> {
    if (mail === null) return;
    const digest = sha256Hex(foldedAddress(to));
    const at = now();
    await requireRoom(tx, tenant, digest, at);
    const id = newId();
    const ciphertext = encryption.encrypt({ tenant, record: id, version }, JSON.stringify({ to, subject, text }));
    await tx`
      insert into mails (id, tenant, address_digest, ciphertext, next_at, expires_at, created_at)
      values (${id}, ${tenant}, ${digest}, ${ciphertext}, ${new Date(at)}, ${new Date(expiresAt)}, ${new Date(at)})`;
  }

  /** One after another, so that each is counted before the next. */
  async function requireRoom(tx: Transaction, tenant: string, digest: string, at: number): Promise<void> {
    for (const name of [`mails of ${tenant}`, `mails to ${digest}`])
      await tx`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`;
    const hour = new Date(at - hourMs);
    const day = new Date(at - dayMs);
    const [of] = await tx<{ count: number; since: Date | null }[]>`
      select count(*)::int as count, min(created_at) as since from mails
      where tenant = ${tenant} and created_at > ${hour}`;
    refuseFrom(of, bounds.perTenantAndHour, hourMs, at, "The tenant has sent as many mails as it may in an hour");
    const [to] = await tx<{ count: number; since: Date | null }[]>`
      select count(*)::int as count, min(created_at) as since from mails
      where address_digest = ${digest} and created_at > ${day}`;
    refuseFrom(to, bounds.perAddressAndDay, dayMs, at, "This address was sent as many mails as it may be in a day");
  }

  /** Takes what is due; another node finds it held. */
  function take(): Promise<readonly Due[]> {
    const at = now();
    return sql<Due[]>`
      update mails set next_at = ${new Date(at + heldMs)}, attempts = attempts + 1
      where id in (select id from mails where ciphertext is not null and next_at <= ${new Date(at)}
        order by next_at limit ${atOnce} for update skip locked)
      returning id, tenant, ciphertext, attempts, expires_at`;
  }

  async function send(server: Mail, { id, tenant, ciphertext, attempts, expires_at }: Due): Promise<void> {
    const isOver = expires_at.getTime() <= now();
    const failure = isOver ? outdated : await attempt(server, id, tenant, ciphertext);
    const pauseMs = pausesMs[Math.min(attempts, pausesMs.length) - 1] ?? hourMs;
    const isLast = failure === null || failure.isFinal || now() + pauseMs >= expires_at.getTime();
    if (isLast) await sql`update mails set ciphertext = null where id = ${id}`;
    else await sql`update mails set next_at = ${new Date(now() + pauseMs)} where id = ${id}`;
    if (failure !== null)
      warn(isLast ? "mail_given_up" : "mail_failed", { mail: id, tenant, attempts, reason: failure.reason });
  }

  /** Null: the server took it. What it says otherwise may name the address, and is not told. */
  async function attempt(server: Mail, id: string, tenant: string, ciphertext: string): Promise<Failure | null> {
    try {
      const letter = JSON.parse(encryption.decrypt({ tenant, record: id, version }, ciphertext));
      await server.send({ id, ...letter });
      return null;
    } catch (error) {
      const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
      // A reply of 5xx is the server's last word (RFC 5321, 4.2.1).
      const isFinal = typeof responseCode === "number" && responseCode >= 500;
      return { reason: `not taken: ${String(responseCode ?? code ?? "no code")}`, isFinal };
    }
  }

  async function sendDue(server: Mail): Promise<void> {
    for (;;) {
      const due = await take();
      sending = due.length;
      await Promise.all(due.map((letter) => send(server, letter))).finally(() => {
        sending = 0;
      });
      if (due.length < atOnce) break;
    }
    // Counted no longer.
    await sql`delete from mails where ciphertext is null and created_at < ${new Date(now() - dayMs)}`;
  }

  /** Rounds of one node do not run beside each other; what is asked for meanwhile is one more round. */
  async function sendNow(): Promise<void> {
    if (mail === null) return;
    if (round !== null) {
      isWanted = true;
      return round;
    }
    round = (async () => {
      do {
        isWanted = false;
        await sendDue(mail);
      } while (isWanted);
    })();
    try {
      await round;
    } finally {
      round = null;
    }
  }

  const letters: Letters = {
    isConfigured: mail !== null,
    post,
    sendSoon: () => void sendNow().catch(() => {}),
  };

  return {
    letters,
    sending: () => sending,
    /** @returns a function that stops it, after a round under way */
    start(): () => Promise<void> {
      const stop = repeatedly(everyMs, sendNow, (error) => warn("mail_round_failed", { error: String(error) }));
      return async () => {
        await stop();
        await round?.catch(() => {});
      };
    },
  };
}

interface Failure {
  readonly reason: string;
  /** Trying again is of no use. */
  readonly isFinal: boolean;
}

const outdated: Failure = { reason: "of no use any more", isFinal: true };

/** @throws Problem 429 `rate_limited` */
function refuseFrom(
  written: { readonly count: number; readonly since: Date | null } | undefined,
  bound: number,
  windowMs: number,
  at: number,
  message: string,
): void {
  if (written === undefined || written.count < bound) return;
  const wait = Math.max(1, Math.ceil(((written.since?.getTime() ?? at) + windowMs - at) / 1000));
  throw new Problem("rate_limited", message, { retry_after_seconds: wait }, { "Retry-After": String(wait) });
}
