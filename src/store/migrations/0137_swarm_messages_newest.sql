-- outside of a transaction
-- The newest messages of a swarm, and how many a day has brought.
drop index concurrently if exists swarm_messages_newest;
create index concurrently swarm_messages_newest on swarm_messages (tenant, swarm_id, sent_at desc, position desc);
