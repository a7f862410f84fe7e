/**
 * Bubblewrap around commands, where it can be used: no view of the state directory but for its `work`, no new
 * privileges, and a process namespace of their own, which dies with its first process.
 */
import type { StateDirectory } from "../state/directory.ts";

export interface Sandbox {
  /** `bubblewrap`, or `none` with the reason. */
  readonly name: string;
  /** What stands before a command that runs inside. Null: nothing isolates commands. */
  readonly wrap: ((cwd: string) => readonly string[]) | null;
}

const trustedPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Finds out by a try whether bubblewrap works here. */
export async function findSandbox(wanted: "auto" | "off", state: StateDirectory): Promise<Sandbox> {
  if (wanted === "off") return none("switched off");
  if (process.platform !== "linux") return none("there is none on this system");
  const program = Bun.which("bwrap", { PATH: trustedPath });
  if (program === null) return none("bwrap is not installed");
  const wrap = (cwd: string) => [program, ...isolation(state), "--chdir", cwd, "--"];
  const child = Bun.spawn([...wrap(state.work), "/bin/true"], { env: {}, stdio: ["ignore", "ignore", "pipe"] });
  const [code, told] = await Promise.all([child.exited, new Response(child.stderr).text()]);
  return code === 0 ? { name: "bubblewrap", wrap } : none(`bwrap: ${told.trim().slice(0, 200)}`);
}

const none = (reason: string): Sandbox => ({ name: `none: ${reason}`, wrap: null });

const isolation = (state: StateDirectory): readonly string[] => [
  ...["--dev-bind", "/", "/", "--proc", "/proc"],
  ...["--tmpfs", state.path, "--bind", state.work, state.work],
  // Without it root could take the cover off again.
  ...["--cap-drop", "CAP_SYS_ADMIN"],
  ...["--unshare-pid", "--new-session", "--die-with-parent"],
];
