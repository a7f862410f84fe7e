-- outside of a transaction
-- Volumes whose index is to be made, those that wait longest first.
drop index concurrently if exists volumes_to_index;
create index concurrently volumes_to_index on volumes (index_due_at)
  where not indexed and deleted_at is null and kind <> 'run';
