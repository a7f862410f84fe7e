-- outside of a transaction
-- Each place of a tenant's chain is taken once; and what waits to be sealed, in the order of its time.
drop index concurrently if exists audit_entries_place;
create unique index concurrently audit_entries_place on audit_entries (tenant, sequence) where sequence is not null;
drop index concurrently if exists audit_entries_unsealed;
create index concurrently audit_entries_unsealed on audit_entries (at, id) where sequence is null;
