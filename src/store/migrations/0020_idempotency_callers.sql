-- Whose an Idempotency-Key is, so that two callers of a tenant who send the same key do not share a piece of work. Null:
-- a node of the former version wrote the row, which knows no callers.
alter table idempotency_keys add column caller text;
