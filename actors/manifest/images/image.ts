/** Names of container images. */
import { choice } from "../shape.ts";

export const maxImageCharacters = 512;
export const pullPolicy = choice("Always", "IfNotPresent", "Never").or("IfNotPresent");

const part = "[a-z0-9]+(?:(?:\\.|_{1,2}|-+)[a-z0-9]+)*";
const host =
  "(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*(?::\\d{1,5})?";
const imageReference = new RegExp(
  `^(?:${host}/)?${part}(?:/${part})*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$`,
);

/** In a list of registries: every one that has a public name. */
const anyPublicRegistry = "*";

/**
 * What is wrong with a text as the name of an image; null when nothing is. A registry that is named by an address, or by
 * a name that only the host's own network knows, is reached only where the node lists it.
 * @param registries that images may come from; null: every one that has a public name
 */
export function imageFault(
  image: string,
  registries: readonly string[] | null,
): { readonly code: "invalid" | "image_not_allowed"; readonly message: string } | null {
  if (image.length > maxImageCharacters || !imageReference.test(image)) {
    return { code: "invalid", message: "is not a valid image reference" };
  }
  const registry = registryOf(image);
  if (isListed(registry, registries)) return null;
  if (registries !== null && !registries.includes(anyPublicRegistry)) {
    return { code: "image_not_allowed", message: "comes from a registry this node does not allow" };
  }
  if (hasPublicName(registry)) return null;
  return { code: "image_not_allowed", message: "names its registry by an address or a private name" };
}

/** Whether a list names this registry itself. @param registry of `registryOf` */
export function isListed(registry: string, registries: readonly string[] | null): boolean {
  return registries?.some((listed) => customary(listed) === registry) ?? false;
}

/**
 * `host` or `host:port` of the registry that an image comes from, in lower case: the first segment where it is written
 * like a host, else the customary default.
 */
export function registryOf(image: string): string {
  const [first = ""] = image.split("/", 1);
  // As engines read it: no repository has capitals.
  const isHost = image.includes("/") && (/[.:A-Z]/.test(first) || first === "localhost");
  return isHost ? customary(first) : "docker.io";
}

/** A reference with the registry and the tag that Docker takes for granted and Podman may not. */
export function qualified(reference: string): string {
  const registry = registryOf(reference);
  const names = reference.split("/");
  const isNamed = names.length > 1 && (registry !== "docker.io" || /[.:]/.test(names[0] ?? ""));
  const path = isNamed ? names.slice(1) : names;
  const full = [registry, ...(registry === "docker.io" && path.length === 1 ? ["library"] : []), ...path].join("/");
  const name = full.slice(full.lastIndexOf("/") + 1);
  return /[:@]/.test(name) ? full : `${full}:latest`;
}

/** A qualified reference without its tag and digest. */
export function repositoryOf(reference: string): string {
  const [name = ""] = reference.split("@", 1);
  const colon = name.lastIndexOf(":");
  return colon > name.lastIndexOf("/") ? name.slice(0, colon) : name;
}

function customary(registry: string): string {
  const name = registry.toLowerCase();
  return name === "index.docker.io" || name === "registry-1.docker.io" ? "docker.io" : name;
}

/** Ends of names that are never given out on the internet (RFC 6761, 6762, 8375 and ICANN's), or that networks use. */
const privateEnds = new Set(
  "alt arpa cluster corp example home internal intranet invalid lan local localdomain localhost mail onion private svc test".split(
    " ",
  ),
);

/** At least two labels, no IPv4 address in any of its spellings, and no end that is private. */
function hasPublicName(registry: string): boolean {
  const labels = registry.replace(/:\d+$/, "").split(".");
  const end = labels.at(-1) ?? "";
  return labels.length > 1 && !/^(?:\d+|0x[0-9a-f]*)$/.test(end) && !privateEnds.has(end);
}
