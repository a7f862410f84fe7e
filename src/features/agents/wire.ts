/** From records to what callers read. */

import { masked } from "../../../actors/agent/masking.ts";
import { renderYaml } from "../../../actors/manifest/document.ts";
import type { AgentDocumentRow, AgentRow, VersionRow } from "./records.ts";
import type { AgentDetail, AgentElement, VersionElement } from "./schema.ts";

export function agentElement(row: AgentRow, executionCount: number): AgentElement {
  const { metadata } = row;
  return {
    id: row.agent_id,
    agent_id: row.agent_id,
    name: row.name,
    tenant_id: row.tenant,
    version: row.version,
    revision: row.revision,
    description: metadata.description,
    scope: row.scope,
    status: row.status,
    agent_type: row.agent_type,
    capability_tags: [...metadata.tags],
    labels: metadata.labels,
    annotations: metadata.annotations,
    execution_count: executionCount,
    input_schema: row.input_schema,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    deployed_at: row.deployed_at.toISOString(),
  };
}

/** @param open hide nothing: the reader may deploy */
export function agentDetail(row: AgentDocumentRow, executionCount: number, open: boolean): AgentDetail {
  return { ...agentElement(row, executionCount), ...shownManifest(row, open) };
}

export function versionElement(row: VersionRow, open: boolean): VersionElement {
  const deployedAt = row.deployed_at.toISOString();
  return {
    id: row.version_id,
    agent_id: row.agent_id,
    name: row.name,
    version: row.version,
    revision: row.revision,
    current: row.current,
    deployed_at: deployedAt,
    created_at: deployedAt,
    deployed_by: row.deployed_by,
    manifest_yaml: shownManifest(row, open).manifest_yaml,
  };
}

/** The text would tell what the document hides, so a closed one is written anew. */
function shownManifest(
  { document, manifest_yaml }: Pick<AgentDocumentRow, "document" | "manifest_yaml">,
  open: boolean,
) {
  if (open) return { manifest: document, manifest_yaml };
  const shown = masked(document);
  return { manifest: shown, manifest_yaml: renderYaml(shown) };
}
