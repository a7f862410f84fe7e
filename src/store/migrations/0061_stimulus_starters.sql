-- For whom the run of a stimulus acts that a caller posted or replayed; null: a webhook's, and what former versions took in.
alter table stimuli add column starter jsonb;
