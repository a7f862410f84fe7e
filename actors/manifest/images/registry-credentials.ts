/**
 * What an image is pulled with, as manifests name it: the id of a stored credential, or a reference to a credential or a
 * secret (docs/reference/credentials.md).
 */
import { uuid } from "../members.ts";
import { isReference, type PlacedReference, type Reference, readReference } from "../references.ts";
import { text } from "../shape.ts";

export const registryCredentials = text({ min: 1, max: 1024 })
  .check((written) => {
    const read = readNamed(written);
    return typeof read === "string" ? read : null;
  })
  .as(storedForm);

/** An id is kept as an id, as it was before references could be written. */
function storedForm(written: string): string {
  const read = readNamed(written);
  if (typeof read === "string") return written;
  return read.kind === "credential" && "id" in read.by ? read.by.id : read.text;
}

function readNamed(written: string): Reference | string {
  if (uuid.pattern.test(written)) return readReference(`credential:${written}`);
  if (isReference(written)) return readReference(written);
  return "must be the id of a credential, or a reference such as secret:registries/ghcr or credential:ghcr";
}

/** @param named as a manifest was read; null: none @param path of what names the image */
export function placedRegistryCredentials(named: string | null, path: string): PlacedReference[] {
  const read = named === null ? "" : readNamed(named);
  return typeof read === "string" ? [] : [{ path: `${path}.registry_credentials`, reference: read }];
}
