/** `SVC_CONFIG_FILE`: YAML or JSON with the sections that are too large for the environment. */

import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { isObject } from "../../actors/kernel/json.ts";
import { BadValue } from "./setting.ts";

/** The sections as written; each is checked by the part of the service that owns it. */
export interface ConfigFile {
  readonly auth?: Record<string, unknown>;
  readonly llm_providers?: readonly unknown[];
  readonly llm_selection?: Record<string, unknown>;
  readonly egress?: Record<string, unknown>;
  readonly oauth?: Record<string, unknown>;
  readonly tool_servers?: readonly unknown[];
}

const sections: Record<string, "mapping" | "list"> = {
  auth: "mapping",
  llm_providers: "list",
  llm_selection: "mapping",
  egress: "mapping",
  oauth: "mapping",
  tool_servers: "list",
};

/** Reads and splits the file. @throws BadValue with everything that is wrong with its outer shape */
export function readConfigFile(path: string): ConfigFile {
  const document = parseDocument(readText(path)) ?? {};
  if (!isObject(document)) throw new BadValue("must name a file that holds a mapping");
  const problems: string[] = [];
  for (const [name, value] of Object.entries(document)) {
    const shape = Object.hasOwn(sections, name) ? sections[name] : undefined;
    if (shape === undefined)
      problems.push(`has an unknown section ${name}; known: ${Object.keys(sections).join(", ")}`);
    else if (shape === "list" ? !Array.isArray(value) : !isObject(value))
      problems.push(`section ${name} must be a ${shape}`);
  }
  if (problems.length > 0) throw new BadValue(problems.join("; "));
  return document;
}

/** The scalar at a path of the file as text, undefined when absent. */
export function scalarAt(file: ConfigFile, path: readonly string[]): string | undefined {
  let value: unknown = file;
  for (const step of path) value = isObject(value) ? value[step] : undefined;
  if (value === undefined || value === null) return undefined;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new BadValue(`cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function parseDocument(content: string): unknown {
  try {
    // Every JSON document is YAML as well.
    return parse(content, { maxAliasCount: 100 });
  } catch (error) {
    throw new BadValue(
      `is no valid YAML or JSON: ${error instanceof Error ? error.message.split("\n")[0] : "unreadable"}`,
    );
  }
}
