/** Models, ready from what a node knows: its configuration document, else what is at hand. */
import type { Issue } from "../../../actors/kernel/problem.ts";
import type { Models } from "./call.ts";
import { hasModelSections, type ReadOptions, readModelsConfig } from "./config.ts";
import { type DefaultsOptions, findDefaults } from "./defaults.ts";
import { createModels, type ModelsOptions } from "./models.ts";

export interface OpenOptions extends ReadOptions, DefaultsOptions {
  /** The parsed configuration file, or null without one. */
  readonly document: unknown;
  readonly timing?: ModelsOptions["timing"];
}

export type OpenedModels =
  | { readonly ok: true; readonly models: Models; readonly warning?: string }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/**
 * Reads the model sections of the document; without them the defaults of `defaults.ts` hold. An invalid
 * section stops nothing here: the caller reports all issues and decides.
 */
export async function openModels(options: OpenOptions): Promise<OpenedModels> {
  const timing = options.timing ? { timing: options.timing } : {};
  if (hasModelSections(options.document)) {
    const result = readModelsConfig(options.document, options);
    return result.ok ? { ok: true, models: createModels({ config: result.config, ...timing }) } : result;
  }
  const { config, description, warning } = await findDefaults(options);
  return { ok: true, models: createModels({ config, description, ...timing }), ...(warning ? { warning } : {}) };
}
