/** `spec.context`: what is loaded when a run starts and put before the model. */
import { kibibytes, normalPath, webUrl } from "../../manifest/members.ts";
import { object, variants } from "../../manifest/object.ts";
import { choice, list, text } from "../../manifest/shape.ts";
import type { ContextItem } from "./spec.ts";

const description = text({ max: 4096 });

/** Relative paths are below `/workspace`, as they are for tools. */
const absolute = (written: string): string | null =>
  normalPath(written.startsWith("/") ? written : `/workspace/${written}`);

const path = text({ min: 1, max: 4096 })
  .check((written) => (absolute(written) === null ? "is not a path: no `..`, and at most 64 segments" : null))
  .as((written) => absolute(written) ?? written);

const inInstance = <const T extends "file" | "directory">(type: T) =>
  object({ description, path: path.required() }).build((read): ContextItem | null =>
    read.path === null ? null : { type, path: read.path, description: read.description },
  );

const item = variants(
  "type",
  { type: choice("text", "file", "directory", "url").required() },
  {
    text: object({ description, content: kibibytes(64).required() }).build((read): ContextItem | null =>
      read.content === null ? null : { type: "text", content: read.content, description: read.description },
    ),
    url: object({ description, url: webUrl.required() }).build((read): ContextItem | null =>
      read.url === null ? null : { type: "url", url: read.url, description: read.description },
    ),
    file: inInstance("file"),
    directory: inInstance("directory"),
  },
);

export const context = list(item.named("ContextItem"), 64).or([]);
