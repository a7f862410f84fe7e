-- A death counts only where a node died: which nodes were at work is kept, so that one that was taken for dead while it
-- was frozen or busy, and came back, is left out.

-- The owners of the partition that had the message under way, the first of them before it was written down.
alter table runtime_attempts add column nodes text[] not null default '{}';
-- The nodes that were taken for dead within moments of beginning the work.
alter table runtime_activities add column suspects text[] not null default '{}';
