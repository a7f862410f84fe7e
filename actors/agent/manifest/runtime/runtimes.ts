/** The runtimes an agent may name by language and version, and the image behind each. */

export interface Runtime {
  readonly language: string;
  readonly version: string;
  readonly image: string;
  readonly description: string;
  /** Environment the bootstrap needs in that image. */
  readonly bootstrapEnv: Readonly<Record<string, string>>;
  readonly deprecated: boolean;
}

type Entry = readonly [version: string, image: string, options?: { deprecated?: true; env?: Record<string, string> }];

const table: Readonly<Record<string, readonly Entry[]>> = {
  python: [
    ["3.9", "python:3.9-slim", { deprecated: true }],
    ["3.10", "python:3.10-slim"],
    ["3.11", "python:3.11-slim"],
    ["3.12", "python:3.12-slim"],
    ["3.13", "python:3.13-slim"],
  ],
  javascript: [
    ["18", "node:18-alpine", { deprecated: true }],
    ["20", "node:20-alpine"],
    ["22", "node:22-alpine"],
  ],
  typescript: [["5.1", "node:20-alpine", { env: { TYPESCRIPT_VERSION: "5.1" } }]],
  rust: [
    ["1.74", "rust:1.74-alpine"],
    ["1.75", "rust:1.75-alpine"],
  ],
  go: [
    ["1.20", "golang:1.20-alpine"],
    ["1.21", "golang:1.21-alpine"],
  ],
};

const titles: Readonly<Record<string, string>> = {
  python: "Python",
  javascript: "JavaScript on Node.js",
  typescript: "TypeScript",
  rust: "Rust",
  go: "Go",
};

export const builtInRuntimes: readonly Runtime[] = Object.entries(table).flatMap(([language, entries]) =>
  entries.map(([version, image, options]) => ({
    language,
    version,
    image,
    description: `${titles[language] ?? language} ${version}`,
    bootstrapEnv: options?.env ?? {},
    deprecated: options?.deprecated ?? false,
  })),
);

/** The later entry of a language and version replaces the earlier one. */
export function mergeRuntimes(base: readonly Runtime[], over: readonly Runtime[]): readonly Runtime[] {
  const merged = new Map([...base, ...over].map((runtime) => [`${runtime.language}\n${runtime.version}`, runtime]));
  return [...merged.values()];
}

export function findRuntime(runtimes: readonly Runtime[], language: string, version: string): Runtime | null {
  return runtimes.find((runtime) => runtime.language === language && runtime.version === version) ?? null;
}
