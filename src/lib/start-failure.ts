/** What keeps a service from starting although its settings are in order: told in one sentence, without a stack. */
export class StartFailure extends Error {
  override readonly name = "StartFailure";
}

/** A port that a listener is to have. */
export interface WantedPort {
  /** Of the names of its settings: `<prefix>_HOST` and `<prefix>_PORT`. */
  readonly prefix: string;
  readonly hostname: string;
  /** 0: any free one. */
  readonly port: number;
  /** The port is only the usual one: where it is taken, any free one does as well. */
  readonly mayMove: boolean;
}

/**
 * Opens a listener at its port, or where that is taken and may move, at any free one.
 * @param open gets the port, rejects or throws when it cannot be had
 * @throws StartFailure that says which setting to change
 */
export async function openMovable<T>(
  { prefix, hostname, port, mayMove }: WantedPort,
  open: (port: number) => T | Promise<T>,
): Promise<T> {
  const failures: unknown[] = [];
  for (const at of mayMove && port !== 0 ? [port, 0] : [port]) {
    try {
      return await open(at);
    } catch (error) {
      failures.push(error);
      if (!isTaken(error)) break;
    }
  }
  return openPort(prefix, hostname, port, () => {
    throw failures[0];
  });
}

const isTaken = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "EADDRINUSE";

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
