-- Who deployed a revision is a subject of one realm; null: what former versions stored.
alter table agent_versions add column deployed_realm text;
