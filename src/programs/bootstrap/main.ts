/**
 * The bootstrap: the program that an instance runs. It puts the prompt to the gateway, runs the commands
 * that come back, and prints the final answer. Bundled to one file; see `src/programs/bundle.ts`.
 *
 * Standard output carries the final answer and nothing else; diagnostics go to standard error.
 */
import { writeSync } from "node:fs";
import { killStartup, runStartup, startupFailedCode } from "../startup.ts";
import { attest } from "./attest.ts";
import { exchange } from "./exchange.ts";
import { exec, killRunningCommand } from "./exec.ts";
import { diagnostic, exitCodes, exitOf } from "./exit.ts";
import { hideEnvironment } from "./hide-environment.ts";
import { BadInput, type BootstrapInput, commandEnvironment, readInput } from "./input.ts";
import { serveRelays } from "./relay.ts";
import { createTransport, type Send } from "./transport.ts";

function say(level: "ERROR" | "WARN" | "DEBUG", message: string): void {
  // `process.stderr` costs more to load than the rest of the program.
  writeSync(2, diagnostic(level, message));
}

async function run(): Promise<number> {
  const input = await readInput(
    process.env,
    process.argv[2],
    (path) => Bun.file(path).text(),
    () => Bun.stdin.text(),
    (message) => say("WARN", message),
  );
  const ready = prepareForCommands(input);
  const environment = commandEnvironment(process.env);
  if (input.startupFile !== null) {
    await ready;
    const done = await runStartup({ file: input.startupFile, environment, workspace: input.workspace });
    if (!done) return startupFailedCode;
  }
  const send = createTransport({ url: input.orchestratorUrl, token: input.token, sockets: input.gatewaySockets });
  const outcome = await exchange(input, {
    send: besideFirst(send, () => makeKnown(input)),
    exec: async (request, live) => {
      await ready;
      return exec(request, environment, input.workspace, live);
    },
    sleep: Bun.sleep,
    now: () => performance.now(),
    random: Math.random,
    report: (message) => {
      if (input.debug) say("DEBUG", message);
    },
  });
  const { exitCode, output, error } = exitOf(outcome);
  if (output !== "") await Bun.write(Bun.stdout, output);
  if (error !== null) say("ERROR", error);
  return exitCode;
}

/** Begins something once, when the first request is on its way. */
function besideFirst(send: Send, begin: () => void): Send {
  let isBegun = false;
  return (body, timeoutMs) => {
    const reply = send(body, timeoutMs);
    if (!isBegun) {
      isBegun = true;
      setTimeout(begin, 0);
    }
    return reply;
  };
}

function makeKnown({ orchestratorUrl: url, token, gatewaySockets: sockets, debug }: BootstrapInput): void {
  if (token === null) return;
  attest({ url, token, sockets, hostName: process.env.HOSTNAME || null }).then(
    (attested) => {
      if (debug) say("DEBUG", attested === null ? "the attestation was refused" : "attested");
    },
    (error: unknown) => {
      if (debug) say("DEBUG", `no attestation: ${String(error)}`);
    },
  );
}

/**
 * Inside a sandbox of its own: commands may use the orchestrator's address once this is done, and see nothing of
 * the bootstrap's environment. The first question need not wait for it.
 */
async function prepareForCommands(input: BootstrapInput): Promise<void> {
  if (!input.relay || input.gatewaySockets === null) return;
  await Bun.sleep(0);
  if (!(await hideEnvironment())) say("WARN", "commands can read the environment of the bootstrap");
  const { orchestratorUrl, gatewaySockets, egressSockets } = input;
  for (const wrong of await serveRelays({ orchestratorUrl, gatewaySockets, egressSockets })) say("WARN", wrong);
}

for (const [signal, code] of [
  ["SIGTERM", 143],
  ["SIGINT", 130],
] as const) {
  process.on(signal, () => {
    killStartup();
    killRunningCommand();
    process.exit(code);
  });
}

run().then(
  (code) => process.exit(code),
  (error: unknown) => {
    say("ERROR", error instanceof Error ? error.message : "unexpected fault");
    process.exit(error instanceof BadInput ? exitCodes.badInput : exitCodes.fault);
  },
);
