-- Replays of captured deliveries are told by the signed bytes, and a replay that comes to nothing is part of its original.

-- Null: what the preset brings.
alter table stimulus_sources add column replay_guard boolean;
alter table stimulus_sources add column require_timestamp boolean not null default false;

-- SHA-256 of the signed bytes, where equal ones are refused; kept for replays and for the release of the key.
alter table stimuli add column guard_digest bytea;
alter table stimulus_keys add column guard_digest bytea;
-- A row without an idempotency key has the same digest in both columns.
create unique index stimulus_keys_guard on stimulus_keys (tenant, source, guard_digest) where guard_digest is not null;

create index stimuli_replays_under_way on stimuli (tenant, replay_of) where status = 'received' and replay_of is not null;
-- Failed replays were dead letters of their own.
update stimuli set dead_letter = false where dead_letter and replay_of is not null;
