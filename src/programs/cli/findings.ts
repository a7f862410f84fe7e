/** What the service found in a request, for people. */

/**
 * @param list an answer's `issues` or `warnings`; anything else has none
 * @returns a line for each: where, what, and its code
 */
export function findings(list: unknown): string[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((finding: unknown) => {
    if (typeof finding !== "object" || finding === null) return [];
    const { path, message, code } = finding as { path?: unknown; message?: unknown; code?: unknown };
    const where = typeof path === "string" && path !== "" ? `${path}: ` : "";
    return [`  ${where}${String(message ?? "")}${typeof code === "string" ? ` (${code})` : ""}`];
  });
}
