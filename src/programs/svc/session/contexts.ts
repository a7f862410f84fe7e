/** Named contexts: which service, and in which tenant. `config.yaml` holds them; no secret stands in it. */
import { join } from "node:path";
import { Failure, usageFailure } from "../process/exit.ts";
import type { Io } from "../process/io.ts";
import { configDirectory, readText, replaceText } from "./files.ts";

export interface NamedContext {
  readonly url: string;
  /** Null: the caller's own. */
  readonly tenant: string | null;
  /** The service may be called over plain http though it is on another machine. */
  readonly allowPlaintext: boolean;
}

export interface Contexts {
  /** Null: none is chosen. */
  readonly current: string | null;
  readonly contexts: Readonly<Record<string, NamedContext>>;
}

const contextsFile = (io: Pick<Io, "env">): string => join(configDirectory(io), "config.yaml");

/** @throws Failure `failed` for a file that is none of ours */
export async function readContexts(io: Io): Promise<Contexts> {
  const path = contextsFile(io);
  const text = await readText(path);
  if (text === null) return { current: null, contexts: {} };
  const { parse } = await import("yaml");
  let read: unknown;
  try {
    read = parse(text) ?? {};
  } catch {
    throw new Failure("failed", `${path} is no YAML`);
  }
  const { current, contexts } = membersOf(read);
  const named = Object.entries(membersOf(contexts)).map(([name, value]) => {
    const { url, tenant, allow_plaintext } = membersOf(value);
    if (typeof url !== "string") throw new Failure("failed", `${path}: the context ${name} has no url`);
    const chosen: NamedContext = {
      url,
      tenant: typeof tenant === "string" ? tenant : null,
      allowPlaintext: allow_plaintext === true,
    };
    return [name, chosen] as const;
  });
  return { current: typeof current === "string" ? current : null, contexts: Object.fromEntries(named) };
}

const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};

export async function writeContexts(io: Io, { current, contexts }: Contexts): Promise<void> {
  const { stringify } = await import("yaml");
  const named = Object.entries(contexts).map(([name, { url, tenant, allowPlaintext }]) => [
    name,
    { url, ...(tenant === null ? {} : { tenant }), ...(allowPlaintext ? { allow_plaintext: true } : {}) },
  ]);
  const file = { ...(current === null ? {} : { current }), contexts: Object.fromEntries(named) };
  await replaceText(io, contextsFile(io), stringify(file));
}

/** Whether some context allows plain http to the origin of that address: the permission holds for no other one. */
export function mayBePlain({ contexts }: Contexts, address: string): boolean {
  const origin = URL.parse(address)?.origin;
  return Object.values(contexts).some(({ url, allowPlaintext }) => allowPlaintext && URL.parse(url)?.origin === origin);
}

/** @throws Failure `usage` for a name that could not be typed again */
export function checkedName(name: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._@:-]{0,99}$/.test(name))
    throw usageFailure(`The name of a context is letters, digits and . _ @ : -, not ${name}`);
  return name;
}
