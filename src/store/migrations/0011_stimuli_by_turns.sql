-- outside of a transaction
-- What waits to be processed of each tenant, by its time: tenants are served by turns.
drop index concurrently if exists stimuli_due_of_tenant;
create index concurrently stimuli_due_of_tenant on stimuli (tenant, due_at) where status = 'received';
