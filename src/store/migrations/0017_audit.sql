-- Who changed what. Written in the transaction of the change; never updated, deleted only by age.
create table audit_entries (
  id          uuid primary key,
  at          timestamptz not null,
  tenant      text not null,
  actor       jsonb not null,
  action      text not null,
  target_type text not null,
  target_id   text not null,
  outcome     text not null check (outcome in ('allowed', 'denied', 'failed')),
  ip          text,
  user_agent  text,
  request_id  text,
  details     jsonb not null
);
-- Newest first; of one tenant, and of all, which is by age as well.
create index audit_entries_of_tenant on audit_entries (tenant, at desc, id desc);
create index audit_entries_age on audit_entries (at desc, id desc);
