/** What commands are run in: image, environment, directory, network and resources. */
import { imageFault } from "../../../manifest/images/image.ts";
import {
  cpu,
  environmentName,
  Mi,
  maxTemplateCharacters,
  memory,
  noReference,
  normalPath,
  referenceFault,
} from "../../../manifest/members.ts";
import { object } from "../../../manifest/object.ts";
import { isReference } from "../../../manifest/references.ts";
import { choice, pairs } from "../../../manifest/shape.ts";
import { isWithin } from "../../../policy/filesystem/mounts.ts";
import { type Reading, template, timeout } from "../members.ts";
import { isLiteral } from "../templates.ts";

export const env = pairs(
  // As many values as one command may be given.
  256,
  { key: environmentName, value: { max: maxTemplateCharacters } },
  (name, source, { templates }: Reading, fields, path) => {
    if (name.startsWith("SVC_")) return ["names beginning with SVC_ are the service's", "reserved_env"];
    // A credential is an agent's to be granted, and no command's.
    if (source.startsWith("credential:")) return noReference(source);
    if (isReference(source)) return referenceFault(source);
    return templates.check(fields, path, source) ? null : false;
  },
);

/**
 * What templates make of it is checked when it is rendered.
 * @param places it must lie in; null: anywhere
 */
export const workdir = (places: readonly string[] | null) =>
  template.check((written) => (isLiteral(written) ? workdirFault(written, places) : null)).or("/workspace");

function workdirFault(written: string, places: readonly string[] | null): string | null {
  const path = written.startsWith("/") ? normalPath(written) : null;
  if (path === null) return "must be an absolute path without `..`";
  if (places === null || places.some((place) => isWithin(path, place))) return null;
  return `must be ${places.join(" or ")}, or below`;
}

export const image = template.check((image, { offer }: Reading) => {
  const fault = isLiteral(image) ? imageFault(image, offer.imageRegistries) : null;
  return fault === null ? null : [fault.message, fault.code];
});

export const networkMode = choice("none", "default", "bridge", "host")
  .check((mode) => (mode === "host" ? "no command shares the network of its host" : null))
  .as((mode, { offer }: Reading, fields, key): "none" | "default" => {
    if (mode !== "none" && !offer.openEgress) {
      fields.warn(key, "open_egress_forbidden", "This node opens no public hosts; the command reaches none");
    }
    return mode === "none" ? "none" : "default";
  });

/** `resources`, and the timeout that stands among them. */
const resources = (millicores: number, bytes: number) =>
  object({ cpu: cpu.or(millicores), memory: memory.or(bytes), timeout })
    .strict("the resources of a command")
    .build(({ cpu, memory, timeout }) => ({
      resources: { cpu_millicores: cpu, memory_bytes: memory },
      timeout_ms: timeout,
    }))
    .section();
export const systemResources = resources(500, 256 * Mi);
export const containerResources = resources(1000, 512 * Mi);
