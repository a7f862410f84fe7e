/**
 * `SVC_STIMULUS_ROUTES_FILE`: sources and routers that are there from the first start on (docs/reference/stimuli.md).
 *
 *     tenants:
 *       <slug>:
 *         router: {router_agent: inbound-router, confidence_threshold: 0.75}
 *         routes:
 *           - {source: ci, workflow: build-report}
 *
 * Fields are those of sources in the API. Workflows and agents need not exist yet.
 */

import { readFile, stat } from "node:fs/promises";
import type { Static, TSchema } from "@sinclair/typebox";
import { isTenantSlug } from "../../../../../actors/identity/tenant.ts";
import { isObject, type Json } from "../../../../../actors/kernel/json.ts";
import { type Issue, Problem } from "../../../../../actors/kernel/problem.ts";
import { readYaml } from "../../../../../actors/manifest/yaml-document.ts";
import { bodyChecker } from "../../../../http/input/input.ts";
import { textOf } from "../parts.ts";
import { type RouterSettings, routerSettings } from "../routers/service.ts";
import { NewSource, RouterRequest } from "../schema.ts";
import { maxSources } from "../service.ts";
import { newSettings, type SourceSettings, secretChangeOf } from "../settings.ts";
import { checkUsable } from "../verification/secrets.ts";

export interface BootSource {
  readonly settings: SourceSettings;
  /** Null: the environment's, if any. */
  readonly secret: string | null;
}

export interface BootTenant {
  readonly slug: string;
  readonly router: RouterSettings | null;
  readonly sources: readonly BootSource[];
}

const maxFileBytes = 16 * 1024 * 1024;
const nothing: readonly never[] = [];

/**
 * Reads the file and looks at all of it.
 * @returns the tenants it names, and everything that is wrong with it; `tenants` counts only where nothing is
 */
export async function readBootFile(
  path: string,
): Promise<{ readonly tenants: readonly BootTenant[]; readonly problems: readonly string[] }> {
  const problems: string[] = [];
  const tenants = readTenants(await documentOf(path, problems), problems);
  return { tenants, problems: problems.map((problem) => `SVC_STIMULUS_ROUTES_FILE ${problem}`) };
}

/** Null, with a problem, when it cannot be read. */
async function documentOf(path: string, problems: string[]): Promise<Json> {
  try {
    const { size } = await stat(path);
    if (size > maxFileBytes) throw new Error(`is larger than ${maxFileBytes} bytes`);
    return readYaml(await readFile(path, "utf8"), null);
  } catch (error) {
    problems.push(`cannot be read: ${error instanceof Error ? error.message : String(error)}`);
    return { tenants: {} };
  }
}

function readTenants(document: Json, problems: string[]): readonly BootTenant[] {
  const { tenants } = membersOf(document, "document", ["tenants"], problems);
  if (tenants === undefined || tenants === null) {
    problems.push("tenants: is required");
    return nothing;
  }
  if (!isObject(tenants)) {
    problems.push("tenants: must be a mapping");
    return nothing;
  }
  return Object.entries(tenants).map(([slug, value]) => {
    const path = `tenants.${shown(slug)}`;
    if (!isTenantSlug(slug)) problems.push(`${path}: is no tenant name`);
    const { router, routes } = membersOf(value ?? null, path, ["router", "routes"], problems);
    return {
      slug,
      router: router === undefined || router === null ? null : readRouter(router, `${path}.router`, problems),
      sources: readSources(routes ?? null, `${path}.routes`, problems),
    };
  });
}

/** The members of a mapping; every other member is a problem, and so is anything that is no mapping. */
function membersOf<K extends string>(
  value: Json,
  path: string,
  known: readonly K[],
  problems: string[],
): { readonly [key in K]?: Json } {
  if (!isObject(value)) {
    problems.push(`${path}: must be a mapping`);
    return {};
  }
  for (const key of Object.keys(value)) {
    if (!known.some((name) => name === key)) problems.push(`${path}.${shown(key)}: is not known here`);
  }
  return value as { readonly [key in K]?: Json };
}

function readSources(list: Json, path: string, problems: string[]): readonly BootSource[] {
  if (list === null) return nothing;
  if (!Array.isArray(list)) {
    problems.push(`${path}: must be a list`);
    return nothing;
  }
  if (list.length > maxSources) problems.push(`${path}: a tenant may have at most ${maxSources} source routes`);
  const sources = new Set<string>();
  return (list as readonly Json[]).flatMap((value, index): readonly BootSource[] => {
    const read = readSource(value, `${path}.${index}`, problems);
    if (read === null) return nothing;
    const { source } = read.settings;
    if (sources.has(source)) problems.push(`${path}.${index}.source: ${source} occurs twice`);
    sources.add(source);
    return [read];
  });
}

const checkSource = checker(NewSource);
const checkRouter = checker(RouterRequest);

function readSource(value: Json, path: string, problems: string[]): BootSource | null {
  return attempt(path, problems, () => {
    const body = checkSource(value);
    const settings = newSettings(body);
    const secretChange = secretChangeOf(body);
    // There is no answer it could be told in.
    if (secretChange === "mint") problems.push(`${path}.generate_secret: cannot be asked for here`);
    const secret = typeof secretChange === "string" ? null : textOf(secretChange);
    if (secret !== null) checkUsable(settings.preset, secret, "secret");
    return { settings, secret };
  });
}

const readRouter = (value: Json, path: string, problems: string[]): RouterSettings | null =>
  attempt(path, problems, () => routerSettings(checkRouter(value)));

function attempt<T>(path: string, problems: string[], read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const issues = (error.extras.issues ?? [{ path: "", message: error.message }]) as readonly Issue[];
    problems.push(...issues.map((issue) => `${path}${issue.path && `.${shown(issue.path)}`}: ${issue.message}`));
    return null;
  }
}

/** Prepared at the first use: most nodes have no file. */
function checker<S extends TSchema>(schema: S): (value: unknown) => Static<S> {
  let made: ReturnType<typeof bodyChecker<S>> | null = null;
  return (value) => {
    made ??= bodyChecker(schema);
    return made(value);
  };
}

/** A name of the file's, fit for one line. */
const shown = (key: string): string => JSON.stringify(key.slice(0, 80)).slice(1, -1);
