/** What keeps a service from starting although its settings are in order: told in one sentence, without a stack. */
export class StartFailure extends Error {
  override readonly name = "StartFailure";
}

/**
 * Opens a listener, and says which setting to change when its address cannot be had.
 * @param prefix of the names of its settings: `<prefix>_HOST` and `<prefix>_PORT`
 * @throws StartFailure
 */
export function openPort<T>(prefix: string, hostname: string, port: number, open: () => T): T {
  try {
    return open();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    const address = `${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
    switch (code) {
      case "EADDRINUSE":
        throw new StartFailure(
          `${address} is taken: stop what listens there, or set ${prefix}_PORT (0: any free one).`,
        );
      case "EACCES":
        throw new StartFailure(`${address} is not open to this user: set ${prefix}_PORT to 1024 or more.`);
      case "EADDRNOTAVAIL":
        throw new StartFailure(`${hostname} is no address of this machine: set ${prefix}_HOST.`);
      default:
        throw error;
    }
  }
}
