-- Hosts whose actors have not heard yet of what their rows say; hardly any at a time.
create index edge_hosts_to_revoke on edge_hosts (id) where revoked_at is not null and status <> 'revoked';
create index edge_hosts_to_hold on edge_hosts (id) where revoked_at is null and held <> ('held' = any (not_accepting));
