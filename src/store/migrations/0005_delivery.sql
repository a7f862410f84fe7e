-- Delivery between partitions: an effect stays until its receiver has committed it, and what was received are rows.
-- Nodes of the former version run beside: they keep what they received as JSON in `runtime_partitions.sources`, read
-- replies by pub/sub, and number their effects alike.

-- The last number that a partition has taken of each source: `p<partition>` for effects, `n<node>` for a node's sends.
create table runtime_received (
  partition integer not null,
  source    text not null,
  seq       bigint not null,
  at        timestamptz not null default now(),
  primary key (partition, source)
) with (fillfactor = 50);

-- The partition that an effect goes to: its commit deletes the row. Null for effects that the sender carries out and
-- deletes itself, and for those of nodes of the former version.
alter table runtime_outbox add column target integer;
create index runtime_outbox_target on runtime_outbox (target, partition, seq) where target is not null;

-- Messages from outside of any turn that wait for the owner of their partition, which deletes them in the commit that
-- takes them.
create table runtime_inbox (
  id        bigint generated always as identity primary key,
  partition integer not null,
  kind      text not null,
  key       text not null,
  tenant    text not null,
  type      text not null,
  -- JSON.
  body      text not null
);

-- Whether a node says that a message was taken once its turn is committed, and reads replies from its stream.
alter table runtime_nodes add column acknowledges boolean not null default false;

-- Which history of which database this is: its timeline changes when a standby is promoted, its system identifier when
-- it is another database. A service that does not offer these functions is one incarnation for ever.
do $$
begin
  perform system_identifier from pg_control_system();
  perform pg_walfile_name(pg_current_wal_lsn());
  execute 'create function runtime_timeline() returns text language sql volatile as '
    || quote_literal('select substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)');
  execute 'create function runtime_incarnation() returns text language sql volatile as '
    || quote_literal('select system_identifier || ''.'' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) from pg_control_system()');
exception when insufficient_privilege or undefined_function or feature_not_supported then
  execute 'create function runtime_timeline() returns text language sql immutable as ' || quote_literal('select ''one''::text');
  execute 'create function runtime_incarnation() returns text language sql immutable as ' || quote_literal('select ''one''::text');
end $$;

-- Hands what was received over between nodes of both versions. A node of this version takes a partition with `sources`
-- set to 'take': what a node of the former version wrote there goes into rows, and 'rows' is what stays. A node of the
-- former version does not set `sources` when it takes one, and finds the rows there as its JSON. Commits do not set the
-- epoch and pay nothing for this.
create function runtime_hand_over_received() returns trigger language plpgsql as $$
begin
  if new.sources = 'take' then
    if old.sources not in ('rows', '[]') then
      insert into runtime_received (partition, source, seq, at)
      select old.partition, entry ->> 0, (entry -> 1 ->> 0)::bigint, to_timestamp((entry -> 1 ->> 1)::double precision / 1000)
      from jsonb_array_elements(old.sources::jsonb) as entry
      on conflict (partition, source) do update set seq = greatest(runtime_received.seq, excluded.seq), at = excluded.at;
    end if;
    new.sources := 'rows';
  else
    new.sources := coalesce((
      select json_agg(json_build_array(source, json_build_array(seq, (extract(epoch from at) * 1000)::bigint)))::text
      from runtime_received where partition = new.partition), '[]');
  end if;
  return new;
end $$;

create trigger runtime_received_hand_over before update of epoch on runtime_partitions
  for each row when (new.sources in ('take', 'rows') and new.epoch <> old.epoch)
  execute function runtime_hand_over_received();
