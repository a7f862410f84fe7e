-- A subject is one of its realm: two realms may issue the same one for different people.

-- Null: stored before the realm was; then it is the realm that the tenant's kind implies.
alter table volumes add column owner_realm text;
-- A laxer rule for the same rows: programs of before go on under it.
drop index volumes_label;
create unique index volumes_label on volumes (tenant, owner_realm, owner_user_id, label) nulls not distinct
  where kind = 'user' and deleted_at is null;
