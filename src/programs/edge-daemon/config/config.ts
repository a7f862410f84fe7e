/** Reads `config.yaml`: exact about what is wrong in it, since a typo must never open more than was meant. */
import { realpathSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { Value } from "@sinclair/typebox/value";
import { LineCounter, parseDocument } from "yaml";
import { readEdgeKey } from "../../../../actors/edge/base64.ts";
import { isObject, type Json } from "../../../../actors/kernel/json.ts";
import { shapeIssues } from "../../../../actors/kernel/shape-issues.ts";
import type { SecurityContextSpec, WrittenCapability } from "../../../../actors/policy/security/spec.ts";
import { capabilityIssues, specOf } from "../../../../actors/policy/security/written.ts";
import { readText, type StateDirectory, withHome } from "../state/directory.ts";
import { EdgeFailure, exits } from "../state/failure.ts";
import { WrittenConfig } from "./schema.ts";

export interface EdgeConfig {
  readonly labels: Readonly<Record<string, string>>;
  readonly slots: number;
  /** Absolute; where relative paths begin. */
  readonly workdir: string;
  readonly env: { readonly pass: readonly string[]; readonly allow: readonly string[] };
  readonly runAs: string | null;
  /** Seconds. */
  readonly reconnect: readonly number[];
  readonly shutdownGraceSecs: number;
  readonly sandbox: "auto" | "off";
  readonly metricsListen: { readonly hostname: string; readonly port: number } | null;
  readonly update: {
    readonly url: string | null;
    readonly keys: readonly { readonly kid: string; readonly public_key: string }[];
    readonly auto: boolean;
  };
  /** By name. Entries of path lists are absolute. */
  readonly contexts: ReadonlyMap<string, SecurityContextSpec>;
}

/** Largest file that is read, characters. */
const maxText = 1_048_576;
const maxIssues = 20;
/** Of all labels as JSON: they have to fit the first message of a connection. */
const maxLabelBytes = 24_576;

/**
 * @param path of the file; one that is absent is an empty one, which allows nothing
 * @throws EdgeFailure (usage) that names every fault with its place
 */
export function loadConfig(state: StateDirectory, path = state.config): EdgeConfig {
  return readConfig(readText(path) ?? "", state, path);
}

/** As `loadConfig`, of a text. @param name of the file, for what is told of it */
export function readConfig(text: string, state: StateDirectory, name = "config.yaml"): EdgeConfig {
  const written = shaped(parsed(text, name), name);
  const workdir = resolve(written.workdir === null ? state.work : withHome(written.workdir));
  const faults = [
    ...written.contexts.flatMap((context, at) => [
      ...capabilityIssues(context.capabilities ?? [], `contexts.${at}.capabilities`),
      ...(context.capabilities ?? []).flatMap(({ approval }, index) =>
        approval ? [issue(`contexts.${at}.capabilities.${index}.approval`, "no person can be asked on a host")] : [],
      ),
      ...(written.contexts.findIndex((other) => other.name === context.name) < at
        ? [issue(`contexts.${at}.name`, `${context.name} is there twice`)]
        : []),
    ]),
    ...written.update.keys.flatMap(({ public_key }, at) =>
      readEdgeKey(public_key) === null ? [issue(`update.keys.${at}.public_key`, "is no Ed25519 key")] : [],
    ),
  ];
  const metricsListen = written.metrics.listen === null ? null : addressOf(written.metrics.listen);
  if (metricsListen === undefined) faults.push(issue("metrics.listen", "must be host:port"));
  if (Buffer.byteLength(JSON.stringify(written.labels)) > maxLabelBytes)
    faults.push(issue("labels", `are larger than ${maxLabelBytes} bytes`));
  if (faults.length > 0) throw faulty(name, faults);
  return {
    labels: written.labels,
    slots: written.slots,
    workdir,
    env: written.env,
    runAs: written.run_as,
    reconnect: written.reconnect,
    shutdownGraceSecs: written.shutdown_grace_secs,
    sandbox: written.sandbox,
    metricsListen: metricsListen ?? null,
    update: written.update,
    contexts: new Map(
      written.contexts.map(({ name: context, capabilities, deny_list }) => [
        context,
        specOf(
          (capabilities ?? []).map((one) => onHost(one, workdir)),
          deny_list ?? [],
        ),
      ]),
    ),
  };
}

interface Fault {
  readonly path: string;
  readonly message: string;
}

const issue = (path: string, message: string) => ({ path, message, code: "invalid" });

function faulty(name: string, faults: readonly Fault[]): EdgeFailure {
  const lines = faults.slice(0, maxIssues).map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  return new EdgeFailure(exits.usage, `${name} cannot be used:\n  ${lines.join("\n  ")}`);
}

function parsed(text: string, name: string): Json {
  if (text.length > maxText) throw faulty(name, [issue("", "is larger than 1 MiB")]);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, strict: true, prettyErrors: false });
  const problems = [...document.errors, ...document.warnings].map(({ message, pos: [at] }) => {
    const { line, col } = lines.linePos(at);
    return issue(`line ${line}, column ${col}`, message);
  });
  if (problems.length > 0) throw faulty(name, problems);
  try {
    return (document.toJS({ maxAliasCount: 100 }) ?? {}) as Json;
  } catch (error) {
    throw faulty(name, [issue("", error instanceof Error ? error.message : "cannot be read")]);
  }
}

function shaped(value: Json, name: string): WrittenConfig {
  if (!isObject(value)) throw faulty(name, [issue("", "must be a mapping")]);
  const filled = Value.Default(WrittenConfig, value);
  if (Value.Check(WrittenConfig, filled)) return filled;
  throw faulty(name, shapeIssues(Value.Errors(WrittenConfig, filled), maxIssues));
}

/** Undefined for what is no address. */
function addressOf(text: string): EdgeConfig["metricsListen"] | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const hostname = bracketed ?? plain;
  const port = Number(digits);
  return hostname === undefined || port > 65_535 ? undefined : { hostname, port };
}

/** Relative entries begin at the working directory. A directory that is a link is allowed under both of its names. */
function onHost(capability: WrittenCapability, workdir: string): WrittenCapability {
  const { path_allowlist } = capability;
  if (!path_allowlist) return capability;
  const entries = path_allowlist.map((entry) => {
    const path = withHome(entry);
    return isAbsolute(path) ? path : join(workdir, path);
  });
  return { ...capability, path_allowlist: [...new Set(entries.flatMap((entry) => [entry, ...linkedAs(entry)]))] };
}

/** Where the part of an entry before its first wildcard really is; none where it is not there yet. */
function linkedAs(entry: string): string[] {
  const [, literal = "", rest = ""] = /^((?:\/[^/*]*)*?)((?:\/[^/]*\*.*)?)$/.exec(entry) ?? [];
  try {
    const real = realpathSync(literal === "" ? "/" : literal);
    return [join(real, rest)];
  } catch {
    return [];
  }
}
