-- Who registered a version, for what its runs do with the deployer's permissions; null: what former versions stored.
alter table workflows add column if not exists deployer jsonb;
