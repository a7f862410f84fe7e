/**
 * Init: what an instance runs first when its program is not our bootstrap. Bundled to one file; see
 * `src/programs/bundle.ts`. (Our bootstrap does steps 1 and 2 itself, in its one process.)
 *
 *   bun --no-env-file --config=/dev/null init.js <program> [argument…]
 *   bun --no-env-file --config=/dev/null init.js --proxied <directory of sockets> <command…>   (see `proxied.ts`)
 *   bun … init.js --streams <directory of sockets> <that of the proxies' or -> <command…>      (see `streams.ts`)
 *
 *   1. In a network namespace of its own (SVC_GATEWAY_RELAY=true) it makes the address of SVC_ORCHESTRATOR_URL and,
 *      with SVC_EGRESS_SOCKETS, 127.0.0.1:8082 answer there, by the unix sockets in the directories
 *      SVC_GATEWAY_SOCKETS and SVC_EGRESS_SOCKETS.
 *   2. With SVC_STARTUP_FILE it runs that file by /bin/sh in SVC_WORKSPACE, at most 60 s, without the execution
 *      token (`src/programs/startup.ts`). If the script fails, nothing else runs and the exit code is 121.
 *   3. It runs `<program>`, an absolute path: directly when it is executable, else by its suffix (.py .js .mjs .sh)
 *      with the interpreter that PATH finds, in SVC_WORKSPACE, with the arguments, the whole environment and
 *      standard input, output and error as they are. SIGTERM, SIGINT and SIGHUP go on to it.
 *      The exit code is the program's, or 128 + the signal that ended it; 127 when there is no such program, 126
 *      when it cannot be run.
 *
 * The program's own environment can be read by every process of its user, so what a startup script leaves running
 * is ended before the program starts: the script never sees the execution token.
 */
import { writeSync } from "node:fs";
import { constants } from "node:os";
import { processes } from "../../lib/processes/process-table.ts";
import { hideEnvironment } from "../bootstrap/hide-environment.ts";
import { commandEnvironment } from "../bootstrap/input.ts";
import { serveRelays } from "../bootstrap/relay.ts";
import { killStartup, runStartup, startupFailedCode } from "../startup.ts";
import { commandFor } from "./command.ts";
import { proxiedFlag, runProxied } from "./proxied.ts";
import { runStreams, streamsFlag } from "./streams.ts";

const environment = process.env;
const workspace = environment.SVC_WORKSPACE || "/workspace";
const isAlone = environment.SVC_GATEWAY_RELAY === "true";
const signalNumbers: Readonly<Record<string, number>> = constants.signals;

let child: Bun.Subprocess | null = null;

function say(level: "ERROR" | "WARN", message: string): void {
  writeSync(2, `[BOOTSTRAP ${level}] ${message}\n`);
}

async function run(path: string, args: readonly string[]): Promise<number> {
  if (isAlone) await open();
  const file = environment.SVC_STARTUP_FILE;
  if (file) {
    const done = await runStartup({ file, environment: commandEnvironment(environment), workspace });
    if (!done) return startupFailedCode;
    await endRest();
  }
  const command = commandFor(path, environment.PATH ?? "");
  if (!command.ok) {
    say("ERROR", command.reason);
    return command.code;
  }
  try {
    child = Bun.spawn([...command.argv, ...args], {
      cwd: workspace,
      env: environment,
      stdio: ["inherit", "inherit", "inherit"],
      detached: true,
    });
  } catch (error) {
    say("ERROR", `cannot start ${path}: ${error instanceof Error && "code" in error ? String(error.code) : "failed"}`);
    return 126;
  }
  await child.exited;
  return child.exitCode ?? 128 + (signalNumbers[child.signalCode ?? ""] ?? 0);
}

async function open(): Promise<void> {
  if (!(await hideEnvironment())) say("WARN", "commands can read the environment of this program");
  const { SVC_ORCHESTRATOR_URL: url, SVC_GATEWAY_SOCKETS: gatewaySockets, SVC_EGRESS_SOCKETS: egress } = environment;
  if (!url || !URL.canParse(url) || !gatewaySockets) return;
  const wrong = await serveRelays({ orchestratorUrl: new URL(url), gatewaySockets, egressSockets: egress || null });
  for (const line of wrong) say("WARN", line);
}

/** Ends what the startup script left running: all there is here, but what this program itself stands on. */
async function endRest(): Promise<void> {
  if (!isAlone) return;
  const until = performance.now() + 2_000;
  while (performance.now() < until) {
    const rows = processes();
    const ours = new Set([1]);
    for (let pid = process.pid; pid > 1 && !ours.has(pid); ) {
      ours.add(pid);
      pid = rows.find((row) => row.pid === pid)?.parent ?? 1;
    }
    const others = rows.filter(({ pid }) => !ours.has(pid));
    if (others.length === 0) return;
    for (const { pid } of others) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {}
    }
    await Bun.sleep(5);
  }
}

/** Hands signals on to the program; before it runs they end everything. */
function passSignals(): void {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    process.on(signal, () => {
      if (child !== null) return child.kill(signal);
      killStartup();
      process.exit(128 + (signalNumbers[signal] ?? 0));
    });
  }
}

function begin(words: readonly string[]): Promise<number> {
  const [first = "", ...rest] = words;
  if (first === proxiedFlag) return runProxied(rest[0] ?? "", rest.slice(1));
  if (first === streamsFlag) return runStreams(rest[0] ?? "", rest[1] ?? "-", rest.slice(2));
  passSignals();
  return run(first, rest);
}

begin(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    say("ERROR", error instanceof Error ? error.message : "unexpected fault");
    process.exit(1);
  },
);
