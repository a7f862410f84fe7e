/** What other features may use of files as agents see them. */
export { readBytes, textOf } from "./files.ts";
export { maxFileBytes } from "./schema.ts";
export { address, type Directory, look, type Place, View } from "./view.ts";
export { type ViewSpec, viewOf } from "./view-spec.ts";
