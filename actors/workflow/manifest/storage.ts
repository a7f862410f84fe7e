/** `spec.storage`: the volumes a run begins with. */
import { volumeId } from "../../agent/manifest/runtime/volumes.ts";
import { hour, Mi, Ti } from "../../manifest/members.ts";
import { object } from "../../manifest/object.ts";
import { choice, integer, list, text } from "../../manifest/shape.ts";
import type { Definition } from "../definition.ts";
import { reservedKeys } from "../run/blackboard/variables.ts";
import { blackboardKey, type Reading } from "./members.ts";

/** As states name the workspace. */
export const workspaceName = "workspace";

const storage_class = choice("ephemeral", "persistent").or("ephemeral");

const workspace = object({
  storage_class,
  ttl_hours: integer(1, 720).or(1),
  size_limit_mb: integer(1, Ti / Mi).or(256),
  volume_id: volumeId,
  blackboard_key: blackboardKey.or("workspace_volume_id"),
}).build(({ ttl_hours, size_limit_mb, ...read }) => ({
  ...read,
  ttl_ms: ttl_hours * hour,
  size_limit_bytes: size_limit_mb * Mi,
}));

const sharedVolume = object({
  name: text({
    min: 1,
    max: 63,
    pattern: /^[A-Za-z0-9][A-Za-z0-9_-]*$/,
    form: "letters, digits, _ and -, beginning with a letter or digit",
  }).required(),
  storage_class,
  size_limit_bytes: integer(1, Ti),
}).build(({ name, ...read }, fields, { names, shared }: Reading) => {
  if (name === null) return null;
  if (name === workspaceName) fields.issue("name", "is the name of the workspace");
  if (shared.has(name)) fields.issue("name", "is the name of another volume");
  const key = `${name}_volume_id`;
  if (names.has(key) || reservedKeys.has(key)) fields.issue("name", `its key ${key} is the name of a state`);
  shared.add(name);
  return { name, ...read };
});

export const storage = object({ workspace, shared_volumes: list(sharedVolume, 32).or([]) }).build(
  ({ workspace, shared_volumes }): Definition["storage"] => ({ workspace, shared_volumes: [...shared_volumes] }),
);
