/** What an attestation may call the sandbox that it speaks for. */

/** The host name inside of every sandbox. */
const hostName = "sandbox";
/** As many characters as people and tools commonly cut the id of a container to. */
const shortest = 12;

/**
 * Whether a text names the running instance: by its id or the beginning of it, with or without dashes, or by the host name
 * inside of it. A caller shows by it that they mean this sandbox, not that they are in it: that is shown by a token.
 */
export function namesInstance(text: string, instanceId: string): boolean {
  if (text === hostName) return true;
  const written = text.toLowerCase();
  const isBeginning = written.length >= shortest && instanceId.startsWith(written);
  return isBeginning || (written.length >= shortest && instanceId.replaceAll("-", "").startsWith(written));
}
