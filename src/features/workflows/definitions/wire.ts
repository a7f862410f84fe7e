/** Definitions as the wire shows them. */

import { withoutSecrets } from "./judging/judging.ts";
import type { WorkflowDocumentRow, WorkflowRow } from "./records.ts";
import { scopeOf, tenantOf } from "./records.ts";
import type { VersionElement, WorkflowDetail, WorkflowElement } from "./schema.ts";

export function workflowElement(row: WorkflowRow, executionCount: number): WorkflowElement {
  const registered = row.registered_at.toISOString();
  return {
    id: row.workflow_id,
    workflow_id: row.workflow_id,
    name: row.name,
    version: row.version,
    description: row.description,
    scope: scopeOf(row.tenant),
    status: "active",
    labels: row.labels,
    annotations: row.annotations,
    tags: row.tags,
    tenant_id: tenantOf(row.tenant),
    execution_count: executionCount,
    versions_count: row.versions_count,
    created_at: row.created_at.toISOString(),
    updated_at: registered,
    registered_at: registered,
    input_schema: row.input_schema,
  };
}

/** @param reader the tenant that is shown it: a global workflow keeps its publishers' secrets from the others */
export async function workflowDetail(
  row: WorkflowDocumentRow,
  executionCount: number,
  reader: string,
): Promise<WorkflowDetail> {
  const isOwn = tenantOf(row.tenant) === reader;
  const manifest_yaml = isOwn ? row.manifest_yaml : await withoutSecrets(reader, row.manifest_yaml);
  return { ...workflowElement(row, executionCount), manifest_yaml, metadata: row.metadata };
}

export function versionElement(row: WorkflowRow & { manifest_sha256: string; is_latest: boolean }): VersionElement {
  return {
    id: row.workflow_id,
    workflow_id: row.workflow_id,
    name: row.name,
    version: row.version,
    description: row.description,
    scope: scopeOf(row.tenant),
    tenant_id: tenantOf(row.tenant),
    created_at: row.created_at.toISOString(),
    registered_at: row.registered_at.toISOString(),
    is_latest: row.is_latest,
    manifest_sha256: row.manifest_sha256,
  };
}
