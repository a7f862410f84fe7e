/** Names of container images. */
import { choice } from "./shape.ts";

export const maxImageCharacters = 512;
export const pullPolicy = choice("Always", "IfNotPresent", "Never").or("IfNotPresent");

const part = "[a-z0-9]+(?:(?:\\.|_{1,2}|-+)[a-z0-9]+)*";
const host =
  "(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*(?::\\d{1,5})?";
const imageReference = new RegExp(
  `^(?:${host}/)?${part}(?:/${part})*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$`,
);

/**
 * What is wrong with a text as the name of an image; null when nothing is.
 * @param registries that images may come from; null: any
 */
export function imageFault(
  image: string,
  registries: readonly string[] | null,
): { readonly code: "invalid" | "image_not_allowed"; readonly message: string } | null {
  if (image.length > maxImageCharacters || !imageReference.test(image)) {
    return { code: "invalid", message: "is not a valid image reference" };
  }
  if (registries === null || registries.includes(registryOf(image))) return null;
  return { code: "image_not_allowed", message: "comes from a registry this node does not allow" };
}

/** The first segment when it is written like a host, else the customary default. */
function registryOf(image: string): string {
  const [first = ""] = image.split("/", 1);
  if (!image.includes("/")) return "docker.io";
  return /[.:]/.test(first) || first === "localhost" ? first : "docker.io";
}
