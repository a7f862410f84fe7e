/** What a tool server is, as its record holds it (docs/reference/tool-servers.md). */
import { type CredentialReference, isReference, readReference, type SecretReference } from "../manifest/references.ts";
import { parseHostPattern } from "../policy/network/pattern.ts";

export interface ServerDefinition {
  readonly enabled: boolean;
  readonly transport: "stdio" | "streamable_http";
  /** Of stdio; null otherwise. */
  readonly executable: string | null;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Hosts that a program may reach, as network allowlists of manifests have them. */
  readonly egress: readonly string[];
  /** Of streamable_http; null otherwise. */
  readonly url: string | null;
  /** Where values come from, by the variables or headers that get them. */
  readonly credentials: Readonly<Record<string, string>>;
  /** Null: every tool that is advertised. */
  readonly capabilities: readonly { readonly name: string; readonly skip_judge: boolean }[] | null;
  readonly call_timeout_seconds: number;
  readonly max_concurrent: number;
  readonly definitions: "pinned" | "follow";
  readonly health_check: { readonly interval_seconds: number; readonly timeout_seconds: number };
  readonly resource_limits: { readonly cpu_millicores: number; readonly memory_mb: number };
}

/** As callers write it: what is absent keeps what there was, or gets its default. */
export type WrittenServer = {
  readonly [Name in keyof ServerDefinition]?:
    | (Name extends "health_check" | "resource_limits" ? Partial<ServerDefinition[Name]> : ServerDefinition[Name])
    | undefined;
};

export const serverName = "^[a-z][a-z0-9-]{0,62}$";
/** Beginnings of other tools' names. */
const reserved: readonly string[] = ["fs", "cmd", "web", "svc", "aegis", "edge", "mcp", "seal"];

const defaults: ServerDefinition = {
  enabled: true,
  transport: "stdio",
  executable: null,
  args: [],
  environment: {},
  egress: [],
  url: null,
  credentials: {},
  capabilities: null,
  call_timeout_seconds: 60,
  max_concurrent: 8,
  definitions: "follow",
  health_check: { interval_seconds: 60, timeout_seconds: 5 },
  resource_limits: { cpu_millicores: 1_000, memory_mb: 512 },
};

/** What is wrong, and where. */
export interface DefinitionIssue {
  readonly path: string;
  readonly message: string;
}

/** The definition after a change. @param before null: it is new */
export function definitionOf(before: ServerDefinition | null, written: WrittenServer): ServerDefinition {
  const transport = written.transport ?? before?.transport ?? "stdio";
  const isNewKind = before !== null && before.transport !== transport;
  const base = before ?? { ...defaults, definitions: defaultDefinitions(transport) };
  const given = Object.fromEntries(Object.entries(written).filter(([, value]) => value !== undefined));
  // What belongs to the other transport does not stay behind.
  const left = isNewKind
    ? transport === "stdio"
      ? { url: null }
      : { executable: null, args: [], environment: {}, egress: [] }
    : {};
  return {
    ...base,
    ...left,
    ...given,
    health_check: { ...base.health_check, ...written.health_check },
    resource_limits: { ...base.resource_limits, ...written.resource_limits },
  };
}

/** A remote server's word is not that of the operator's own program. */
const defaultDefinitions = (transport: ServerDefinition["transport"]) => (transport === "stdio" ? "follow" : "pinned");

/** What is wrong with a name; null when nothing is. */
export function nameFault(name: string): string | null {
  if (!new RegExp(serverName).test(name)) return "must be 1 to 63 small letters, digits and -, a letter first";
  return reserved.includes(name) ? "is the beginning of other tools' names" : null;
}

/** Where a credential's value comes from. */
export type CredentialSource =
  | { readonly kind: "env"; readonly variable: string }
  | SecretReference
  | (CredentialReference & { readonly by: { readonly id: string } });

/** @returns what is wrong with it, as the end of a sentence about it, for one that is none */
export function readSource(text: string): CredentialSource | string {
  if (isReference(text)) {
    const read = readReference(text);
    if (typeof read === "string") return read;
    if (read.kind === "secret") return read;
    return "id" in read.by ? { ...read, by: read.by } : "must name a credential by its id";
  }
  const variable = text.startsWith("env:") ? text.slice("env:".length) : text;
  return /^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(variable)
    ? { kind: "env", variable }
    : "must be env:VARIABLE, secret:path or credential:id";
}

