/** What happens to people: they come in, prove who they are, change what they prove it with, and leave. */
import { passwordFault } from "../../../../actors/identity/password.ts";
import type { AuditedBy } from "../../../../actors/kernel/audit.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import type { Audit } from "../../audit/port.ts";
import type { Encryption } from "../../encryption/port.ts";
import type { Sessions } from "../storage/sessions.ts";
import type { Account, Attempts } from "./attempts.ts";
import { newRecoveryCodes, newTotpSecret, recoveryDigest, totpStep } from "./codes.ts";
import type { Links } from "./links.ts";
import type { Passwords } from "./passwords.ts";
import type { PeopleRecords, PersonRow } from "./records.ts";

/** What the audit log says of who asks, the person aside. */
export type AskedBy = Omit<AuditedBy, "actor">;

export interface PeopleOptions {
  readonly sql: Sql;
  readonly records: PeopleRecords;
  readonly passwords: Passwords;
  readonly attempts: Attempts;
  readonly links: Links;
  readonly sessions: Sessions;
  readonly encryption: Encryption;
  readonly audit: Audit;
  readonly now: () => number;
  readonly newId: () => string;
}

/** How a second factor was proven. */
export type SecondFactor = "totp" | "recovery_code";

export function createPeople(options: PeopleOptions) {
  const { sql, records, passwords, attempts, links, sessions, encryption, audit, now } = options;

  const totpContext = ({ id, tenant, totp_version }: PersonRow) => ({
    tenant,
    record: id,
    version: `totp/${totp_version}`,
  });

  /** Writes an entry about a person, by themselves. */
  const told = (
    tx: Transaction,
    person: PersonRow,
    by: AskedBy,
    action: string,
    details: { [key: string]: Json } = {},
  ) =>
    audit.append(
      tx,
      { ...by, actor: personActor(person) },
      {
        tenant: person.tenant,
        action,
        target: { type: "person", id: person.id },
        details: { realm: person.realm, ...details },
      },
    );

  async function noteLock(account: Account, by: AskedBy): Promise<void> {
    const person = await records.byAddress(account.realm, account.address);
    if (person === null) return;
    await sql.begin((tx) => told(tx, person, by, "person.locked"));
  }

  /** A proof that was typed: counted before it is looked at, and taken back when it is right. */
  async function proven(account: Account, by: AskedBy, look: () => Promise<boolean>): Promise<boolean> {
    const attempt = await attempts.begin(account);
    const isRight = await look();
    if (isRight && attempt.isAllowed) {
      await attempt.takeBack();
      return true;
    }
    // Behind the answer, which must not tell by its time whether there is such an account.
    if (attempt.locks) void noteLock(account, by).catch(() => {});
    return false;
  }

  return {
    sql,
    newId: options.newId,
    records,
    sessions,
    links,
    isCommon: passwords.isCommon,
    told,

    /**
     * The person whose address and password these are; null for all else, in the same time: unknown, disabled or
     * locked accounts as well as wrong passwords.
     */
    async withPassword(account: Account, password: string, by: AskedBy): Promise<PersonRow | null> {
      const person = await records.byAddress(account.realm, account.address);
      const isOpen = person?.status === "active";
      const hash = isOpen ? person.password_hash : null;
      const isRight = await proven(account, by, () => passwords.verify(password, hash));
      if (!isRight || person === null || hash === null) return null;
      if (passwords.isOutdated(hash)) {
        const anew = await passwords.hash(password);
        await sql`update people set password_hash = ${anew} where id = ${person.id} and password_hash = ${hash}`;
      }
      return person;
    },

    /** Whether the person proves the second factor, by a code of the authenticator or a recovery code. */
    async withCode(person: PersonRow, code: string, by: AskedBy): Promise<SecondFactor | null> {
      let factor: SecondFactor | null = null;
      const isRight = await proven(accountOf(person), by, async () => {
        if (person.totp_ciphertext === null || person.totp_confirmed_at === null) return false;
        const secret = encryption.decrypt(totpContext(person), person.totp_ciphertext);
        const last = person.totp_step === null ? null : Number(person.totp_step);
        const step = totpStep(secret, code, now(), last);
        if (step !== null) factor = (await records.takeStep(sql, person.id, step)) ? "totp" : null;
        const digest = recoveryDigest(person.id, code);
        if (step === null && digest !== null && (await records.takeRecoveryCode(sql, person.id, digest)))
          factor = "recovery_code";
        return factor !== null;
      });
      return isRight ? factor : null;
    },

    /** The sign-in is complete. */
    async signedIn(person: PersonRow, by: AskedBy, factors: readonly string[]): Promise<void> {
      await sql.begin(async (tx) => {
        await attempts.forget({ realm: person.realm, address: person.email }, tx);
        await records.change(tx, person.id, { last_sign_in_at: new Date(now()) });
        await told(tx, person, by, "person.signed_in", { factors: [...factors] });
      });
    },

    /** @returns what is wrong with a new password; null when nothing is */
    fault: (password: string, address: string): string | null => passwordFault(password, address, passwords.isCommon),

    hash: passwords.hash,

    /** Whether the person has this password; not counted, for those who proved it already. */
    isPassword: (person: PersonRow, password: string): Promise<boolean> =>
      passwords.verify(password, person.password_hash),

    /** A step of a sign-in is over. */
    usedOnce: async (token: string): Promise<boolean> => (await sql.begin((tx) => links.use(tx, token))) as boolean,

    /**
     * Sets a password that `fault` let pass.
     * @param but the session that goes on
     */
    async setPassword(person: PersonRow, password: string, by: AskedBy, but: string | null): Promise<void> {
      const hash = await passwords.hash(password);
      await sql.begin(async (tx) => {
        await records.change(tx, person.id, { password_hash: hash, password_expired: false });
        await sessions.endAll(tx, person.id, but);
        await told(tx, person, by, "person.password_changed");
      });
    },

    /** A new secret, which counts once `confirmTotp` saw a code of it. @returns it, in base32 */
    async beginTotp(person: PersonRow): Promise<string> {
      const secret = newTotpSecret();
      const next = { ...person, totp_version: person.totp_version + 1 };
      await sql.begin((tx) =>
        records.change(tx, person.id, {
          totp_ciphertext: encryption.encrypt(totpContext(next), secret),
          totp_version: next.totp_version,
          totp_confirmed_at: null,
          totp_step: null,
        }),
      );
      return secret;
    },

    /** The secret that waits for its first code; null: none does. */
    waitingTotp: (person: PersonRow): string | null =>
      person.totp_ciphertext === null || person.totp_confirmed_at !== null
        ? null
        : encryption.decrypt(totpContext(person), person.totp_ciphertext),

    /** @returns the recovery codes, to be shown once; null for a wrong code */
    async confirmTotp(person: PersonRow, code: string, by: AskedBy): Promise<readonly string[] | null> {
      if (person.totp_ciphertext === null || person.totp_confirmed_at !== null) return null;
      const secret = encryption.decrypt(totpContext(person), person.totp_ciphertext);
      let step: number | null = null;
      const isRight = await proven(accountOf(person), by, async () => {
        step = totpStep(secret, code, now(), null);
        return step !== null;
      });
      if (!isRight) return null;
      return (await sql.begin(async (tx) => {
        await records.change(tx, person.id, { totp_confirmed_at: new Date(now()), totp_step: step });
        await told(tx, person, by, "person.totp_enabled");
        return freshRecoveryCodes(tx, person);
      })) as readonly string[];
    },

    async newRecoveryCodes(person: PersonRow, by: AskedBy): Promise<readonly string[]> {
      return (await sql.begin(async (tx) => {
        await told(tx, person, by, "person.recovery_codes_renewed");
        return freshRecoveryCodes(tx, person);
      })) as readonly string[];
    },

    /** Without a second factor from here on. */
    async removeTotp(tx: Transaction, person: PersonRow): Promise<void> {
      await records.change(tx, person.id, { totp_ciphertext: null, totp_confirmed_at: null, totp_step: null });
      await records.setRecoveryCodes(tx, person, []);
    },
  };

  async function freshRecoveryCodes(tx: Transaction, person: PersonRow): Promise<readonly string[]> {
    const codes = newRecoveryCodes();
    const digests = codes.map((code) => recoveryDigest(person.id, code)).filter((digest) => digest !== null);
    await records.setRecoveryCodes(tx, person, digests);
    return codes;
  }
}

export type People = ReturnType<typeof createPeople>;

export const accountOf = ({ realm, tenant, email }: PersonRow): Account => ({ realm, tenant, address: email });

/** A person as the audit log names who acts. */
const personActor = ({ id, realm, role, name, email }: PersonRow): AuditedBy["actor"] => ({
  kind: realm === "svc-system" ? "operator" : realm === "svc-consumer" ? "consumer" : "tenant_user",
  realm,
  user_id: id,
  role,
  key_id: null,
  name: name ?? email,
});
