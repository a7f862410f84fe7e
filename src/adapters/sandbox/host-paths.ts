/**
 * Directories of the host that operators open to agents, judged at the moment at which one is mounted: a link may have
 * come into the path since the manifest was deployed, and the node may be set up otherwise.
 */
import { lstatSync, realpathSync, type Stats } from "node:fs";
import { dirname, parse } from "node:path";
import { agentUser } from "../../lib/files/agent-files.ts";
import { LaunchFailure } from "./instance.ts";
import { isWithin } from "./process/bubblewrap/host-program.ts";

export interface HostPathRules {
  /** SVC_HOST_PATHS */
  readonly allowed: readonly string[];
  /** The service's own directories; absolute. */
  readonly own: readonly string[];
}

/**
 * Where a directory really lies, links resolved.
 * @param path absolute @param target where it is to be seen, for messages: the host's paths are nothing for tenants
 * @throws LaunchFailure `volume_error` for what is no directory, lies outside of the allowed ones, or holds or is part of
 *   the service's own, and where an agent could put a link in its way
 */
export function hostDirectory(path: string, target: string, { allowed, own }: HostPathRules): string {
  const refused = (reason: string) =>
    new LaunchFailure("volume_error", `The host's directory for ${target} cannot be mounted: ${reason}`);
  const real = realOf(path);
  if (real === null || !lstatSync(real).isDirectory()) throw refused("there is no such directory");
  if (!allowed.some((each) => isWithin(real, realOf(each) ?? each))) throw refused("it is none that this node opens");
  for (const each of own.map((one) => realOf(one) ?? one)) {
    if (isWithin(real, each) || isWithin(each, real)) throw refused("it is the service's own");
  }
  if (!standsFirm(real)) throw refused("agents could replace it");
  return real;
}

function realOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

/** Whether no agent can rename the directory, or one above it, and put a link in its place. */
function standsFirm(path: string): boolean {
  if (path === parse(path).root) return true;
  const above = dirname(path);
  const holder = lstatSync(above);
  const isTheirs = (holder.mode & 0o1000) === 0 || lstatSync(path).uid === agentUser;
  return !(isWritableToAgents(holder) && isTheirs) && standsFirm(above);
}

function isWritableToAgents({ uid, gid, mode }: Stats): boolean {
  if (uid === agentUser) return true;
  return (gid === agentUser && (mode & 0o020) !== 0) || (mode & 0o002) !== 0;
}
