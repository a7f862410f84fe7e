/** Values that are kept elsewhere and only named in a manifest. There is no store of them to ask, so they are refused. */
import type { Fields } from "../../manifest/fields.ts";

const isReference = (text: string): boolean => text.startsWith("secret:") || text.startsWith("credential:");

export function refuseReference(fields: Fields, key: string, text: string | null): void {
  if (text !== null && isReference(text)) unsupported(fields, key);
}

export function refuseReferences(fields: Fields, key: string, pairs: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(pairs)) refuseReference(fields, `${key}.${name}`, text);
}

export function unsupported(fields: Fields, key: string): null {
  return fields.issue(key, "is not supported by this version of the service", "unsupported_field");
}
