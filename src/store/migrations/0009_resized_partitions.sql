-- The number of partitions may be changed while no node runs.

-- How often it was: the names of the mailboxes in Redis have it, and nodes of an earlier generation own nothing more.
alter table runtime_partitions add column generation integer not null default 0;

-- Mailboxes of former generations that are not yet closed in Redis: so many of each. What was in them is in PostgreSQL.
create table runtime_former_mailboxes (
  generation integer primary key,
  partitions integer not null
);

-- Commits delete effects that were carried out. Those that wait for a receiver lie between them, perhaps many while it is
-- away, and are passed over. The table is short otherwise, so that it is read at once.
create index runtime_outbox_carried_out on runtime_outbox (partition, seq) where target is null;
