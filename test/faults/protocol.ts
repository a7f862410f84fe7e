/** What a test says to a node of its cluster, and what the node answers, over Bun's IPC. */
import type { Json } from "../../actors/kernel/json.ts";
import type { CrashPoint, RuntimeCounts, RuntimeStatus } from "../../src/runtime/index.ts";
import type { StoreAddress } from "../harness/runtime/runtime.ts";

export interface NodeSettings {
  readonly stores: StoreAddress;
  readonly host: string;
  readonly partitions: number;
  readonly leaseTtlMs: number;
  readonly mailboxLimit: number;
  /** Kills its own process with SIGKILL when it passes this point for the nth time. */
  readonly crash: { readonly point: CrashPoint; readonly nth: number } | null;
  /** Null: it has what tests of one version need. */
  readonly version: "earlier" | "later" | null;
}

export type Request =
  | {
      readonly verb: "tell" | "tellCommitted" | "ask";
      readonly kind: string;
      readonly key: string;
      readonly type: string;
      readonly body: Json;
      readonly deadlineMs?: number;
    }
  /** Keeps so many questions to counters of a tenant under way until all are answered. */
  | {
      readonly verb: "flood";
      readonly tenant: string;
      readonly messages: number;
      readonly atOnce: number;
      readonly body: { readonly label?: string };
      /** Of each message besides. */
      readonly characters: number;
    }
  /** Asks counters of a tenant one after the other; answers how long each took, ms. */
  | { readonly verb: "measure"; readonly tenant: string; readonly messages: number; readonly direct: boolean }
  | { readonly verb: "status" }
  | { readonly verb: "counts" };

export interface Numbered {
  readonly id: number;
  readonly request: Request;
}

export interface Failure {
  readonly name: string;
  readonly message: string;
}

export type FromNode =
  | { readonly ready: string }
  | { readonly id: number; readonly value: Json | readonly number[] | RuntimeStatus | RuntimeCounts | undefined }
  | { readonly id: number; readonly failure: Failure };

/** The tenant of every actor of these tests. */
export const tenant = "acme";

/** The Redis list in which every attempt of an activity leaves `<node> <attempt> <resumed>`. */
export function runsKey(prefix: string, activity: string): string {
  return `${prefix}:runs:${activity}`;
}

/** The Redis key that lets the waiting activities of these tests finish. */
export function gateKey(prefix: string): string {
  return `${prefix}:gate`;
}
