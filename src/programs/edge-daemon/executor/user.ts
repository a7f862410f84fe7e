/** The user that commands run as. */
import { EdgeFailure, exits } from "../state/failure.ts";

export interface CommandUser {
  readonly uid: number;
  readonly gid: number;
  /** What stands before a command to become this user with all of its groups; null: spawning sets user and group. */
  readonly become: readonly string[] | null;
}

/**
 * @param name of the configuration; null: commands run as the daemon's user
 * @throws EdgeFailure (usage) for a user that is not there, or that this process may not become
 */
export async function findUser(name: string | null): Promise<CommandUser | null> {
  if (name === null) return null;
  const [uid, gid] = await Promise.all(["-u", "-g"].map((which) => idOf(which, name)));
  if (uid === undefined || gid === undefined || Number.isNaN(uid) || Number.isNaN(gid))
    throw new EdgeFailure(exits.usage, `run_as: there is no user ${name}`);
  if (uid === process.getuid?.()) return null;
  if (process.getuid?.() !== 0) throw new EdgeFailure(exits.usage, `run_as: only root runs commands as ${name}`);
  const setpriv = process.platform === "linux" ? Bun.which("setpriv") : null;
  const become = setpriv === null ? null : [setpriv, `--reuid=${uid}`, `--regid=${gid}`, "--init-groups", "--"];
  return { uid, gid, become };
}

async function idOf(which: string, name: string): Promise<number> {
  const child = Bun.spawn(["id", which, name], { stdio: ["ignore", "pipe", "ignore"] });
  const text = await new Response(child.stdout).text();
  return (await child.exited) === 0 ? Number(text.trim()) : Number.NaN;
}
