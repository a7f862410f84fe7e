-- Who registered a version is a subject of one realm; null: what former versions stored.
alter table workflows add column registered_realm text;
