/** Where an agent refers to secrets and credentials: in its environment, and for its image. */

import { placedRegistryCredentials } from "../../manifest/images/registry-credentials.ts";
import { type PlacedReference, referencesIn } from "../../manifest/references.ts";
import type { AgentSpec, RuntimeSpec } from "./spec.ts";

/** @param spec of an agent, also as it is stored from before images had credentials */
export const referencesOfAgent = (spec: {
  readonly env: AgentSpec["env"];
  readonly runtime?: Partial<Pick<RuntimeSpec, "registry_credentials">>;
}): PlacedReference[] => [
  ...referencesIn(spec.env, "spec.env"),
  ...placedRegistryCredentials(spec.runtime?.registry_credentials ?? null, "spec.runtime"),
];