const variableName = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;
/** Headers that belong to the connection or to the protocol. */
const ownHeaders =
  /^(host|connection|content-.*|transfer-encoding|te|trailer|upgrade|keep-alive|accept|accept-encoding|proxy-.*|mcp-.*|last-event-id|cookie)$/i;

/** Everything that is wrong with a definition whose sizes the schema of the wire has bound already. */
export function definitionIssues(definition: ServerDefinition): DefinitionIssue[] {
  const names = (definition.capabilities ?? []).map(({ name }) => name);
  const isTwice = new Set(names).size !== names.length;
  return [
    ...(definition.transport === "stdio" ? programIssues(definition) : remoteIssues(definition)),
    ...credentialIssues(definition),
    ...(isTwice ? [{ path: "capabilities", message: "name a tool twice" }] : []),
  ];
}

function programIssues({ executable, url, args, environment, egress }: ServerDefinition): DefinitionIssue[] {
  return found([
    ["executable", executableFault(executable)],
    ["url", url === null ? null : "is of streamable_http only"],
    ...args.map((arg, index) => [`args.${index}`, arg.includes("\0") ? "holds NUL" : null] as const),
    ...Object.entries(environment).map(([name, value]) => [`environment.${name}`, variableFault(name, value)] as const),
    ...egress.map(
      (host, index) =>
        [`egress.${index}`, parseHostPattern(host) === null ? "is no host, address or network" : null] as const,
    ),
  ]);
}

function remoteIssues({ executable, url, args, environment, egress }: ServerDefinition): DefinitionIssue[] {
  return found([
    ["url", urlFault(url)],
    ["executable", executable === null ? null : "is of stdio only"],
    ["args", args.length === 0 ? null : "are of stdio only"],
    ["environment", Object.keys(environment).length === 0 ? null : "is of stdio only"],
    ["egress", egress.length === 0 ? null : "is of stdio only"],
  ]);
}

const found = (faults: readonly (readonly [path: string, fault: string | null])[]): DefinitionIssue[] =>
  faults.flatMap(([path, message]) => (message === null ? [] : [{ path, message }]));

function variableFault(name: string, value: string): string | null {
  if (!variableName.test(name)) return "is no name of a variable";
  return value.includes("\0") ? "holds NUL" : null;
}

function credentialIssues({ transport, credentials, environment }: ServerDefinition): DefinitionIssue[] {
  const seen = new Set<string>();
  return Object.entries(credentials).flatMap(([name, text]): DefinitionIssue[] => {
    const path = `credentials.${name}`;
    const faults: string[] = [];
    const isName = transport === "stdio" ? variableName.test(name) : headerName.test(name) && !ownHeaders.test(name);
    if (!isName) faults.push(transport === "stdio" ? "is no name of a variable" : "is no header that can be set");
    const key = transport === "stdio" ? name : name.toLowerCase();
    if (seen.has(key)) faults.push("stands there twice");
    seen.add(key);
    if (transport === "stdio" && environment[name] !== undefined) faults.push("stands in environment as well");
    const read = readSource(text);
    if (typeof read === "string") faults.push(read);
    return faults.map((message) => ({ path, message }));
  });
}

function executableFault(executable: string | null): string | null {
  if (executable === null || executable === "") return "is required with stdio";
  if (executable.includes("\0") || executable.includes("=")) return "holds a character that it may not";
  if (!executable.includes("/")) return null;
  const isPlain = executable.startsWith("/") && !/(^|\/)\.{1,2}(\/|$)/.test(executable) && !executable.endsWith("/");
  return isPlain ? null : "must be a name, or a plain absolute path";
}

function urlFault(url: string | null): string | null {
  if (url === null || url === "") return "is required with streamable_http";
  const read = URL.parse(url);
  if (read === null || !["http:", "https:"].includes(read.protocol)) return "must be an http or https URL";
  return read.username !== "" || read.password !== "" ? "may not hold a user or a password" : null;
}
