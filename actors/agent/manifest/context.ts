/** `spec.context`: what is loaded when a run starts and put before the model. */
import type { Fields } from "../../manifest/fields.ts";
import { normalPath } from "../../manifest/paths.ts";
import { readWebUrl } from "../../manifest/web-request.ts";
import type { ContextItem } from "./spec.ts";

const maxItems = 64;
const maxContentBytes = 64 * 1024;

export function readContext(spec: Fields): readonly ContextItem[] {
  return spec.sections("context", maxItems).flatMap((fields) => {
    const item = readItem(fields);
    fields.close();
    return item ?? [];
  });
}

function readItem(fields: Fields): ContextItem | null {
  if (!fields.has("type")) fields.issue("type", "is required");
  const type = fields.choice("type", ["text", "file", "directory", "url"]);
  const description = fields.text("description", { max: 4096 });
  switch (type) {
    case "text": {
      const content = fields.requiredText("content");
      if (content === null) return null;
      if (new TextEncoder().encode(content).length > maxContentBytes) {
        return fields.issue("content", "may have at most 64 KiB");
      }
      return { type, content, description };
    }
    case "url": {
      const url = fields.has("url") ? readWebUrl(fields, "url") : fields.issue("url", "is required");
      return url === null ? null : { type, url, description };
    }
    case "file":
    case "directory": {
      const path = readPath(fields);
      return path === null ? null : { type, path, description };
    }
    default:
      return null;
  }
}

/** Relative paths are below `/workspace`, as they are for tools. */
function readPath(fields: Fields): string | null {
  const written = fields.requiredText("path", { min: 1, max: 4096 });
  if (written === null) return null;
  const path = normalPath(written.startsWith("/") ? written : `/workspace/${written}`);
  return path ?? fields.issue("path", "is not a path: no `..`, and at most 64 segments");
}
