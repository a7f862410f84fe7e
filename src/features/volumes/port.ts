/** What other features may use of volumes. */
export { fileContent, sendFile, statEtag } from "./files/download.ts";
export { FileEntry, fileEntry, listFiles, openForReading, typeOfName } from "./files/files.ts";
export { answering, readPath } from "./files/paths.ts";
export { removeDirectory } from "./layout.ts";
export type { OpenVolumes } from "./open.ts";
export type { Volumes } from "./volumes.ts";
