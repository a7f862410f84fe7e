/** A server as it is written in the form, and as the service takes it. */
import type { Schemas } from "../../../../programs/client/client.ts";
import type { Issue } from "../../../../programs/client/errors.ts";
import type { Server } from "../words.ts";

type Written = Schemas["NewToolServer"];

export type SourceKind = "secret" | "credential" | "env";

/** Where one value comes from. */
export interface Bound {
  /** Of the row in the form. */
  readonly key: string;
  readonly name: string;
  readonly kind: SourceKind;
  readonly from: string;
}

export interface Draft {
  readonly name: string;
  readonly allTenants: boolean;
  readonly enabled: boolean;
  readonly transport: Server["transport"];
  readonly executable: string;
  /** One a line. */
  readonly args: string;
  readonly environment: string;
  readonly egress: string;
  readonly url: string;
  readonly credentials: readonly Bound[];
  /** One a line; empty: all. */
  readonly offered: string;
  readonly unjudged: string;
  readonly definitions: Server["definitions"];
  readonly callTimeout: string;
  readonly maxConcurrent: string;
  readonly checkEvery: string;
  readonly checkFor: string;
  readonly cpu: string;
  readonly memory: string;
}

/** Definitions that a server of the transport has without a choice. */
export const usualDefinitions = (transport: Server["transport"]): Server["definitions"] =>
  transport === "stdio" ? "follow" : "pinned";

/** @param isOperator programs of the host are theirs to define */
export const emptyDraft = (isOperator: boolean): Draft => {
  const transport = isOperator ? "stdio" : "streamable_http";
  return {
    ...{ name: "", allTenants: false, enabled: true, transport, executable: "", args: "", environment: "" },
    ...{ egress: "", url: "", credentials: [], offered: "", unjudged: "" },
    definitions: usualDefinitions(transport),
    ...{ callTimeout: "60", maxConcurrent: "8", checkEvery: "60", checkFor: "5", cpu: "1000", memory: "512" },
  };
};

export function draftOf(server: Server): Draft {
  const { credentials, environment, capabilities } = server;
  return {
    name: server.name,
    allTenants: server.tenant_id === null,
    enabled: server.enabled,
    transport: server.transport,
    executable: server.executable ?? "",
    args: server.args.join("\n"),
    environment: Object.entries(environment)
      .map(([name, value]) => `${name}=${value}`)
      .join("\n"),
    egress: server.egress.join("\n"),
    url: server.url ?? "",
    credentials: Object.entries(credentials).map(([name, source]) => boundOf(name, source)),
    offered: capabilities?.map(({ name }) => name).join("\n") ?? "",
    unjudged:
      capabilities
        ?.filter(({ skip_judge }) => skip_judge)
        .map(({ name }) => name)
        .join("\n") ?? "",
    definitions: server.definitions,
    callTimeout: String(server.call_timeout_seconds),
    maxConcurrent: String(server.max_concurrent),
    checkEvery: String(server.health_check.interval_seconds),
    checkFor: String(server.health_check.timeout_seconds),
    cpu: String(server.resource_limits.cpu_millicores),
    memory: String(server.resource_limits.memory_mb),
  };
}

function boundOf(name: string, source: string): Bound {
  const [, kind = "env", from = source] = /^(secret|credential|env):(.*)$/s.exec(source) ?? [];
  return { key: name, name, kind: kind as SourceKind, from };
}

/** What belongs to the other transport is left out: the service drops it. */
export function bodyOf(draft: Draft): Omit<Written, "name" | "tenant_id"> {
  const isProgram = draft.transport === "stdio";
  const offered = linesOf(draft.offered);
  const unjudged = new Set(linesOf(draft.unjudged));
  return {
    enabled: draft.enabled,
    transport: draft.transport,
    ...(isProgram
      ? {
          executable: draft.executable.trim(),
          // An argument may be empty or have spaces at its ends.
          args: draft.args === "" ? [] : draft.args.split("\n"),
          environment: Object.fromEntries(linesOf(draft.environment).map(pairOf)),
          egress: linesOf(draft.egress),
          resource_limits: { cpu_millicores: Number(draft.cpu), memory_mb: Number(draft.memory) },
        }
      : { url: draft.url.trim() }),
    credentials: Object.fromEntries(
      draft.credentials
        .filter(({ name, from }) => name.trim() !== "" || from.trim() !== "")
        .map(({ name, kind, from }) => [name.trim(), `${kind}:${from.trim()}`]),
    ),
    capabilities: offered.length === 0 ? null : offered.map((name) => ({ name, skip_judge: unjudged.has(name) })),
    definitions: draft.definitions,
    call_timeout_seconds: Number(draft.callTimeout),
    max_concurrent: Number(draft.maxConcurrent),
    health_check: { interval_seconds: Number(draft.checkEvery), timeout_seconds: Number(draft.checkFor) },
  };
}

export function newBodyOf(draft: Draft): Written {
  return { name: draft.name.trim(), ...(draft.allTenants ? { tenant_id: null } : {}), ...bodyOf(draft) };
}

const linesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** A line without `=` is a name without a value. */
function pairOf(line: string): readonly [string, string] {
  const at = line.indexOf("=");
  return at < 0 ? [line, ""] : [line.slice(0, at).trim(), line.slice(at + 1)];
}

/** The fields that show what the service found wrong with them. */
const fields = [
  ...["name", "tenant_id", "transport", "executable", "args", "environment", "egress", "url", "credentials"],
  ...["capabilities", "definitions", "call_timeout_seconds", "max_concurrent", "health_check", "resource_limits"],
] as const;

const isBelow = (path: string, field: string): boolean =>
  path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`);

/** What the service found at a field, as one text; null: nothing. */
export function foundAt(issues: readonly Issue[], field: string): string | null {
  const found = issues.filter(({ path }) => isBelow(path, field));
  if (found.length === 0) return null;
  return found
    .map(({ path, message }) => (path === field ? message : `${path.slice(field.length + 1)} ${message}`))
    .join("; ");
}

/** Whether every finding is shown at a field. */
export const areAllPlaced = (issues: readonly Issue[]): boolean =>
  issues.length > 0 && issues.every(({ path }) => fields.some((field) => isBelow(path, field)));
