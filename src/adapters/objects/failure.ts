/** That the store of objects did not do what it was asked for. */
import { Problem } from "../../../actors/kernel/problem.ts";

const retryAfterSeconds = 5;

/** Callers are told to come back; why, the log tells. */
export class ObjectsUnavailable extends Problem {
  constructor(
    /** For the log: a status, a code of the store's, or the name of an error. No name of an object, no key. */
    readonly reason: string,
    /** Of its answer; null: there was none. */
    readonly answered: number | null = null,
  ) {
    super(
      "service_unavailable",
      "The storage of files cannot be reached",
      {},
      { "Retry-After": `${retryAfterSeconds}` },
    );
  }
}
