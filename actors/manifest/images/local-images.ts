/**
 * Images that are run as a host has them, without asking a registry (pull policy `Never`): what is there came by other
 * hands, so only what the operator lists is for manifests to name.
 */
import { qualified, repositoryOf } from "./image.ts";

/** In a list of local images: every one. */
const anyImage = "*";

/**
 * What is wrong with running an image unasked; null when nothing is.
 * @param image a valid reference
 * @param listed the operator's; null: every image
 */
export function localImageFault(
  image: string,
  pullPolicy: "Always" | "IfNotPresent" | "Never",
  listed: readonly string[] | null,
): { readonly code: "image_not_allowed"; readonly message: string } | null {
  if (pullPolicy !== "Never" || listed === null || listed.some((one) => lists(one, image))) return null;
  return { code: "image_not_allowed", message: "may be Never for images only that the node lists as local" };
}

/** An entry without tag and digest lists all of its repository, `name/*` all that begin with the name. */
function lists(entry: string, image: string): boolean {
  if (entry === anyImage) return true;
  // Engines take such a name for the beginning of an image's id as well.
  if (/^[0-9a-f]+$/.test(image)) return false;
  const name = qualified(image);
  if (entry.endsWith("/*")) return name.startsWith(qualified(`${entry.slice(0, -1)}x/x`).replace(/x\/x:latest$/, ""));
  const isWhole = !/[:@]/.test(entry.slice(entry.lastIndexOf("/") + 1));
  return isWhole ? repositoryOf(name) === repositoryOf(qualified(entry)) : name === qualified(entry);
}
