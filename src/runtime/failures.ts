/** How asking and telling fail, and which failures say that the service cannot do something now. */
import { Problem } from "../../actors/kernel/problem.ts";
import { isDatabaseAway } from "../store/postgres/pool.ts";
import { isRedisAway } from "../store/redis/connections.ts";

/** The callee did not answer in time. It may still act: repeat only what is safe to repeat. */
export class AskTimeout extends Error {
  override readonly name = "AskTimeout";
}
/** The partition's mailbox is at its bound; nothing was accepted. */
export class MailboxFull extends Error {
  override readonly name = "MailboxFull";
  constructor(readonly retryAfterSeconds: number) {
    super("The mailbox is full");
  }
}
/** This node is on its way out, or its stores cannot be reached; nothing was accepted for certain. */
export class RuntimeUnavailable extends Error {
  override readonly name = "RuntimeUnavailable";
}
/** The message could not be handled; it is kept as a dead letter. */
export class MessageRejected extends Error {
  override readonly name = "MessageRejected";
}

/**
 * Whether an error says that a store or the runtime of this service is away, full or silent: nothing about what was
 * tried. Errors of files, and of connections to others, say nothing of the kind, with any code.
 */
export function isServiceAway(error: unknown): boolean {
  if (error instanceof RuntimeUnavailable || error instanceof AskTimeout || error instanceof MailboxFull) return true;
  if (error instanceof Problem) return error.status === 503;
  return isDatabaseAway(error) || isRedisAway(error);
}
