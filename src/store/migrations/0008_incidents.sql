-- What was refused for the sake of security. Equal ones within a minute share a row.
create table security_incidents (
  id             uuid primary key,
  tenant         text not null,
  category       text not null,
  severity       text not null,
  agent_id       text,
  execution_id   text,
  session_id     text,
  tool_name      text,
  violation_type text,
  details        jsonb not null,
  count          bigint not null,
  created_at     timestamptz not null,
  last_seen_at   timestamptz not null
);
create index security_incidents_newest on security_incidents (tenant, created_at desc, id desc);
create index security_incidents_of_execution on security_incidents (tenant, execution_id, created_at desc)
  where execution_id is not null;
create index security_incidents_age on security_incidents (last_seen_at);
