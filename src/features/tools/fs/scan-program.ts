/** The process that walks trees for the `fs.*` tools; see `src/lib/guarded/guarded.ts` for why it is one of its own. */
import { serveGuarded } from "../../../lib/guarded/serve.ts";
import { edit, multiEdit } from "../../../lib/tool-files/files.ts";
import type { FsArguments } from "../../../lib/tool-files/schema.ts";
import { deleteTree, glob, grep, list } from "../../../lib/tool-files/tree.ts";
import { View } from "../../../lib/tool-files/view.ts";
import type { ViewSpec } from "../../../lib/tool-files/view-spec.ts";
import { outcomeOf, type ToolOutcome } from "../port.ts";

export interface ScanJob {
  readonly view: ViewSpec;
  readonly call:
    | { readonly tool: "fs.list"; readonly given: FsArguments<"fs.list"> }
    | { readonly tool: "fs.glob"; readonly given: FsArguments<"fs.glob"> }
    | { readonly tool: "fs.grep"; readonly given: FsArguments<"fs.grep"> }
    | { readonly tool: "fs.delete"; readonly given: FsArguments<"fs.delete"> }
    | { readonly tool: "fs.edit"; readonly given: FsArguments<"fs.edit"> }
    | { readonly tool: "fs.multi_edit"; readonly given: FsArguments<"fs.multi_edit"> };
}

function scan({ view: spec, call }: ScanJob): ToolOutcome {
  try {
    using view = new View(spec);
    switch (call.tool) {
      case "fs.list":
        return { status: "succeeded", result: list(view, call.given) };
      case "fs.glob":
        return { status: "succeeded", result: glob(view, call.given) };
      case "fs.grep":
        return { status: "succeeded", result: grep(view, call.given) };
      case "fs.delete":
        return { status: "succeeded", result: deleteTree(view, call.given) };
      case "fs.edit":
        return { status: "succeeded", result: edit(view, call.given, Number.POSITIVE_INFINITY) };
      case "fs.multi_edit":
        return { status: "succeeded", result: multiEdit(view, call.given, Number.POSITIVE_INFINITY) };
    }
  } catch (error) {
    return outcomeOf(error);
  }
}

await serveGuarded(scan);
