/**
 * A command that may reach the egress proxy: 127.0.0.1:8082 is made to answer in its network namespace, then it runs
 * with the environment and in the directory that this program was given. Signals go to its process group.
 */
import { writeSync } from "node:fs";
import { constants } from "node:os";
import { serveEgress } from "../bootstrap/relay.ts";
import { findProgram } from "../find-program.ts";

/** First argument of init for this; the directory of the proxies' sockets and the command follow. */
export const proxiedFlag = "--proxied";

const signalNumbers: Readonly<Record<string, number>> = constants.signals;

function say(message: string): void {
  writeSync(2, `svc: ${message}\n`);
}

/** @returns the exit code: the program's, 128 + the signal that ended it, 126 or 127 when it cannot be run */
export async function runProxied(sockets: string, argv: readonly string[]): Promise<number> {
  const [name = "", ...args] = argv;
  const found = findProgram(name, process.env.PATH ?? "", process.cwd());
  if (!found.ok) {
    say(found.reason);
    return found.code;
  }
  for (const line of await serveEgress(sockets)) say(line);
  let child: Bun.Subprocess;
  // Before the program runs: what it says may call for a signal at once. None is handled until `child` is there.
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    process.on(signal, () => {
      try {
        process.kill(-child.pid, signal);
      } catch {}
    });
  }
  try {
    child = Bun.spawn([found.path, ...args], {
      argv0: name,
      env: process.env,
      stdio: ["inherit", "inherit", "inherit"],
      detached: true,
    });
  } catch {
    say(`${name}: cannot be executed`);
    return 126;
  }
  await child.exited;
  return child.exitCode ?? 128 + (signalNumbers[child.signalCode ?? ""] ?? 0);
}
