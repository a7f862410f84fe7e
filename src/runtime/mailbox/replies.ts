/**
 * Replies to callers on other nodes: entries of the caller's node stream, which its blocking read follows with the
 * mailboxes. A reply that Redis took is read once the node's connection is back; one that Redis lost is noticed by the
 * lineage of the store (`lineage.ts`), and by callers that ask again.
 */
import type { RedisClient } from "../../store/redis/connections.ts";

/** Replies that a node may have waiting; one that is away for so long that more came asks again. */
export const mostReplies = 10_000;
/** A node's stream outlives its last reply this long, seconds. */
const keptSeconds = 3600;

/** The field of a reply in a node's stream; entries with another one only end a blocking read. */
export const replyField = "r";

export async function appendReply(redis: RedisClient, key: string, text: string): Promise<void> {
  await Promise.all([
    redis.xadd(key, "MAXLEN", "~", mostReplies, "*", replyField, text),
    redis.expire(key, keptSeconds),
  ]);
}
