-- What lists, filters, history and retention need of approvals; kept in step with the actors' states.
create table approvals (
  approval_id       uuid primary key,
  tenant            text not null,
  status            text not null,
  kind              text not null,
  execution_id      text not null,
  root_execution_id text not null,
  workflow_name     text,
  created_at        timestamptz not null,
  expires_at        timestamptz not null,
  decided_at        timestamptz,
  -- Whoever decided, as authenticated.
  decided_sub       text,
  decided_email     text,
  -- Ready to be sent, as JSON: the pending object, and the record without its events once it is decided.
  document          text not null,
  document_bytes    integer not null
);
create index approvals_pending on approvals (tenant, created_at, approval_id) where status = 'pending';
create index approvals_decided on approvals (tenant, decided_at desc, approval_id desc) where status <> 'pending';
create index approvals_of_execution on approvals (tenant, execution_id);
create index approvals_of_root on approvals (tenant, root_execution_id);
create index approvals_due on approvals (expires_at) where status = 'pending';
create index approvals_age on approvals (decided_at) where status <> 'pending';

-- Which approval a decision link belongs to. Whether it is still good is the approval's business.
create table approval_links (
  -- SHA-256 of the token.
  hash        text primary key,
  approval_id uuid not null,
  tenant      text not null
);
create index approval_links_of_approval on approval_links (approval_id);
