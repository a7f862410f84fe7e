/** Hosts as people name them: by id, or by a name that is one host's. */
import { Failure } from "../command/exit.ts";
import { uuidOf } from "../command/values.ts";
import type { Service } from "../service/client.ts";

export interface Host {
  readonly node_id: string;
  readonly name: string;
  readonly status: string;
  readonly connected: boolean;
  readonly accepting: boolean;
  readonly not_accepting: readonly string[];
  readonly tags: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly os?: string | null;
  readonly arch?: string | null;
  readonly agent_version: string | null;
  readonly running?: number;
  readonly slots?: number | null;
  readonly last_seen_at?: string | null;
}

/** @returns the ids, in the given order @throws Failure `conflict` for a name that no host or more than one has */
export async function hostIds(service: Service, names: readonly string[]): Promise<readonly string[]> {
  const isById = names.every((name) => uuidOf(name) !== null);
  const hosts = isById ? [] : await service.list<Host>("/v1/edge/hosts");
  return names.map((name) => {
    const id = uuidOf(name);
    if (id !== null) return id;
    const named = hosts.filter((host) => host.name === name);
    if (named.length > 1) {
      const ids = named.map(({ node_id }) => node_id).join(", ");
      throw new Failure(
        "conflict",
        `${named.length} hosts are named ${name}; say which by its id: ${ids}`,
        "ambiguous_name",
      );
    }
    const [host] = named;
    if (host === undefined) throw new Failure("conflict", `there is no host ${name}`, "host_not_found");
    return host.node_id;
  });
}

export async function hostId(service: Service, name: string): Promise<string> {
  const [id = ""] = await hostIds(service, [name]);
  return id;
}
