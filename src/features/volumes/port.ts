/** What other features may use of volumes. */

export type { Volumes } from "./execution-volumes.ts";
export { fileContent, sendFile, statEtag } from "./files/download.ts";
export { FileEntry, fileEntry, listFiles, type OpenedFile, openForReading, typeOfName } from "./files/files.ts";
export { answering, readPath } from "./files/paths.ts";
export type { OpenVolumes } from "./open.ts";
export { sendableFile } from "./places/local/open-content.ts";
