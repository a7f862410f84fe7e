/** The models of a node: made from its configuration document, else from what is at hand, and made anew on request. */
import { isObject } from "../../../actors/kernel/json.ts";
import type { Issue } from "../../../actors/kernel/problem.ts";
import type { Models } from "./call.ts";
import { type ReadOptions, readModelsConfig } from "./config.ts";
import { type DefaultsOptions, findDefaults } from "./defaults.ts";
import type { KeySource } from "./keys.ts";
import { createModels, type ModelsOptions } from "./models.ts";

export interface OpenOptions extends ReadOptions, DefaultsOptions {
  /** The parsed configuration file, or null without one. */
  readonly document: unknown;
  /** Reads the configuration file again. Rejects or throws with a message for the operator. */
  readonly readAgain?: () => unknown;
  readonly timing?: ModelsOptions["timing"];
}

/** Models whose configuration can be read again. */
export interface NodeModels extends Models {
  /**
   * Reads the configuration again and answers all further calls by it; calls under way end as they began. Where
   * anything in it is invalid, everything stays as it was.
   */
  reload(): Promise<Reloaded>;
  /** Registers who reads the keys that providers refer to; until then none of these can be had. */
  keysFrom(source: KeySource): void;
  /** What an operator has to know when no alias is served; null otherwise. */
  warning(): string | null;
}

export type Reloaded = { readonly ok: true } | { readonly ok: false; readonly issues: readonly Issue[] };

export type OpenedModels =
  | { readonly ok: true; readonly models: NodeModels }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/**
 * Reads the model sections of the document; without providers in it the defaults of `defaults.ts` hold. An invalid
 * section stops nothing here: the caller reports all issues and decides.
 */
export async function openModels(options: OpenOptions): Promise<OpenedModels> {
  let source: KeySource = async () => {
    throw new Error("the secrets are not open yet");
  };
  const keys: KeySource = (reference) => source(reference);
  const first = await read(options, options.document, keys);
  if (!first.ok) return first;
  let current = first.models;
  let reloading: Promise<unknown> = Promise.resolve();

  async function reload(): Promise<Reloaded> {
    let document: unknown;
    try {
      document = await (options.readAgain?.() ?? options.document);
    } catch (error) {
      const message = error instanceof Error ? error.message : "cannot be read";
      return { ok: false, issues: [{ path: "", message, code: "invalid_value" }] };
    }
    const next = await read(options, document, keys);
    if (!next.ok) return next;
    current = next.models;
    return { ok: true };
  }

  const models: NodeModels = {
    aliases: () => current.aliases(),
    serves: (alias) => current.serves(alias),
    served: () => current.served(),
    describeDefault: () => current.describeDefault(),
    probe: (signal) => current.probe(signal),
    generate: (call) => current.generate(call),
    reload() {
      // One after another: an earlier reading must not replace a later one.
      const done = reloading.then(reload);
      reloading = done.catch(() => {});
      return done;
    },
    keysFrom(opened) {
      source = opened;
    },
    warning: () => (current.served().length > 0 ? null : nothingServed),
  };
  return { ok: true, models };
}

const nothingServed =
  "no model is served: every alias is unknown, and agents cannot start. Set OPENAI_API_KEY, ANTHROPIC_API_KEY or " +
  "GOOGLE_GENERATIVE_AI_API_KEY, or put a key into the secret llm/openai, llm/anthropic or llm/google of svc-system, or " +
  "list llm_providers in SVC_CONFIG_FILE";

type Read = { readonly ok: true; readonly models: Models } | { readonly ok: false; readonly issues: readonly Issue[] };

async function read(options: OpenOptions, document: unknown, keys: KeySource): Promise<Read> {
  const timing = options.timing ? { timing: options.timing } : {};
  const sections = isObject(document) ? document : {};
  if (sections.llm_providers !== undefined) {
    const result = readModelsConfig(sections, options);
    return result.ok ? { ok: true, models: createModels({ config: result.config, keys, ...timing }) } : result;
  }
  const found = await findDefaults({ ...options, keys }, sections.llm_selection);
  if (!found.ok) return found;
  const { config, description } = found;
  return { ok: true, models: createModels({ config, description, keys, ...timing }) };
}
