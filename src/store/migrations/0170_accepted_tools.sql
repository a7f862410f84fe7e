-- What tools were when a person accepted them, of those that their server lists otherwise now.
alter table tool_servers add column accepted_tools jsonb not null default '{}';
