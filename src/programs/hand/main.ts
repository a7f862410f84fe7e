/**
 * The hand: runs one command beside the program of an instance, as the bootstrap runs those that it is sent. It is started
 * inside the instance, so that the command has its files, processes, network and limits. Bundled to one file; see
 * `src/programs/bundle.ts`.
 *
 * Standard input, or the file that is its argument: JSON of `HandOrder`. Standard output: JSON of `ExecResult`.
 */
import { exec, killRunningCommand, readExecRequest } from "../bootstrap/exec.ts";
import { commandEnvironment } from "../bootstrap/input.ts";
import { LiveOutput } from "../bootstrap/live-output.ts";

/** What the hand is told. */
export interface HandOrder {
  /** As an `exec` dispatch has it. */
  readonly request: Readonly<Record<string, unknown>>;
  /** Of the instance's program; what commands must not see is taken out here. */
  readonly environment: Readonly<Record<string, string>>;
  /** Where `/workspace` really is. */
  readonly workspace: string;
}

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
  process.on(signal, () => {
    killRunningCommand();
    process.exit(143);
  });
}

const file = process.argv[2];
const text = file === undefined ? await Bun.stdin.text() : await Bun.file(file).text();
const { request, environment, workspace }: HandOrder = JSON.parse(text);
// Whole at the end: no caller reads along.
const live = new LiveOutput({ now: () => performance.now(), post: async () => "never" });
const result = await exec(readExecRequest(request), commandEnvironment(environment), workspace, live);
await Bun.write(Bun.stdout, JSON.stringify(result));
// What the command left in the background keeps its pipes, and not this program.
process.exit(0);
