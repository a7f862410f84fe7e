/** What an attestation may call the sandbox that it speaks for. */

/** The host name inside of every sandbox. */
const hostName = "sandbox";
/** As many characters as people and tools commonly cut the id of a container to. */
const shortest = 12;

/** A container as its engine knows it. */
export interface Container {
  readonly id: string;
  readonly name: string;
}

/**
 * Whether a text names the running instance: by its id or the beginning of it, with or without dashes, likewise by the id of
 * its container, by the container's name, or by the host name inside of it. A caller shows by it that they mean this
 * sandbox, not that they are in it: that is shown by a token.
 * @param container null: it runs in none, or in one that this node cannot see
 */
export function namesInstance(text: string, instanceId: string, container: Container | null = null): boolean {
  if (text === hostName || (container !== null && text === container.name)) return true;
  const written = text.toLowerCase();
  if (written.length < shortest) return false;
  const ids = [instanceId, instanceId.replaceAll("-", ""), ...(container === null ? [] : [container.id])];
  return ids.some((id) => id.startsWith(written));
}
