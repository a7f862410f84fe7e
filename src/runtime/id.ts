/** UUIDs of version 7 (RFC 9562): time-ordered, so new rows land at the end of their index. */

export function uuidv7(): string {
  return Bun.randomUUIDv7();
}
