/** The agent's own environment, which may be written in three places. */
import type { Fields } from "../../manifest/fields.ts";

const maxVariables = 128;
const bounds = {
  key: {
    min: 1,
    max: 256,
    pattern: /^[A-Za-z_][A-Za-z0-9_]*$/,
    form: "letters, digits and _, not beginning with a digit",
  },
  // Linux refuses to start a program with a longer variable.
  value: { max: 64 * 1024 },
};
const reserved = /^(?:SVC|AEGIS|LD)_|^(?:PATH|HOME)$/;
const proxy = /^(?:https?|ftp|all|no)_proxy$/i;

/** Earlier places win. */
export function readEnvironment(root: Fields, spec: Fields): Readonly<Record<string, string>> {
  const merged = { ...read(root, "environment"), ...read(spec, "environment"), ...read(spec, "env") };
  if (Object.keys(merged).length > maxVariables) spec.issue("env", `may have at most ${maxVariables} variables in all`);
  return merged;
}

function read(fields: Fields, key: string): Readonly<Record<string, string>> {
  return fields.pairs(key, maxVariables, bounds, (name, _value, path) => {
    const isFree = !reserved.test(name) && !proxy.test(name);
    if (!isFree) fields.issue(path, "is set by the service", "reserved_env");
    return isFree;
  });
}
