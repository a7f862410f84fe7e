-- An envelope is taken once: its row among the calls says so to every node.
alter table tool_invocations add column if not exists signature bytea;
create unique index if not exists tool_invocations_of_envelope on tool_invocations (session_id, signature)
  where signature is not null;
