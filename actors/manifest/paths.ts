/** Paths inside an instance, as manifests write them. */
import { readPattern } from "../policy/filesystem/pattern.ts";

/** Without empty and `.` segments and without an end slash; null for one with `..`, too deep or too long. */
export function normalPath(absolute: string): string | null {
  const path = readPattern(absolute);
  return path === null ? null : `/${path.segments.join("/")}`;
}
