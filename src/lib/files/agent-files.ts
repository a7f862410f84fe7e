/** Files and directories that belong to agents. */

/** Host user and group of what belongs to an agent, wherever this process may give files away. */
export const agentUser = 1_000;

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** An id that is safe to be part of a path. @throws TypeError for anything but a lower-case UUID */
export function safeId(id: string): string {
  if (!uuid.test(id)) throw new TypeError("not a UUID in canonical form");
  return id;
}
