-- What a partition took before earlier messages of the same source, which wait in the long line of an actor. A row goes once
-- the last number of its source (`runtime_received`) says as much.
create table runtime_received_ahead (
  partition integer not null,
  source text not null,
  seq bigint not null,
  -- The number of the message that it follows.
  after bigint not null,
  at timestamptz not null default now(),
  primary key (partition, source, seq)
);

-- A node of the former version knows only the last number of each source. It would run once more what was taken ahead and
-- is still in the mailbox, so it does not get such a partition, which comes to a node that knows these rows. Nodes of this
-- version take partitions with `sources` set to 'take'. The trigger goes with the next version.
create function runtime_keep_taken_ahead() returns trigger language plpgsql as $$
begin
  if exists (select 1 from runtime_received_ahead where partition = new.partition) then
    return null;
  end if;
  return new;
end $$;

-- By its name the first of the triggers at a change of the owner: nothing is handed over where the partition is kept.
create trigger runtime_ahead_is_kept before update of epoch on runtime_partitions
  for each row when (new.sources <> 'take' and new.epoch <> old.epoch)
  execute function runtime_keep_taken_ahead();
