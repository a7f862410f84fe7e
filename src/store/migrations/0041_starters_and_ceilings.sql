-- Whom a scheduled start acts for, with the scopes that were held at the deployment; null: what former versions stored.
alter table agent_versions add column deployer jsonb;
-- Security contexts that bind what was deployed by a tool call, until a user deploys it anew; null: none.
alter table agent_versions add column context_ceilings text[];
alter table workflows add column context_ceilings text[];
-- Whom the runs of a webhook act for; null: a source of a former version.
alter table stimulus_sources add column creator jsonb;
