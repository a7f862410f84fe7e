/**
 * Secrets in a vault of the operator's own. What it cannot keep is told in docs/reference/secrets.md: lists have names
 * alone, and nothing commits together with an audit entry, so that the entry comes first.
 */
import { invalidField, Problem } from "../../../../actors/kernel/problem.ts";
import { pathFault } from "../../../../actors/manifest/references.ts";
import { type KvEntry, type KvMetadata, type Vault, VaultUnavailable } from "../../../adapters/vault/port.ts";
import { versionConflict } from "../path.ts";
import type {
  SecretContent,
  SecretEntry,
  SecretPage,
  SecretStore,
  SecretWrite,
  WriteCondition,
  WrittenSecret,
} from "../store.ts";

/** Says that a value is one, and in which encoding. */
const encodingKey = "svc_encoding";
const retryAfterSeconds = "5";
/** A write without a version, where the mount wants one, meets others' writes at most so often. */
const maxRounds = 5;

export interface VaultSecretsOptions {
  readonly vault: Vault;
  /** A tenant's `vault_namespace`; null: the usual one. */
  readonly namespaceOf: (tenant: string) => Promise<string | null>;
  /** A tenant's is a namespace of the server rather than a folder of the mount. */
  readonly namespaces: boolean;
}

interface Place {
  readonly namespace: string | null;
  /** Before every path; ends with `/` or is empty. */
  readonly folder: string;
}

export function vaultSecrets({ vault, namespaceOf, namespaces }: VaultSecretsOptions): SecretStore {
  async function placeOf(tenant: string): Promise<Place> {
    const usual = `tenant-${tenant}`;
    const parts = ((await namespaceOf(tenant)) ?? usual).split("/").filter((part) => part !== "");
    // The mount itself is no tenant's.
    const own = parts.length === 0 || parts.some((part) => part === "." || part === "..") ? usual : parts.join("/");
    return namespaces ? { namespace: own, folder: "" } : { namespace: null, folder: `${own}/` };
  }

  const at = ({ namespace, folder }: Place, path: string) => ({ namespace, path: folder + path });

  /** In the order of their bytes: names of folders end with `/`. Those below a folder that lies before `after` are passed over. */
  async function* walk(place: Place, folder: string, after: string | null, all: boolean): AsyncGenerator<string> {
    const names = [...(await vault.list(at(place, folder)))].sort(byBytes);
    for (const name of names) {
      const path = folder + name;
      if (path.endsWith("/")) {
        const isBehind = after === null || path > after || after.startsWith(path);
        if (isBehind && (all || pathFault(path.slice(0, -1)) === null)) yield* walk(place, path, after, all);
      } else if ((after === null || path > after) && (all || pathFault(path) === null)) yield path;
    }
  }

  async function* withPrefix(place: Place, { prefix, after }: SecretPage): AsyncGenerator<string> {
    if (prefix === null) {
      yield* walk(place, "", after, false);
      return;
    }
    const cut = prefix.lastIndexOf("/") + 1;
    const beside = await vault.list(at(place, prefix.slice(0, cut)));
    if (beside.includes(prefix.slice(cut)) && (after === null || prefix > after)) yield prefix;
    if (beside.includes(`${prefix.slice(cut)}/`)) yield* walk(place, `${prefix}/`, after, false);
  }

  async function put(place: Place, path: string, { content, condition }: SecretWrite): Promise<WrittenSecret> {
    const data = content.form === "data" ? content.data : { value: content.value, [encodingKey]: content.form };
    const where = at(place, path);
    const before = await vault.metadata(where);
    let cas = casOf(condition, before);
    for (let round = 0; round < maxRounds; round += 1) {
      const written = await vault.write(where, { ...data }, cas);
      if (written.outcome === "written") return shownWrite(written, before);
      if (written.outcome === "conflict" && condition !== null) throw versionConflict();
      // The mount takes no write without a version; others may write in between.
      cas = (await vault.metadata(where))?.currentVersion ?? 0;
    }
    throw new VaultUnavailable("Others write this secret all the time");
  }

  return {
    list: (tenant, page) =>
      available(async () => {
        const found: SecretEntry[] = [];
        let skipped = 0;
        for await (const path of withPrefix(await placeOf(tenant), page)) {
          if (skipped++ < page.offset) continue;
          found.push({ path, updatedAt: null, sizeBytes: null, version: null });
          if (found.length >= page.limit) break;
        }
        return found;
      }),

    read: (tenant, path) =>
      available(async () => {
        const where = at(await placeOf(tenant), path);
        const [entry, metadata] = await Promise.all([vault.read(where), vault.metadata(where)]);
        if (entry === null) return null;
        const { version, createdAt: updatedAt } = entry;
        return { path, content: contentOf(entry), version, createdAt: metadata?.createdAt ?? updatedAt, updatedAt };
      }),

    async write(tenant, path, write, record) {
      if (write.content.form === "data" && Object.hasOwn(write.content.data, encodingKey)) {
        throw invalidField(`data.${encodingKey}`, "is a name that the store keeps for itself");
      }
      return available(async () => {
        const place = await placeOf(tenant);
        await record.outside({});
        try {
          return await put(place, path, write);
        } catch (error) {
          await record.outside({}, "failed");
          throw error;
        }
      });
    },

    remove: (tenant, path, record) =>
      available(async () => {
        const where = at(await placeOf(tenant), path);
        const known = await vault.metadata(where);
        if (known === null) return false;
        await record.outside({});
        try {
          await vault.destroy(where);
        } catch (error) {
          await record.outside({}, "failed");
          throw error;
        }
        return !known.isDeleted;
      }),

    erase: (tenant) =>
      available(async () => {
        const place = await placeOf(tenant);
        const paths: string[] = [];
        for await (const path of walk(place, "", null, true)) paths.push(path);
        for (const path of paths) await vault.destroy(at(place, path));
      }),

    probe: () => vault.probe(),
  };
}

/** A version that others deleted is there for KV, and for no reader. @throws Problem 412 `version_conflict` */
function casOf(condition: WriteCondition, before: KvMetadata | null): number | null {
  const isGone = before?.isDeleted === true;
  if (condition === "new") return isGone ? before.currentVersion : 0;
  if (condition !== null && isGone) throw versionConflict();
  return condition;
}

function shownWrite(
  { version, createdAt: updatedAt }: { readonly version: number; readonly createdAt: Date },
  before: KvMetadata | null,
): WrittenSecret {
  return { version, createdAt: before === null || before.isDeleted ? updatedAt : before.createdAt, updatedAt };
}

const byBytes = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other));

/** What others wrote there is served as far as it fits: values that are no strings as JSON. */
function contentOf({ data }: KvEntry): SecretContent {
  const { value, [encodingKey]: form } = data;
  if (typeof value === "string" && (form === "plaintext" || form === "base64")) return { form, value };
  const texts = Object.entries(data).map(([name, one]) => [name, typeof one === "string" ? one : JSON.stringify(one)]);
  return { form: "data", data: Object.fromEntries(texts) };
}

/** @throws Problem 503 `secrets_unavailable` */
async function available<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof VaultUnavailable)) throw error;
    const headers = { "Retry-After": retryAfterSeconds };
    throw new Problem("secrets_unavailable", "The store of secrets cannot be reached now", {}, headers);
  }
}
