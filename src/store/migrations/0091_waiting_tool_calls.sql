-- outside of a transaction
-- Open approvals of tool calls, counted by tenant. The expression is the one of the query, so that no other index fits it:
-- while the table has no statistics they all seem to cost the same.
drop index concurrently if exists approvals_waiting_calls;
create index concurrently approvals_waiting_calls on approvals (tenant) where (kind || ' ' || status) = 'tool_call pending';
