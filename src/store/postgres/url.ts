/**
 * `DATABASE_URL`: the form of libpq, `postgres://user:password@host:port,host:port/database?parameter=value`.
 * Source: PostgreSQL documentation, "Connection URIs" and "Parameter Key Words" of libpq.
 */
import { readFileSync } from "node:fs";
import { type ConnectionOptions, checkServerIdentity } from "node:tls";

/** A name, an address, or a folder of Unix sockets (it begins with `/`). */
export interface DatabaseHost {
  readonly host: string;
  readonly port: number;
}

export interface DatabaseAddress {
  /** At least one; the first that accepts writes is used. */
  readonly hosts: readonly DatabaseHost[];
  readonly user: string;
  readonly password: string;
  /** Of the same name as the user where none is given. */
  readonly database: string;
  readonly tls: TlsMode;
  /** Null: without certificates of its own. */
  readonly rootCertificate: string | null;
  readonly clientCertificate: string | null;
  readonly clientKey: string | null;
  readonly applicationName: string;
}

const tlsModes = ["disable", "prefer", "require", "verify-ca", "verify-full"] as const;
type TlsMode = (typeof tlsModes)[number];

const parameters = ["sslmode", "sslrootcert", "sslcert", "sslkey", "target_session_attrs", "application_name"] as const;
type Parameter = (typeof parameters)[number];

const form = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^/?#@]*)(?:\/([^?#/]*))?(?:\?([^#]*))?$/;
const hostForm = /^(\[[0-9a-fA-F:.]+\]|[^:[\]]*)(?::(\d{1,5}))?$/;

/** What is wrong with a database URL; the message never repeats the URL, which holds a password. */
export class DatabaseUrlFault extends Error {
  override readonly name = "DatabaseUrlFault";
}

/** @throws DatabaseUrlFault */
export function parseDatabaseUrl(url: string): DatabaseAddress {
  const [, credentials = "", hostList, path = "", query = ""] = form.exec(url) ?? [];
  if (hostList === undefined) throw new DatabaseUrlFault("must be a URL postgres://… or postgresql://…");
  const [user = "", ...passwords] = credentials.split(":");
  const given = readParameters(new URLSearchParams(query));
  const rootCertificate = given.sslrootcert ?? null;
  const name = decode(user) || "postgres";
  return {
    hosts: hostList.split(",").map(readHost),
    user: name,
    password: decode(passwords.join(":")),
    database: decode(path) || name,
    tls: tlsMode(given.sslmode, rootCertificate),
    rootCertificate,
    clientCertificate: given.sslcert ?? null,
    clientKey: given.sslkey ?? null,
    applicationName: given.application_name ?? "svc",
  };
}

function readParameters(query: URLSearchParams): Partial<Record<Parameter, string>> {
  const given: Partial<Record<Parameter, string>> = {};
  for (const [name, value] of query) {
    const known = parameters.find((one) => one === name);
    if (known === undefined) {
      throw new DatabaseUrlFault(`has a parameter that is not known: ${name}; known are ${parameters.join(", ")}`);
    }
    given[known] = value;
  }
  // Every query of a node needs a server that accepts writes; the other wishes would be refused later.
  const wanted = given.target_session_attrs;
  if (wanted !== undefined && !["read-write", "primary", "any"].includes(wanted)) {
    throw new DatabaseUrlFault("has a target_session_attrs other than read-write, primary or any");
  }
  return given;
}

function readHost(text: string): DatabaseHost {
  const [, host, port = "5432"] = hostForm.exec(text) ?? [];
  const number = Number(port);
  if (host === undefined || number < 1 || number > 65_535)
    throw new DatabaseUrlFault("has a host or port that is none");
  return { host: decode(host).replace(/^\[|\]$/g, "") || "localhost", port: number };
}

function tlsMode(wanted: string | undefined, rootCertificate: string | null): TlsMode {
  const mode = tlsModes.find((one) => one === (wanted === "allow" ? "prefer" : (wanted ?? "disable")));
  if (mode === undefined) throw new DatabaseUrlFault(`has an sslmode other than ${tlsModes.join(", ")}`);
  if (rootCertificate === "system") return "verify-full";
  // As libpq does it: a certificate that is given is used.
  return mode === "require" && rootCertificate !== null ? "verify-ca" : mode;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new DatabaseUrlFault("has a percent sign that encodes nothing");
  }
}

/**
 * TLS as the driver takes it: false without, `prefer` where the server may do without.
 * @throws DatabaseUrlFault for a certificate or key that cannot be read
 */
export function databaseTls(address: DatabaseAddress): false | "prefer" | ConnectionOptions {
  const { tls, rootCertificate, clientCertificate, clientKey } = address;
  if (tls === "disable") return false;
  if (tls === "prefer") return "prefer";
  return {
    rejectUnauthorized: tls !== "require",
    checkServerIdentity: tls === "verify-full" ? checkServerIdentity : () => undefined,
    ...(rootCertificate === null || rootCertificate === "system" ? {} : { ca: read("sslrootcert", rootCertificate) }),
    ...(clientCertificate === null ? {} : { cert: read("sslcert", clientCertificate) }),
    ...(clientKey === null ? {} : { key: read("sslkey", clientKey) }),
  };
}

function read(parameter: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new DatabaseUrlFault(`names a file that cannot be read (${parameter}): ${(error as Error).message}`);
  }
}

/** Where it is looked for, without user and password. */
export const namesOf = ({ hosts }: DatabaseAddress): string =>
  hosts.map(({ host, port }) => (host.startsWith("/") ? host : `${host}:${port}`)).join(",");
