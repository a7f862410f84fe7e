/** Types of files, by their first bytes and by their names. */
import mime from "mime";

/** Formats that say unmistakably what they are. */
const signatures: readonly (readonly [type: string, offset: number, bytes: string])[] = [
  ["image/png", 0, "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", 0, "\xff\xd8\xff"],
  ["image/gif", 0, "GIF87a"],
  ["image/gif", 0, "GIF89a"],
  ["image/webp", 8, "WEBP"],
  ["image/tiff", 0, "II*\0"],
  ["image/tiff", 0, "MM\0*"],
  ["application/pdf", 0, "%PDF-"],
  ["application/gzip", 0, "\x1f\x8b"],
  ["application/x-bzip2", 0, "BZh"],
  ["application/x-xz", 0, "\xfd7zXZ\0"],
  ["application/zstd", 0, "\x28\xb5\x2f\xfd"],
  ["application/x-7z-compressed", 0, "7z\xbc\xaf\x27\x1c"],
  ["application/x-tar", 257, "ustar"],
  ["application/vnd.sqlite3", 0, "SQLite format 3\0"],
  ["application/wasm", 0, "\0asm"],
  ["application/x-executable", 0, "\x7fELF"],
  ["audio/mpeg", 0, "ID3"],
  ["audio/ogg", 0, "OggS"],
  ["audio/flac", 0, "fLaC"],
  ["audio/wav", 8, "WAVE"],
  ["video/mp4", 4, "ftyp"],
  ["video/webm", 0, "\x1a\x45\xdf\xa3"],
];
/** Bytes that `sniffedType` looks at. */
export const sniffBytes = 512;

/** @param head the first bytes. Null: they say nothing (zip among them: many formats are zips, told by their names) */
export function sniffedType(head: Uint8Array): string | null {
  const text = Buffer.from(head).toString("latin1");
  return signatures.find(([, offset, bytes]) => text.startsWith(bytes, offset))?.[0] ?? null;
}

/** The type a name stands for. */
export function typeOfName(name: string): string {
  return mime.getType(name) ?? "application/octet-stream";
}
