/** `spec.storage`: the volumes a run begins with. */

import type { Static } from "@sinclair/typebox";
import type { Fields } from "../../manifest/fields.ts";
import type { Definition, Workspace } from "../definition.ts";
import { reservedKeys } from "../run/blackboard/reserved.ts";
import { readBlackboardKey } from "./blackboard-key.ts";
import { workspaceName } from "./states/volumes.ts";

const maxShared = 32;
const hour = 3600_000;
const Mi = 2 ** 20;
const Ti = 2 ** 40;

const uuid = { pattern: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, form: "a volume's id" };
const volumeName = {
  min: 1,
  max: 63,
  pattern: /^[A-Za-z0-9][A-Za-z0-9_-]*$/,
  form: "letters, digits, _ and -, beginning with a letter or digit",
};
const storageClasses = ["ephemeral", "persistent"] as const;

type Storage = Definition["storage"];

export function readStorage(spec: Fields, states: ReadonlySet<string>): Storage {
  const fields = spec.section("storage");
  const storage = { workspace: readWorkspace(fields, states), shared_volumes: readShared(fields, states) };
  fields.close();
  return storage;
}

function readWorkspace(storage: Fields, states: ReadonlySet<string>): Static<typeof Workspace> | null {
  const fields = storage.has("workspace") ? storage.requiredSection("workspace") : null;
  if (fields === null) return null;
  const workspace = {
    storage_class: fields.choice("storage_class", storageClasses) ?? "ephemeral",
    ttl_ms: (fields.integer("ttl_hours", { min: 1, max: 720 }) ?? 1) * hour,
    size_limit_bytes: (fields.integer("size_limit_mb", { min: 1, max: Ti / Mi }) ?? 256) * Mi,
    volume_id: fields.text("volume_id", uuid)?.toLowerCase() ?? null,
    blackboard_key: readBlackboardKey(fields, "blackboard_key", states) ?? "workspace_volume_id",
  };
  fields.close();
  return workspace;
}

function readShared(storage: Fields, states: ReadonlySet<string>): Storage["shared_volumes"] {
  const names = new Set<string>();
  return storage.sections("shared_volumes", maxShared).flatMap((fields) => {
    const name = fields.requiredText("name", volumeName);
    const rest = {
      storage_class: fields.choice("storage_class", storageClasses) ?? "ephemeral",
      size_limit_bytes: fields.integer("size_limit_bytes", { min: 1, max: Ti }),
    };
    fields.close();
    if (name === null) return [];
    if (name === workspaceName) fields.issue("name", "is the name of the workspace");
    if (names.has(name)) fields.issue("name", "is the name of another volume");
    const key = `${name}_volume_id`;
    if (states.has(key) || reservedKeys.has(key)) fields.issue("name", `its key ${key} is the name of a state`);
    names.add(name);
    return [{ name, ...rest }];
  });
}
