/** What the audit log is told of requests themselves, apart from what their handlers change. */
import type { Identity } from "../../actors/identity/identity.ts";
import type { Transaction } from "../store/postgres/pool.ts";
import type { Incoming } from "./route.ts";

/** A request of a known caller. */
export interface KnownRequest {
  readonly incoming: Incoming;
  /** The declared path, such as `/v1/agents/:id`. */
  readonly path: string;
  readonly identity: Identity;
  /** The effective tenant; where it could not be told, the caller's own. */
  readonly tenant: string;
}

export interface RequestAudit {
  /**
   * An administrator acts in another tenant than their own.
   * @throws when that cannot be put on record: then the request is not carried out
   */
  entered(request: KnownRequest): Promise<void>;
  /** A tenant comes into being in this transaction. */
  tenantMade(tx: Transaction, request: KnownRequest): Promise<void>;
  /** A request was refused with 403. Returns at once and never throws. */
  denied(request: KnownRequest, code: string): void;
  /** A request was refused with 401. Returns at once and never throws. */
  failed(incoming: Incoming, code: string): void;
}
