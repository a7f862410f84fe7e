-- Rows of calls that were opened, as against places that were taken for calls which never were; and what approvers have
-- granted with a call to a caller without an execution: a JSON list of {tool, from, sha256}.
alter table waiting_calls add column opened boolean not null default false;
alter table waiting_calls add column grants text;
update waiting_calls set opened = true where session_id is not null or execution_id is not null;
