-- A record of a tool call is written as the call begins and again as it ends. Where its page has room for the second version
-- none of its indexes is written again: half of a page, since the calls of one page end together.
alter table tool_invocations set (fillfactor = 50);
