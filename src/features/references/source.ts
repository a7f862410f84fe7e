/**
 * References that stand in definitions (actors/manifest/references.ts) and those who know what they mean: secrets, and
 * credentials. Each registers a `ReferenceSource`; who deploys, starts and runs definitions asks `References`.
 */
import type { Identity } from "../../../actors/identity/identity.ts";
import type { ProblemCode } from "../../../actors/kernel/problem.ts";
import type { Reference } from "../../../actors/manifest/references.ts";
import type { Secret } from "../../lib/secret.ts";

/** Why a reference cannot be used: one word of the table of problems, and a sentence without the value. */
export interface ReferenceFault {
  readonly code: Extract<
    ProblemCode,
    "secret_not_found" | "secret_forbidden" | "credential_not_found" | "credential_not_granted" | "credential_forbidden"
  >;
  readonly message: string;
}

/** The definition in which a reference stands. */
export interface ReferringDefinition {
  readonly kind: "agent" | "workflow";
  /** Of an agent its UUID; of a workflow its name. */
  readonly id: string;
  /** Whose it is: of a global definition `svc-system`. */
  readonly tenant: string;
  /** The revision of an agent that runs: who deployed it, and when. Null for a workflow: who registered its versions counts. */
  readonly deployed: { readonly realm: string | null; readonly userId: string; readonly at: Date } | null;
}

/** An execution, or a run, that uses references. */
export interface ReferenceUse {
  /** The executing tenant. */
  readonly tenant: string;
  readonly definition: ReferringDefinition;
  /**
   * The person or machine that began it. Null: a webhook or a schedule did, and nothing personal is used.
   * The realm is null where the records of an earlier version do not tell it: then that which the tenant's kind implies.
   */
  readonly initiator: { readonly realm: string | null; readonly userId: string } | null;
  /** The workflow that runs, where one does. */
  readonly workflow: string | null;
  /** Each is audited once per execution and reference. */
  readonly executionId: string;
}

/** What a reference means now. */
export interface ResolvedReference {
  readonly value: Secret;
  /** Every text that must not be shown: the value, and the parts of it that may be met alone. */
  readonly hidden: readonly Secret[];
  /** When the value was last written, Unix ms. */
  readonly changedAt: number;
  /** Of a credential: which one it is. */
  readonly credentialId?: string;
}

/** Those who know one kind of reference. Maps are by `Reference.text`. */
export interface ReferenceSource {
  readonly kind: Reference["kind"];
  /**
   * At deploy: which of them the caller may not put into a definition of the tenant. Unknown ones may stand there.
   * @throws Problem 503 where the store is away
   */
  refused(
    caller: Pick<Identity, "scopes" | "realm" | "userId" | "kind">,
    tenant: string,
    references: readonly Reference[],
  ): Promise<ReadonlyMap<string, ReferenceFault>>;
  /**
   * What they mean for this use. Nothing is audited.
   * @throws Problem 503 where the store is away, 500 `decryption_failed`
   */
  resolve(
    use: ReferenceUse,
    references: readonly Reference[],
  ): Promise<ReadonlyMap<string, ResolvedReference | ReferenceFault>>;
  /**
   * Puts on record that the execution uses them, once for each, and notes their last use; before a value leaves.
   * The same again changes nothing. @throws when it cannot be written: then no value leaves
   */
  used(use: ReferenceUse, references: readonly Reference[]): Promise<void>;
}
