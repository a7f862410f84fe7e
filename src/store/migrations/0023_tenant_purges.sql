-- The end of tenants: what a deleted one has under way is ended, and after its time all of it is erased.

-- Of a deleted one: since when nothing of it is under way any more. Null: to be looked for.
alter table tenants add column work_ended_at timestamptz;
create index tenants_ending on tenants (deleted_at) where status = 'deleted' and work_ended_at is null;

-- Purges under way. Every step may be repeated; the row goes with the last one.
create table tenant_purges (
  tenant        text primary key,
  -- A node works on it until then; another one goes on behind that.
  claimed_until timestamptz not null,
  attempts      integer not null default 1,
  -- The feature that is being asked, and why it failed the last time.
  step          text not null default '',
  last_error    text,
  begun_at      timestamptz not null default now()
);
