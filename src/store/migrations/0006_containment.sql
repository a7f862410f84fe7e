-- Work that ends its process or its database backend is set aside after three deaths.

-- Messages that the owner of a partition is about to handle, where its predecessor died: written before their turns
-- run, replaced once they are committed. What a later owner finds here was under way when this one died.
create table runtime_attempts (
  partition integer not null,
  message   text not null,
  attempt   smallint not null,
  primary key (partition, message)
);

-- A piece of work counts as begun from its insertion on. `begun_at` is null while a node that took it over has not
-- begun it; `deaths` counts the nodes that died within moments of beginning it, `takeovers` those that died with it.
alter table runtime_activities add column begun_at timestamptz default now();
alter table runtime_activities add column deaths smallint not null default 0;
alter table runtime_activities add column takeovers smallint not null default 0;
