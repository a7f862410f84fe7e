/** What other features may use of volumes. */

export { fileContent, sendFile, statEtag } from "./files/download.ts";
export { FileEntry, fileEntry } from "./files/files.ts";
export { typeOfName } from "./media-types.ts";
export type { OpenVolumes } from "./open.ts";
export { answering, readPath } from "./paths.ts";
export { sendableFile } from "./places/local/open-content.ts";
export { listFiles, type OpenedFile, openForReading } from "./places/local/reading.ts";
export type { Volumes } from "./runs/execution-volumes.ts";
