/** What other features may use of files as agents see them. */
export { readBytes, textOf } from "../../../lib/tool-files/files.ts";
export { address, type Directory, look, type Place, pathOf } from "../../../lib/tool-files/place.ts";
export { maxFileBytes } from "../../../lib/tool-files/schema.ts";
export { View } from "../../../lib/tool-files/view.ts";
export { type ViewSpec, viewOf } from "../../../lib/tool-files/view-spec.ts";
