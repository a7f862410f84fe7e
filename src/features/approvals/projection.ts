/** The tables `approvals` and `approval_links`, kept in step with the actors' states. */
import { approval } from "../../../actors/approval/approval.ts";
import { approvalSummary, pendingApproval } from "../../../actors/approval/record.ts";
import type { ApprovalState } from "../../../actors/approval/state.ts";
import { type ActorChange, defineProjection, type Statement } from "../../runtime/port.ts";
import { projectRows } from "../../runtime/reads/rows.ts";

/** Most turns change nothing that lists show. */
function isNews(before: ApprovalState, after: ApprovalState): boolean {
  return (
    before.status !== after.status ||
    before.escalated_at !== after.escalated_at ||
    before.consents.length !== after.consents.length ||
    before.request.tool_call?.arguments_sha256 !== after.request.tool_call?.arguments_sha256 ||
    before.call?.executed !== after.call?.executed
  );
}

function rowOf(key: string, tenant: string, state: ApprovalState) {
  const { request, status, created_at, expires_at, decision } = state;
  const isPending = status === "pending";
  const document = JSON.stringify((isPending ? pendingApproval : approvalSummary)(key, tenant, state));
  return {
    approval_id: key,
    tenant,
    status,
    kind: request.kind,
    run_id: request.execution_id,
    root_run_id: request.root_execution_id,
    workflow_name: request.workflow_name,
    created_at: new Date(created_at),
    expires_at: new Date(expires_at),
    decided_at: decision === null ? null : new Date(decision.at),
    decided_sub: decision?.by?.sub ?? null,
    decided_email: decision?.by?.email?.toLowerCase() ?? null,
    document,
    document_bytes: Buffer.byteLength(document),
  };
}

function linksOf({ key, tenant, before, after }: ActorChange<ApprovalState>) {
  if (after === null || after.links_issued === (before?.links_issued ?? 0)) return [];
  const known = new Set(before?.links.map(({ hash }) => hash));
  return after.links.filter(({ hash }) => !known.has(hash)).map(({ hash }) => ({ hash, approval_id: key, tenant }));
}

const upsert = `
insert into approvals (approval_id, tenant, status, kind, run_id, root_run_id, workflow_name, created_at,
  expires_at, decided_at, decided_sub, decided_email, document, document_bytes)
select approval_id, tenant, status, kind, run_id, root_run_id, workflow_name, created_at,
  expires_at, decided_at, decided_sub, decided_email, document, document_bytes
from json_to_recordset($1::text::json) as r (approval_id uuid, tenant text, status text, kind text, run_id text,
  root_run_id text, workflow_name text, created_at timestamptz, expires_at timestamptz, decided_at timestamptz,
  decided_sub text, decided_email text, document text, document_bytes integer)
on conflict (approval_id) do update
set status = excluded.status, decided_at = excluded.decided_at, decided_sub = excluded.decided_sub,
  decided_email = excluded.decided_email, document = excluded.document, document_bytes = excluded.document_bytes`;

const addLinks = `
insert into approval_links (hash, approval_id, tenant)
select hash, approval_id, tenant
from json_to_recordset($1::text::json) as r (hash text, approval_id uuid, tenant text)
on conflict (hash) do nothing`;

const remove = `
delete from approvals where approval_id in (select value::uuid from json_array_elements_text($1::text::json))`;

const removeLinks = `
delete from approval_links where approval_id in (select value::uuid from json_array_elements_text($1::text::json))`;

const rowsOf = projectRows({ isNews, rowOf, upsert, remove });

/** The approvals' own rows, and those of their links. */
function project(changes: readonly ActorChange<ApprovalState>[]): readonly Statement[] {
  const links = changes.flatMap(linksOf);
  const gone = changes.filter(({ after }) => after === null).map(({ key }) => key);
  const statements: Statement[] = rowsOf(changes);
  if (links.length > 0) statements.push({ text: addLinks, parameters: [JSON.stringify(links)] });
  if (gone.length > 0) statements.push({ text: removeLinks, parameters: [JSON.stringify(gone)] });
  return statements;
}

/** @param committed told of every change of approvals once it is committed */
export const approvalsProjection = (committed?: (changes: readonly ActorChange<ApprovalState>[]) => void) =>
  defineProjection(approval, project, committed);
