-- The durable actor runtime. See src/runtime/README.md for what each table guarantees.

-- One row per service process. A node is alive while its heartbeat is fresh.
create table runtime_nodes (
  id           text primary key,
  -- The machine, as far as running sandboxes go: nodes on one data directory share it.
  host         text not null,
  -- Where `pid` means something: boot id and pid namespace. Within it a dead process is noticed at once.
  pid_scope    text not null,
  pid          integer not null,
  heartbeat_at timestamptz not null,
  draining     boolean not null default false,
  started_at   timestamptz not null default now()
);

-- Who owns a partition (fenced by `epoch`), and how far its mailbox and its outbox have come.
-- `mailbox_offset` is the stream id of the last message whose turn is committed;
-- `sources` holds, per sender, the last sequence number taken, so that repeats are dropped.
create table runtime_partitions (
  partition      integer primary key,
  epoch          bigint not null default 0,
  owner          text,
  mailbox_offset text not null default '0-0',
  sources        text not null default '[]',
  outbox_seq     bigint not null default 0
) with (fillfactor = 20);

-- States are rewritten with every turn: kept in the row as they are, up to a page, rather than compressed
-- and moved aside from 2 kB on.
create table runtime_actors (
  kind       text not null,
  key        text not null,
  tenant     text not null,
  partition  integer not null,
  version    bigint not null,
  -- Last sequence number of each of the actor's logs, as JSON.
  logs       text not null,
  state      text not null,
  updated_at timestamptz not null default now(),
  primary key (kind, key)
) with (fillfactor = 70, toast_tuple_target = 8160);

create table runtime_logs (
  kind  text not null,
  key   text not null,
  log   text not null,
  seq   bigint not null,
  at    bigint not null,
  entry text not null,
  primary key (kind, key, log, seq)
) with (toast_tuple_target = 8160);

-- Effects that are committed but perhaps not carried out yet; in order per partition.
create table runtime_outbox (
  partition integer not null,
  seq       bigint not null,
  effect    text not null,
  primary key (partition, seq)
);

-- Messages that other transactions of the service asked for (`tellWithin`).
create table runtime_pending_tells (
  id         uuid primary key,
  kind       text not null,
  key        text not null,
  tenant     text not null,
  type       text not null,
  body       text not null,
  created_at timestamptz not null default now()
);
create index runtime_pending_tells_age on runtime_pending_tells (created_at);

-- Slow or outside work under way. `node` runs it; another node takes it over when that one is gone.
create table runtime_activities (
  id          text primary key,
  kind        text not null,
  key         text not null,
  tenant      text not null,
  name        text not null,
  input       text not null,
  reply_type  text not null,
  node        text,
  host        text not null,
  host_bound  boolean not null,
  attempt     integer not null default 0,
  abandoned   boolean not null default false,
  created_at  timestamptz not null default now(),
  released_at timestamptz
);
create index runtime_activities_node on runtime_activities (node);

create table runtime_dead_letters (
  id          uuid primary key,
  partition   integer not null,
  kind        text not null,
  key         text not null,
  tenant      text not null,
  message_id  text not null,
  type        text not null,
  body        text not null,
  error       text not null,
  attempts    integer not null,
  created_at  timestamptz not null default now(),
  replayed_at timestamptz
);
create index runtime_dead_letters_age on runtime_dead_letters (created_at desc);

-- Ends the transaction when a partition was taken over: its former owner must not commit.
create function runtime_require_ownership(held boolean) returns void language plpgsql as $$
begin
  if not held then
    raise exception 'partition lost' using errcode = 'SVF01';
  end if;
end $$;
