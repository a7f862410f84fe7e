/** Words of unions, policies and platforms, in the spellings that are read. */

/** PascalCase, snake_case and kebab-case in any letter case are one word: `AnyOf`, `any_of`, `ANY-OF`. */
export const folded = (word: string): string => word.replaceAll(/[_-]/g, "").toLowerCase();

const systems: Readonly<Record<string, string>> = { linux: "linux", macos: "macos", darwin: "macos" };
const machines: Readonly<Record<string, string>> = {
  x86_64: "x86_64",
  amd64: "x86_64",
  x64: "x86_64",
  aarch64: "aarch64",
  arm64: "aarch64",
};

/** `linux` or `macos`; null for another system. */
export const systemOf = (text: string): string | null => named(systems, text);
/** `x86_64` or `aarch64`; null for another machine. */
export const machineOf = (text: string): string | null => named(machines, text);

const named = (names: Readonly<Record<string, string>>, text: string): string | null => {
  const name = text.toLowerCase();
  return Object.hasOwn(names, name) ? (names[name] ?? null) : null;
};
