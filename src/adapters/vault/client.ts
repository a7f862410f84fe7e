/** The calls that a vault's KV engine, version 2, is used by. */
import { readFileSync } from "node:fs";
import { isObject, type Json } from "../../../actors/kernel/json.ts";
import { repeatedly } from "../../lib/timers.ts";
import { type VaultAuth, VaultSession } from "./session.ts";
import { type VaultRequest, VaultUnavailable, vaultTransport } from "./transport.ts";

export interface VaultSettings {
  readonly address: string;
  /** Path of a PEM file; null: the system's authorities. */
  readonly caFile: string | null;
  /** Of the KV engine. */
  readonly mount: string;
  readonly auth: VaultAuth;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Told why the token could not be kept. */
  readonly report: (reason: string) => void;
}

/** Where something lies: a namespace of the server, and a path in the mount. */
export interface KvPlace {
  readonly namespace: string | null;
  /** Without a leading slash; of a folder with one at its end, "" for the mount itself. */
  readonly path: string;
}

export interface KvEntry {
  readonly data: Readonly<Record<string, Json>>;
  readonly version: number;
  readonly createdAt: Date;
}

export interface KvMetadata {
  /** Of the first version. */
  readonly createdAt: Date;
  readonly currentVersion: number;
  /** The current version was deleted or destroyed by others. */
  readonly isDeleted: boolean;
}

export type KvWritten =
  | { readonly outcome: "written"; readonly version: number; readonly createdAt: Date }
  /** The current version is another one. */
  | { readonly outcome: "conflict" }
  /** The mount takes writes with a version only. */
  | { readonly outcome: "cas_required" };

/** Every method throws VaultUnavailable where the server is away, sealed, or refuses the token. */
export interface Vault {
  /** The current version; null: there is none. */
  read(place: KvPlace): Promise<KvEntry | null>;
  metadata(place: KvPlace): Promise<KvMetadata | null>;
  /** @param cas the version that must be the current one, 0 for none; null: any */
  write(place: KvPlace, data: Readonly<Record<string, string>>, cas: number | null): Promise<KvWritten>;
  /** Every version and the metadata. Repeatable. */
  destroy(place: KvPlace): Promise<void>;
  /** Names in a folder; those of folders end with `/`. */
  list(place: KvPlace): Promise<readonly string[]>;
  /** Whether it answers and takes the token. */
  probe(): Promise<void>;
  /** Keeps the token alive. @returns a function that ends it */
  start(): () => Promise<void>;
}

/** How often the token is looked at, ms. */
const keepEveryMs = 5_000;

/** @throws Error when the CA file cannot be read */
export function openVault({ address, caFile, mount, auth, now, report }: VaultSettings): Vault {
  const send = vaultTransport(address, caFile === null ? null : readFileSync(caFile, "utf8"));
  const session = new VaultSession(send, auth, now);
  const encoded = (path: string) => path.split("/").map(encodeURIComponent).join("/");
  const under = (kind: "data" | "metadata", { path }: KvPlace) => `${encoded(mount)}/${kind}/${encoded(path)}`;

  /** Once more with another token where the server refuses this one. */
  async function ask(request: Omit<VaultRequest, "token">): Promise<{ readonly status: number; readonly body: Json }> {
    for (let isLast = false; ; isLast = true) {
      const token = await session.token();
      const { status, body } = await send({ ...request, token });
      if (status === 403 && !isLast && session.refused(token)) continue;
      const fault = faultOf(status);
      if (fault !== null) throw new VaultUnavailable(fault, status);
      return { status, body: body as Json };
    }
  }

  const dataOf = (body: Json): Readonly<Record<string, Json>> | null =>
    isObject(body) && isObject(body.data) ? (body.data as Readonly<Record<string, Json>>) : null;

  function unusable(what: string, status: number): VaultUnavailable {
    return new VaultUnavailable(`The vault answered ${what} with status ${status}`, status);
  }

  return {
    async read(place) {
      const { status, body } = await ask({ method: "GET", path: under("data", place), namespace: place.namespace });
      if (status === 404) return null;
      const found = dataOf(body);
      const metadata = found?.metadata;
      if (status !== 200 || !isObject(metadata)) throw unusable("a read", status);
      // Of a version deleted by others only the metadata is there.
      if (!isObject(found?.data)) return null;
      return {
        data: found.data as Readonly<Record<string, Json>>,
        version: Number(metadata.version),
        createdAt: new Date(String(metadata.created_time)),
      };
    },

    async metadata(place) {
      const { status, body } = await ask({ method: "GET", path: under("metadata", place), namespace: place.namespace });
      if (status === 404) return null;
      const found = dataOf(body);
      if (status !== 200 || found === null) throw unusable("a read of metadata", status);
      const currentVersion = Number(found.current_version ?? 0);
      const current = isObject(found.versions) ? found.versions[String(currentVersion)] : null;
      const isDeleted = !isObject(current) || current.destroyed === true || isPast(current.deletion_time, now());
      return { createdAt: new Date(String(found.created_time)), currentVersion, isDeleted };
    },

    async write(place, data, cas) {
      const { status, body } = await ask({
        method: "POST",
        path: under("data", place),
        namespace: place.namespace,
        body: { options: cas === null ? {} : { cas }, data },
      });
      if (status === 400) {
        const told = isObject(body) && Array.isArray(body.errors) ? body.errors.map(String).join(" ") : "";
        if (told.includes("parameter required")) return { outcome: "cas_required" };
        if (told.includes("check-and-set")) return { outcome: "conflict" };
      }
      const found = dataOf(body);
      if (status !== 200 || found === null) throw unusable("a write", status);
      const createdAt = new Date(String(found.created_time));
      return { outcome: "written", version: Number(found.version), createdAt };
    },

    async destroy(place) {
      const path = under("metadata", place);
      const { status } = await ask({ method: "DELETE", path, namespace: place.namespace });
      if (status !== 204 && status !== 200 && status !== 404) throw unusable("a deletion", status);
    },

    async list(place) {
      const path = `${under("metadata", place)}?list=true`;
      const { status, body } = await ask({ method: "GET", path, namespace: place.namespace });
      if (status === 404) return [];
      const keys = dataOf(body)?.keys;
      if (status !== 200 || !Array.isArray(keys)) throw unusable("a list", status);
      return keys.filter((key) => typeof key === "string");
    },

    async probe() {
      const { status } = await ask({ method: "GET", path: "auth/token/lookup-self", namespace: null });
      if (status !== 200) throw unusable("a look at the token", status);
    },

    start: () =>
      repeatedly(
        keepEveryMs,
        () => session.keep(),
        (error) => report(error instanceof VaultUnavailable ? error.message : String(error)),
      ),
  };
}

/** What an answer of this status says of the whole server; null: nothing. */
function faultOf(status: number): string | null {
  if (status === 403) return "The vault refuses the token";
  if (status === 503) return "The vault is sealed";
  // Standby nodes answer with the last three.
  if (status >= 500 || [429, 472, 473].includes(status)) return "The vault is not in service";
  return status >= 300 && status < 400 ? "The vault sends elsewhere" : null;
}

/** A time of KV: "" for none. */
const isPast = (time: Json | undefined, now: number): boolean =>
  typeof time === "string" && time !== "" && Date.parse(time) <= now;
