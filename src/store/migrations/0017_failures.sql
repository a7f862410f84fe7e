-- Attempts at a stimulus that failed and were told of. `attempts` counts those as well that an outage of a store or the end
-- of a node cut off, which say nothing about the stimulus.
alter table stimuli add column failures integer not null default 0;

-- Ends the transaction when a commit makes an actor that is stored already: another attempt at the same message made it.
create function runtime_refuse_stored(kind text, key text) returns text language plpgsql as $$
begin
  raise exception 'an actor % % is stored already', kind, key using errcode = 'unique_violation';
end $$;
