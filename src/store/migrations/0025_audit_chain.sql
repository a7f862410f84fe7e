-- The audit log of each tenant is a chain: whoever changes an entry, takes one away or adds one breaks it.

-- Entries are written without a place, so that no change waits for another's entry; a moment later they are sealed in the
-- order in which they are seen (src/features/audit/chain). `chain` is SHA-256 of the chain before it and the entry's own
-- digest.
alter table audit_entries
  add column sequence bigint,
  add column chain bytea;

create table audit_chains (
  tenant         text primary key,
  -- Of the newest sealed entry, and its `chain`.
  sequence       bigint not null,
  head           bytea not null,
  -- Of the oldest entry that is kept, or would be next; and the `chain` of the one before it, which went by age.
  first_sequence bigint not null default 1,
  anchor         bytea not null,
  -- Of the oldest entry that is kept; null: none is.
  first_at       timestamptz,
  -- The newest head that the log of the service has.
  told_sequence  bigint not null default 0
);
create index audit_chains_age on audit_chains (first_at) where first_at is not null;

-- An entry is sealed once; a refusal is counted until it is; rows go by age in transactions that say so. Nodes of the
-- former version cannot erase any more; those of this one do.
create function audit_entries_guard() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    if old.sequence is null and new.sequence is not null and new.chain is not null
      and (old.id, old.at, old.tenant, old.actor, old.action, old.target_type, old.target_id, old.outcome, old.ip,
        old.user_agent, old.request_id, old.details) is not distinct from
        (new.id, new.at, new.tenant, new.actor, new.action, new.target_type, new.target_id, new.outcome, new.ip,
        new.user_agent, new.request_id, new.details)
    then return new;
    end if;
    if old.sequence is null and new.sequence is null and new.chain is null
      and old.action in ('auth.denied', 'auth.failed') and old.details - 'count' = new.details - 'count'
      and (new.details ->> 'count')::bigint > (old.details ->> 'count')::bigint
      and (old.id, old.at, old.tenant, old.actor, old.action, old.target_type, old.target_id, old.outcome, old.ip,
        old.user_agent, old.request_id) is not distinct from
        (new.id, new.at, new.tenant, new.actor, new.action, new.target_type, new.target_id, new.outcome, new.ip,
        new.user_agent, new.request_id)
    then return new;
    end if;
  elsif current_setting('svc.audit_change', true) = 'retention' then
    return old;
  end if;
  raise exception 'Entries of the audit log are not changed, and go by age alone'
    using errcode = 'integrity_constraint_violation';
end $$;
create trigger audit_entries_guard before update or delete on audit_entries
  for each row execute function audit_entries_guard();
create trigger audit_entries_guard_all before truncate on audit_entries
  for each statement execute function audit_entries_guard();
