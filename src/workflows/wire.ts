/** Definitions as the wire shows them. */
import { systemTenant } from "../../actors/identity/identity.ts";
import type { WorkflowDocumentRow, WorkflowRow } from "./records.ts";
import type { Scope, VersionElement, WorkflowDetail, WorkflowElement } from "./schema.ts";

export const scopeOf = (owner: string): Scope => (owner === systemTenant ? "global" : "tenant");

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
    tenant_id: row.tenant,
    execution_count: executionCount,
    versions_count: row.versions_count,
    created_at: row.created_at.toISOString(),
    updated_at: registered,
    registered_at: registered,
    input_schema: row.input_schema,
  };
}

export function workflowDetail(row: WorkflowDocumentRow, executionCount: number): WorkflowDetail {
  return { ...workflowElement(row, executionCount), manifest_yaml: row.manifest_yaml, metadata: row.metadata };
}

export function versionElement(row: WorkflowRow & { manifest_sha256: string; is_latest: boolean }): VersionElement {
  return {
    id: row.workflow_id,
    workflow_id: row.workflow_id,
    name: row.name,
    version: row.version,
    description: row.description,
    scope: scopeOf(row.tenant),
    tenant_id: row.tenant,
    created_at: row.created_at.toISOString(),
    registered_at: row.registered_at.toISOString(),
    is_latest: row.is_latest,
    manifest_sha256: row.manifest_sha256,
  };
}
