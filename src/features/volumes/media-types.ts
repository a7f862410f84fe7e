/** Types of files by their names. */
import mime from "mime";

/** The type a name stands for. */
export function typeOfName(name: string): string {
  return mime.getType(name) ?? "application/octet-stream";
}
