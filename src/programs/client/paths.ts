/** Paths of operations with their parameters filled in. */

/** Of paths below a resource, such as `/v1/secrets/{path}`: it may hold slashes. */
const rest = "path";

/**
 * @param template as the API document has it: `/v1/agents/{id}`
 * @throws TypeError for a parameter that is missing, empty, or would lead to another operation: browsers and proxies
 * take `.` and `..` out of every path, however they are encoded
 */
export function filledPath(template: string, values: Readonly<Record<string, unknown>>): string {
  return template.replaceAll(/\{([^{}]+)\}/g, (_, name: string) => {
    const value = String(values[name] ?? "");
    return name === rest
      ? value
          .split("/")
          .map((part) => segment(name, part))
          .join("/")
      : segment(name, value);
  });
}

function segment(name: string, text: string): string {
  if (text === "" || text === "." || text === "..") throw new TypeError(`"${text}" cannot stand in a path as ${name}`);
  return encodeURIComponent(text);
}
