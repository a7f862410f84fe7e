-- Calls of tools: what was asked, what policy said, what became of it. Ids are UUIDv7, so that they sort by time.
create table tool_invocations (
  id uuid primary key,
  tenant text not null,
  execution_id uuid,
  iteration_number int,
  agent_id text,
  session_id uuid,
  -- The execution's id, or `<realm>/<sub>` of a caller without one.
  principal text,
  entry text not null,
  -- Null: the row keeps an envelope from coming twice, and is shown nowhere.
  tool_name text,
  arguments text,
  arguments_sha256 text,
  edited_arguments text,
  decision text,
  code text,
  violation_type text,
  security_context text,
  context_version int,
  capability_index int,
  approval_id uuid,
  outcome text,
  count int not null default 1,
  duration_ms bigint,
  result_bytes bigint,
  started_at timestamptz not null,
  ended_at timestamptz,
  request_id text,
  -- Of a call outside of a loop: the node that runs it.
  node text,
  -- Of a call in a loop: where the log of its execution has the result.
  result_log text,
  result_seq bigint
) with (fillfactor = 80);
create index tool_invocations_of_tenant on tool_invocations (tenant, id);
create index tool_invocations_of_execution on tool_invocations (execution_id, id) where execution_id is not null;

-- Results of calls outside of a loop, for as long as they can be asked for.
create table tool_results (
  id uuid primary key,
  tenant text not null,
  ended_at timestamptz not null,
  result text not null
);
create index tool_results_by_age on tool_results (ended_at);
create index tool_results_of_tenant on tool_results (tenant);
