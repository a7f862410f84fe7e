-- When work under a key began to have its effect: where it can be told from nothing else, it is not done again. Null: it
-- has not, or it recognises itself by its id.
alter table idempotency_keys add column begun_at timestamptz;
