/** How an instance looks from within, the same in every kind of sandbox that has its own file system and network. */
import { egressPort } from "../../programs/bootstrap/relay.ts";
import { startupFailure as failureIn } from "../../programs/startup.ts";
import type { InstanceEgress, InstanceExit } from "./instance.ts";

/** Paths inside. All but the workspace are read-only. */
export const instancePaths = {
  workspace: "/workspace",
  programs: "/run/svc",
  /** Unix sockets of the nodes' gateways. */
  gateway: "/run/svc/gateway",
  /** Unix sockets of the nodes' egress proxies; only where the instance may reach more than the gateway. */
  egress: "/run/svc/egress",
  prompt: "/run/svc/prompt",
  startup: "/run/svc/startup",
  /** The program that runs commands beside the agent's, where there are no containers. */
  hand: "/run/svc/hand.js",
  /** The sockets of a command whose streams belong to the node. */
  streams: "/run/svc/streams",
} as const;

/** `/tmp` of an instance whose root file system is read-only, bytes of memory. */
export const readOnlyTemporaryBytes = 64 * 1_024 * 1_024;

/** Kernel's bound on one argument or variable, its final NUL included. */
export const longestString = 131_072;

/** True when a text can be handed over as an argument (at most 96 KiB). */
export function fitsArgument(prompt: string): boolean {
  return Buffer.byteLength(prompt) <= 96 * 1_024 && !prompt.includes("\0") && prompt !== "";
}

/** What only the sandbox knows of an instance. */
export interface SandboxFacts {
  readonly workspace: string;
  readonly gatewaySockets: string;
  /** Null where the egress proxy cannot be reached. */
  readonly egressSockets: string | null;
  /** Where the prompt's file is; null when the prompt is an argument. */
  readonly promptFile: string | null;
  /** Where the startup script's file is; null when there is none. */
  readonly startupFile: string | null;
  /** True inside an own network namespace. */
  readonly relay: boolean;
  /** Of `spec.egress`. */
  readonly egress: InstanceEgress | null;
}

/**
 * The given variables and the few that only the sandbox knows; ours win. Names that are no names are left out, and
 * so are values longer than the kernel takes.
 * @param defaults for what is given nowhere else, such as PATH
 * @returns the environment, and the names left out
 */
export function sandboxEnvironment(
  given: Readonly<Record<string, string>>,
  places: SandboxFacts,
  defaults: Readonly<Record<string, string>>,
): { readonly environment: Record<string, string>; readonly leftOut: readonly string[] } {
  const ours: Record<string, string> = {
    SVC_WORKSPACE: places.workspace,
    SVC_GATEWAY_SOCKETS: places.gatewaySockets,
    ...(places.relay ? { SVC_GATEWAY_RELAY: "true" } : {}),
    ...(places.egressSockets === null ? {} : { SVC_EGRESS_SOCKETS: places.egressSockets }),
    ...(places.promptFile === null ? {} : { SVC_PROMPT_FILE: places.promptFile }),
    ...(places.startupFile === null ? {} : { SVC_STARTUP_FILE: places.startupFile }),
  };
  const spelledTwice = Object.entries(ours).flatMap(([name, value]) => [
    [name, value] as const,
    [name.replace("SVC_", "AEGIS_"), value] as const,
  ]);
  const wanted = {
    ...defaults,
    HOME: places.workspace,
    ...given,
    ...Object.fromEntries(spelledTwice),
    ...(places.egress === null ? {} : proxyEnvironment(places.egress)),
  };
  const environment: Record<string, string> = {};
  const leftOut: string[] = [];
  for (const [name, value] of Object.entries(wanted)) {
    const usable =
      /^[^=\0]+$/.test(name) && !value.includes("\0") && Buffer.byteLength(`${name}=${value}`) < longestString;
    if (usable) environment[name] = value;
    else leftOut.push(name);
  }
  return { environment, leftOut };
}

/** What makes programs use the egress proxy, in both cases of the letters. */
export function proxyEnvironment({ username, password }: InstanceEgress): Record<string, string> {
  const proxy = `http://${encodeURIComponent(username)}:${encodeURIComponent(password)}@127.0.0.1:${egressPort}`;
  const variables = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, NO_PROXY: "127.0.0.1,localhost" };
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) => [
      [name, value],
      [name.toLowerCase(), value],
    ]),
  );
}

/** One sentence with the end of what a failed startup script wrote to its standard error; null when no script failed. */
export function startupFailure({ exitCode, stderr }: Pick<InstanceExit, "exitCode" | "stderr">): string | null {
  return failureIn(exitCode, stderr);
}
