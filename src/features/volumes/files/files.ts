/** Files and directories as clients read them. */
import { type Static, Type } from "@sinclair/typebox";
import { Nullable } from "../../../../actors/kernel/schema.ts";
import { iso } from "../../../../actors/kernel/time.ts";
import { typeOfName } from "../media-types.ts";
import type { Entry } from "../places/port.ts";

export const FileEntry = Type.Object({
  name: Type.String(),
  path: Type.String(),
  type: Type.Union([Type.Literal("file"), Type.Literal("dir")]),
  is_dir: Type.Boolean(),
  size_bytes: Type.Integer(),
  modified_at: Type.String({ format: "date-time" }),
  mime_type: Nullable(Type.String()),
  /** Null for directories, and for files whose content has not been read since it changed. */
  sha256: Nullable(Type.String()),
});
export type FileEntry = Static<typeof FileEntry>;

/** An entry as clients read it. */
export function fileEntry({ name, path, directory, size, modifiedMs, content }: Entry): FileEntry {
  return {
    name,
    path,
    type: directory ? "dir" : "file",
    is_dir: directory,
    size_bytes: size,
    modified_at: iso(modifiedMs),
    mime_type: directory ? null : (content?.mime_type ?? typeOfName(name)),
    sha256: directory ? null : (content?.sha256 ?? null),
  };
}
