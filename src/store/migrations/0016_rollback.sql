-- A node of the former version that takes a partition, as it does after a rollback, finds there what that version knows.

-- It keeps timers in Redis and would never look at these rows: they become effects of its outbox that ask for the same
-- timers. So do messages that wait in the inbox. The trigger goes with the next version.
create function runtime_hand_over_timers() returns trigger language plpgsql as $$
declare
  handed_over bigint;
begin
  with timers as (
    delete from runtime_timers where partition = new.partition returning *
  ), forgotten as (
    update runtime_actors a set timers = null from timers t where a.kind = t.kind and a.key = t.key
  ), messages as (
    delete from runtime_inbox where partition = new.partition returning *
  ), effects as (
    insert into runtime_outbox (partition, seq, effect)
    select new.partition, new.outbox_seq + row_number() over (order by place, id), effect::text from (
      select 0 as place, fence as id, json_build_array('schedule', kind, key, tenant, timer, due, type, body::json) as effect
      from timers
      union all
      select 1, id, json_build_array('tell', kind, key, tenant, type, body::json) from messages) wanted
    returning 1
  )
  select count(*) into handed_over from effects;
  new.outbox_seq := new.outbox_seq + handed_over;
  return new;
end $$;

-- Before the trigger of what was received, which takes the mark `rows` away.
create trigger runtime_hand_over_timers before update of epoch on runtime_partitions
  for each row when (new.sources = 'rows' and new.epoch <> old.epoch)
  execute function runtime_hand_over_timers();
