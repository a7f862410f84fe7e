/** What commands are run in: image, environment, directory, network and resources (workflow contract, section 3). */

import type { Fields } from "../../../manifest/fields.ts";
import { imageFault } from "../../../manifest/image.ts";
import { normalPath } from "../../../manifest/members.ts";
import { readBytes, readMillicores } from "../../../manifest/quantities.ts";
import { maxTemplateCharacters } from "../../../manifest/template-field.ts";
import { isWithin } from "../../../policy/filesystem/mounts.ts";
import type { Resources } from "../../definition.ts";
import { readTimeout } from "../quantities.ts";
import type { Reading } from "../reading.ts";
import { refuseReferences } from "../secrets.ts";
import { isLiteral } from "../templates.ts";

const Mi = 2 ** 20;
const Gi = 2 ** 30;
/** As many values as one command may be given. */
const maxVariables = 256;
const variable = {
  key: {
    min: 1,
    max: 256,
    pattern: /^[A-Za-z_][A-Za-z0-9_]*$/,
    form: "letters, digits and _, not beginning with a digit",
  },
  value: { max: maxTemplateCharacters },
};

export function readEnv(fields: Fields, { templates }: Reading): Record<string, string> {
  const env = fields.pairs("env", maxVariables, variable, (name, source, path) => {
    const isFree = !name.startsWith("SVC_");
    if (!isFree) fields.issue(path, "names beginning with SVC_ are the service's", "reserved_env");
    return isFree && templates.check(fields, path, source);
  });
  refuseReferences(fields, "env", env);
  return env;
}

/** What templates make of it is checked when it is rendered. */
export function readWorkdir(fields: Fields, { templates }: Reading, places: readonly string[] | null): string {
  const written = templates.optional(fields, "workdir");
  if (written === null) return "/workspace";
  const fault = isLiteral(written) ? workdirFault(written, places) : null;
  return fault === null ? written : (fields.issue("workdir", fault) ?? "/workspace");
}

function workdirFault(written: string, places: readonly string[] | null): string | null {
  const path = written.startsWith("/") ? normalPath(written) : null;
  if (path === null) return "must be an absolute path without `..`";
  if (places === null || places.some((place) => isWithin(path, place))) return null;
  return `must be ${places.join(" or ")}, or below`;
}

/** @returns null when absent, and after an issue */
export function readImage(fields: Fields, { templates, offer }: Reading): string | null {
  const image = templates.optional(fields, "image");
  const fault = image !== null && isLiteral(image) ? imageFault(image, offer.imageRegistries) : null;
  return fault === null ? image : fields.issue("image", fault.message, fault.code);
}

export function readNetworkMode(fields: Fields, { offer }: Reading, absent: "none" | "default"): "none" | "default" {
  const mode = fields.choice("network_mode", ["none", "default", "bridge", "host"]);
  if (mode === "host") fields.issue("network_mode", "no command shares the network of its host");
  if (mode === null || mode === "host") return absent;
  if (mode !== "none" && !offer.openEgress) {
    fields.warn("network_mode", "open_egress_forbidden", "This node opens no public hosts; the command reaches none");
  }
  return mode === "none" ? "none" : "default";
}

export const systemResources = { cpu_millicores: 500, memory_bytes: 256 * Mi };
export const containerResources = { cpu_millicores: 1000, memory_bytes: 512 * Mi };

type Amounts = { readonly cpu_millicores: number; readonly memory_bytes: number };

/** `resources`, and the timeout that stands among them; null: none. */
export function readResources(
  state: Fields,
  usual: Amounts,
): { readonly resources: typeof Resources.static; readonly timeout_ms: number | null } {
  const fields = state.section("resources");
  const cpu = { min: 50, max: 64_000 };
  const memory = { min: 16 * Mi, max: 256 * Gi };
  const read = {
    resources: {
      cpu_millicores:
        fields.measure("cpu", readMillicores, "processor share", { ...cpu, said: "50 to 64000 millicores" }) ??
        usual.cpu_millicores,
      memory_bytes:
        fields.measure("memory", readBytes, "quantity", { ...memory, said: "16Mi to 256Gi" }) ?? usual.memory_bytes,
    },
    timeout_ms: readTimeout(fields, "timeout"),
  };
  fields.closeStrictly("the resources of a command");
  return read;
}
