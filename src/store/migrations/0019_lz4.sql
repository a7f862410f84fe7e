-- Large texts are compressed with LZ4, which takes a fraction of the time of PostgreSQL's own method: the content of a
-- delivery is stored with its run's state and log as well. What is stored stays as it is and is read as before. A server
-- that was built without LZ4 keeps its own method. In the order in which commits use these tables.
do $$
begin
  alter table runtime_outbox alter column effect set compression lz4;
  alter table runtime_actors alter column state set compression lz4;
  alter table runtime_logs alter column entry set compression lz4;
  alter table runtime_activities alter column input set compression lz4;
  alter table stimuli alter column content set compression lz4;
exception when feature_not_supported then
  raise notice 'this server has no LZ4';
end $$;
