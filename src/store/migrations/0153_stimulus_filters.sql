-- What a source lets through, and what it passed over.

-- Empty: all events.
alter table stimulus_sources add column events text[] not null default '{}';
-- An expression over payload and headers; null: all messages.
alter table stimulus_sources add column match text;

alter table stimulus_sources add column ignored_count bigint not null default 0;
alter table stimulus_sources add column last_ignored_at timestamptz;
alter table stimulus_sources add column last_ignored_reason text;
alter table stimulus_sources add column last_ignored_event text;
