/**
 * Where secrets are kept. Two backends fill this port, PostgreSQL and a vault; one suite of tests holds for both
 * (test/features/secrets/conformance.ts, docs/reference/secrets.md).
 */
import type { Json } from "../../../actors/kernel/json.ts";
import type { Transaction } from "../../store/postgres/pool.ts";

/** What is kept under a path: one value, or several by name. */
export type SecretContent =
  | { readonly form: "plaintext" | "base64"; readonly value: string }
  | { readonly form: "data"; readonly data: Readonly<Record<string, string>> };

export interface StoredSecret {
  readonly path: string;
  readonly content: SecretContent;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A secret as lists show it; null: the backend cannot tell without opening it. */
export interface SecretEntry {
  readonly path: string;
  readonly updatedAt: Date | null;
  /** Decoded. */
  readonly sizeBytes: number | null;
  readonly version: number | null;
}

export interface WrittenSecret {
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What must hold before a write: a version that is the current one, `new` for a path without a secret, null: nothing. */
export type WriteCondition = number | "new" | null;

export interface SecretWrite {
  readonly content: SecretContent;
  readonly condition: WriteCondition;
  /** A UUID: the same piece of work again writes nothing where the backend can tell. */
  readonly workId: string;
}

/** Puts a change on record, in its transaction or, where none of ours makes it, before it. */
export interface Recorder {
  within(tx: Transaction, details: { readonly [key: string]: Json }): Promise<void>;
  outside(details: { readonly [key: string]: Json }, outcome?: "allowed" | "failed"): Promise<void>;
}

export interface SecretPage {
  /** Whole segments; null: all. */
  readonly prefix: string | null;
  /** The last path already seen. */
  readonly after: string | null;
  readonly offset: number;
  /** At most so many are wanted. */
  readonly limit: number;
}

/** Every method throws Problem 503 `secrets_unavailable` where the backend is away. The tenant bounds every one. */
export interface SecretStore {
  /** By path, in the order of their bytes. */
  list(tenant: string, page: SecretPage): Promise<readonly SecretEntry[]>;
  /** Null: there is none. @throws Problem 500 `decryption_failed` */
  read(tenant: string, path: string): Promise<StoredSecret | null>;
  /** @throws Problem 402 `quota_exceeded`, 412 `version_conflict`, 422 for what the backend cannot keep */
  write(tenant: string, path: string, write: SecretWrite, record: Recorder): Promise<WrittenSecret>;
  /** Erases the value with every version of it. @returns false: there was none */
  remove(tenant: string, path: string, record: Recorder): Promise<boolean>;
  /** Erases all that a tenant has. Repeatable. */
  erase(tenant: string): Promise<void>;
  /** Whether the backend answers, as `/health/ready` shows it. @throws where it does not */
  probe(): Promise<void>;
}
