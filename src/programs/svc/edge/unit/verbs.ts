/** `service install`, `uninstall`, `status`, `restart`, `logs`. */
import { readIdentity } from "../../../edge-daemon/state/identity.ts";
import type { Environment } from "../command/environment.ts";
import { Failure } from "../command/exit.ts";
import { type Chosen, chosenState, stateFlags } from "../command/state-flags.ts";
import { whole } from "../command/values.ts";
import { defineVerb, jsonFlag } from "../command/verb.ts";
import { programCommand } from "../program.ts";
import { type HostService, serviceFor } from "./service.ts";
import { unitSpec } from "./spec.ts";

const flags = { ...jsonFlag, ...stateFlags } as const;

/** @returns remarks for the operator @throws Failure `conflict` where one is installed, unless it may be replaced or kept */
export async function installService(
  { state, config }: Chosen,
  environment: Environment,
  existing: "refuse" | "replace" | "keep",
): Promise<{ readonly service: HostService; readonly kept: boolean; readonly notes: readonly string[] }> {
  const service = serviceFor(state, environment);
  if (service.isInstalled() && existing !== "replace") {
    if (existing === "keep") return { service, kept: true, notes: [] };
    throw new Failure("conflict", `${service.file} is there already: --force replaces it`, "service_exists");
  }
  const notes = await service.install(unitSpec(state, config, programCommand(), environment));
  return { service, kept: false, notes };
}

export const install = defineVerb({
  usage: "[--force | --keep-existing]",
  flags: {
    ...flags,
    force: { kind: "switch", meaning: "replaces the one that is installed" },
    "keep-existing": { kind: "switch", meaning: "leaves the one that is installed" },
  },
  positions: [0, 0],
  async run({ flags: given, environment, output }) {
    const chosen = chosenState(given, environment);
    if (readIdentity(chosen.state) === null)
      throw new Failure(
        "conflict",
        `${chosen.state.path} is not enrolled; svc edge enroll comes first`,
        "not_enrolled",
      );
    const existing = given.force ? "replace" : given["keep-existing"] ? "keep" : "refuse";
    const { service, kept, notes } = await installService(chosen, environment, existing);
    output.json({ name: service.name, file: service.file, kept });
    output.line(kept ? `${service.file} stays as it is` : `${service.name} is installed and runs: ${service.file}`);
    for (const note of notes) output.note(note);
    return "ok";
  },
});

export const uninstall = defineVerb({
  usage: "",
  flags,
  positions: [0, 0],
  async run({ flags: given, environment, output }) {
    const service = serviceFor(chosenState(given, environment).state, environment);
    await service.uninstall();
    output.json({ name: service.name, file: service.file });
    output.line(`${service.name} is removed`);
    return "ok";
  },
});

export const status = defineVerb({
  usage: "",
  flags,
  positions: [0, 0],
  async run({ flags: given, environment, output }) {
    const facts = await serviceFor(chosenState(given, environment).state, environment).facts();
    output.json(facts);
    output.line(`${facts.name}: ${facts.installed ? facts.state : "not installed"}`);
    output.line(facts.pid === null ? facts.file : `process ${facts.pid}, ${facts.file}`);
    return facts.running ? "ok" : facts.installed ? "unavailable" : "conflict";
  },
});

export const restart = defineVerb({
  usage: "",
  flags,
  positions: [0, 0],
  async run({ flags: given, environment, output }) {
    const service = installed(serviceFor(chosenState(given, environment).state, environment));
    await service.restart();
    output.json({ name: service.name });
    output.line(`${service.name} is restarted`);
    return "ok";
  },
});

export const logs = defineVerb({
  usage: "[--follow] [--lines N]",
  flags: {
    ...stateFlags,
    follow: { kind: "switch", meaning: "goes on with what is said from now on" },
    lines: { kind: "text", value: "N", meaning: "how many of the last lines (default 200)" },
  },
  positions: [0, 0],
  async run({ flags: given, environment }) {
    const lines = whole("lines", given.lines, 0, 1_000_000) ?? 200;
    const service = installed(serviceFor(chosenState(given, environment).state, environment));
    const command = service.logs(lines, given.follow);
    const [program = ""] = command;
    if (Bun.which(program, { PATH: environment.variables.PATH ?? "" }) === null)
      throw new Failure("unavailable", `there is no ${program} on this machine`, "no_service_manager");
    const child = Bun.spawn([...command], {
      env: { ...environment.variables },
      stdio: ["ignore", "inherit", "inherit"],
    });
    // Ctrl-C ends the reader, which is what it was pressed for.
    const interrupted = environment.interruption();
    interrupted.addEventListener("abort", () => child.kill());
    const code = await child.exited;
    return code === 0 || interrupted.aborted ? "ok" : "unavailable";
  },
});

function installed(service: HostService): HostService {
  if (service.isInstalled()) return service;
  throw new Failure("conflict", `${service.name} is not installed; svc edge service install does`, "not_installed");
}
