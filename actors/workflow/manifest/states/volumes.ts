/** What a state mounts in its sandbox. */
import { overlap, workspace } from "../../../agent/manifest/runtime/volumes.ts";
import { normalPath, plainPath } from "../../../manifest/members.ts";
import { object } from "../../../manifest/object.ts";
import { flag, list, text } from "../../../manifest/shape.ts";
import { isWithin } from "../../../policy/filesystem/mounts.ts";
import type { StateMount } from "../../definition/parts.ts";
import type { Reading } from "../members.ts";
import { workspaceName } from "../storage.ts";

/** Where the sandbox has its own. */
const taken = ["/proc", "/sys", "/dev", "/run"];

/** @param realm an agent's volumes lie at `/workspace` or below; containers take them anywhere */
export const mounts = (realm: "agent" | "container") =>
  list(
    object({
      name: text({ min: 1, max: 128 })
        .check((name, { shared }: Reading) =>
          name === workspaceName || shared.has(name) ? null : "is not declared in spec.storage.shared_volumes",
        )
        .required(),
      mount_path: text(plainPath)
        .check((written) => pathFault(normalPath(written), realm))
        .as((written) => normalPath(written) ?? written)
        .required(),
      read_only: flag(),
    })
      .strict("a mounted volume")
      .build(({ name, mount_path, read_only }): StateMount | null =>
        name === null || mount_path === null ? null : { name, mount_path, read_only },
      )
      .named(realm === "agent" ? "AgentMount" : "ContainerMount"),
    32,
    null,
    ({ mount_path }, before, fields, position) => {
      if (before.some((other) => overlap(mount_path, other.mount_path))) {
        fields.issue(`${position}.mount_path`, "overlaps another volume");
      }
    },
  ).as((list) => [...list]);

function pathFault(path: string | null, realm: "agent" | "container"): string | null {
  if (path === null) return "must be an absolute path without `..`";
  if (realm === "agent" && !isWithin(path, workspace)) return "must be /workspace or below";
  const isFree = path !== "/" && !taken.some((place) => isWithin(path, place));
  return isFree ? null : "is a place of the system";
}
