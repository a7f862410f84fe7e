/**
 * References to what a definition must not hold itself: `secret:<path>[#field]`,
 * `credential:<uuid>` and `credential:<provider>[/<label>]`; `secret://…` and `credential://…` are the same
 * (docs/reference/secrets.md). Recognised in the text of manifests and settings only, never in a rendered value.
 */

export interface SecretReference {
  readonly kind: "secret";
  readonly path: string;
  /** Null: the whole secret. */
  readonly field: string | null;
  /** The one way to write it, which names it in maps, audit entries and messages. */
  readonly text: string;
}

export interface CredentialReference {
  readonly kind: "credential";
  readonly by: { readonly id: string } | { readonly provider: string; readonly label: string | null };
  readonly text: string;
}

export type Reference = SecretReference | CredentialReference;

/** Characters of a path, and of one of its segments. */
const maxPathCharacters = 512;
const segment = /^[A-Za-z0-9._@-]{1,128}$/;
export const fieldName = /^[^\p{Cc}#]{1,256}$/u;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const provider = /^[a-z0-9][a-z0-9_.-]{0,63}$/;
const credentialLabel = /^[^\p{Cc}]{1,128}$/u;

/** What is wrong with the path of a secret, as the end of a sentence about it; null when nothing is. */
export function pathFault(path: string): string | null {
  if (path.length > maxPathCharacters) return `may have at most ${maxPathCharacters} characters`;
  const parts = path.split("/");
  if (parts.some((part) => part === "." || part === "..")) return "may not have the segments . and ..";
  if (parts.every((part) => segment.test(part))) return null;
  return "must be segments of 1 to 128 letters, digits, . _ @ and -, with / between them";
}

/** Whether a text is meant as a reference; whether it is a good one, `readReference` says. */
export const isReference = (text: string): boolean => text.startsWith("secret:") || text.startsWith("credential:");

/**
 * Reads a text that begins as a reference does.
 * @returns what is wrong with it, as the end of a sentence about it, for one that is malformed
 */
export function readReference(text: string): Reference | string {
  const kind = text.startsWith("secret:") ? "secret" : "credential";
  const rest = text.slice(kind.length + 1).replace(/^\/\//, "");
  return kind === "secret" ? secretReference(rest) : credentialReference(rest);
}

function secretReference(rest: string): SecretReference | string {
  const at = rest.indexOf("#");
  const path = at < 0 ? rest : rest.slice(0, at);
  const field = at < 0 ? null : rest.slice(at + 1);
  const fault = pathFault(path);
  if (fault !== null) return `is a reference whose path ${fault}`;
  if (field !== null && !fieldName.test(field)) return "is a reference whose field must be 1 to 256 plain characters";
  return { kind: "secret", path, field, text: `secret:${path}${field === null ? "" : `#${field}`}` };
}

function credentialReference(rest: string): CredentialReference | string {
  const id = rest.toLowerCase();
  if (uuid.test(id)) return { kind: "credential", by: { id }, text: `credential:${id}` };
  const at = rest.indexOf("/");
  const name = (at < 0 ? rest : rest.slice(0, at)).toLowerCase();
  const label = at < 0 ? null : rest.slice(at + 1);
  if (!provider.test(name)) return "is a reference that names neither a credential's id nor a provider";
  if (label !== null && !credentialLabel.test(label)) return "is a reference whose label must be 1 to 128 characters";
  const text = `credential:${name}${label === null ? "" : `/${label}`}`;
  return { kind: "credential", by: { provider: name, label }, text };
}

/** A reference and where it stands in its document. */
export interface PlacedReference {
  /** Dotted, as of issues. */
  readonly path: string;
  readonly reference: Reference;
}

/** The references among the values of a map of variables, such as an environment. @param at the map's own place */
export function referencesIn(variables: Readonly<Record<string, string>>, at: string): PlacedReference[] {
  return Object.entries(variables).flatMap(([name, value]): PlacedReference[] => {
    const read = isReference(value) ? readReference(value) : "";
    return typeof read === "string" ? [] : [{ path: `${at}.${name}`, reference: read }];
  });
}
