/** `enroll`: makes this machine a host of the service that a token names. */
import { existsSync } from "node:fs";
import { type Profile, profiles, writeProfile } from "../../../edge-daemon/config/profiles.ts";
import { prepare, type StateDirectory } from "../../../edge-daemon/state/directory.ts";
import { type HostIdentity, readIdentity } from "../../../edge-daemon/state/identity.ts";
import { isLocked, takeLock } from "../../../edge-daemon/state/lock.ts";
import { serviceAddress } from "../../session/address.ts";
import { confirm, type Environment } from "../command/environment.ts";
import { Failure, usageFailure } from "../command/exit.ts";
import type { Output } from "../command/output.ts";
import { type Chosen, chosenState, stateFlags } from "../command/state-flags.ts";
import { defineVerb, jsonFlag } from "../command/verb.ts";
import { serviceFor } from "../unit/service.ts";
import { installService } from "../unit/verbs.ts";
import { programVersion } from "../version.ts";
import { enrollHost } from "./enrolling.ts";
import { readToken } from "./token.ts";

export const verb = defineVerb({
  usage: "<token | -> [--name NAME] [--profile PROFILE]",
  flags: {
    ...jsonFlag,
    ...stateFlags,
    name: { kind: "text", value: "NAME", meaning: "of the host, where the token gives none" },
    profile: { kind: "text", value: "PROFILE", meaning: "what the host allows: standard (the default), full, locked" },
    minimal: { kind: "switch", meaning: "the same as --profile locked" },
    force: { kind: "switch", meaning: "archives the identity that this machine has, and enrolls it anew" },
    "keep-existing": { kind: "switch", meaning: "does nothing where this machine is enrolled already" },
    "dry-run": { kind: "switch", meaning: "tells what would be done" },
    "non-interactive": { kind: "switch", meaning: "asks nothing" },
    "no-service": { kind: "switch", meaning: "does not install the service that starts the daemon" },
    "allow-plaintext": { kind: "switch", meaning: "goes to the service over plain http and ws" },
  },
  positions: [0, 1],
  async run({ flags, environment, output, positions }) {
    const terminal = flags["non-interactive"] ? { ...environment, isInteractive: () => false } : environment;
    if (flags.force && flags["keep-existing"]) throw usageFailure("--force and --keep-existing contradict each other");
    const profile = profileOf(flags.profile, flags.minimal);
    const chosen = chosenState(flags, environment);
    const existing = readIdentity(chosen.state);
    if (existing !== null && flags["keep-existing"]) {
      output.json({ node_id: existing.node_id, name: existing.name, kept: true });
      output.line(`this machine stays the host ${existing.name} (${existing.node_id})`);
      return "ok";
    }
    if (!flags.force) requireFree(existing, chosen, profile);
    const token = readToken(await tokenText(positions[0], terminal));
    const url = serviceAddress(token.claims.url, "the token's service", flags["allow-plaintext"], usageFailure);
    const hasConfig = existsSync(configPath(chosen));
    const plan = {
      service: url,
      tenant: token.claims.tid,
      name: token.claims.name ?? flags.name,
      state_dir: chosen.state.path,
      profile: profile ?? (hasConfig ? null : "standard"),
      service_unit: flags["no-service"] ? null : serviceFor(chosen.state, environment).file,
    };
    if (flags["dry-run"]) {
      output.json({ dry_run: true, ...plan });
      for (const [what, value] of Object.entries(plan)) output.line(`${what}: ${value ?? "–"}`);
      return "ok";
    }
    const allows = plan.profile === null ? "its configuration allows" : `the profile ${plan.profile} allows`;
    const question = `Make this machine a host of ${plan.tenant} at ${url}, which may run here what ${allows}?`;
    if (!(await confirm(terminal, question))) throw new Failure("failed", "nothing was enrolled", "declined");
    prepare(chosen.state);
    if (existing !== null) await stopDaemon(chosen.state, environment);
    const enrolled = await locked(chosen.state, () =>
      enrollHost({
        ...{ state: chosen.state, token, url, name: flags.name, version: programVersion },
        allowPlaintext: flags["allow-plaintext"],
        // A configuration that the owner has is the owner's word; only --force with a profile replaces it.
        prepared: () =>
          void writeProfile(chosen.state, profile ?? "standard", profile !== null && flags.force, configPath(chosen)),
      }),
    );
    const { node_id, name, tags, key_fingerprint } = enrolled;
    const service = flags["no-service"] ? null : await startService(chosen, environment, output);
    output.json({ node_id, name, tenant_id: plan.tenant, tags, key_fingerprint, state_dir: plan.state_dir, service });
    output.line(`this machine is the host ${name} (${node_id}) of ${plan.tenant}`);
    if (service === null) output.line("svc edge daemon connects it; svc edge service install does so from now on");
    return "ok";
  },
});

const configPath = ({ state, config }: Chosen): string => config ?? state.config;

/** @throws Failure `conflict` where something would be replaced */
function requireFree(existing: HostIdentity | null, chosen: Chosen, profile: Profile | null): void {
  if (existing !== null) {
    const { name, node_id } = existing;
    const message = `this machine is the host ${name} (${node_id}) already: --force enrolls it anew`;
    throw new Failure("conflict", message, "already_enrolled");
  }
  if (profile !== null && existsSync(configPath(chosen)))
    throw new Failure("conflict", `${configPath(chosen)} is there already: --force replaces it`, "config_exists");
}

async function locked<T>(state: StateDirectory, work: () => Promise<T>): Promise<T> {
  const release = takeLock(state);
  try {
    return await work();
  } finally {
    release();
  }
}

function profileOf(text: string | null, minimal: boolean): Profile | null {
  if (text === null) return minimal ? "locked" : null;
  const profile = profiles.find((one) => one === text);
  if (profile === undefined) throw usageFailure(`--profile is ${profiles.join(", ")}, not ${text}`);
  if (minimal && profile !== "locked") throw usageFailure(`--minimal and --profile ${text} contradict each other`);
  return profile;
}

/** The words of a command line can be seen by other users: `-` reads the token from standard input. */
async function tokenText(word: string | undefined, environment: Environment): Promise<string> {
  if (word === "-") return environment.readInput();
  if (word !== undefined) return word;
  if (environment.isInteractive()) return (await environment.ask("Enrollment token: ")) ?? "";
  throw usageFailure("usage: svc edge enroll <token>");
}

/** A daemon of the former identity would go on with it. @throws Failure `conflict` where it runs on */
async function stopDaemon(state: StateDirectory, environment: Environment): Promise<void> {
  if (!isLocked(state)) return;
  const service = serviceFor(state, environment);
  if (service.isInstalled()) await service.stop();
  if (isLocked(state)) throw new Failure("conflict", `the daemon of ${state.path} runs: stop it first`, "daemon_runs");
}

/** Its failure does not undo what is enrolled. @returns the unit's file; null where it is not there */
async function startService(chosen: Chosen, environment: Environment, output: Output): Promise<string | null> {
  try {
    const { service, notes } = await installService(chosen, environment, "replace");
    for (const note of notes) output.note(note);
    return service.file;
  } catch (error) {
    output.note(`the service is not installed: ${error instanceof Error ? error.message : error}`);
    return null;
  }
}
