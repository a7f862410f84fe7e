-- outside of a transaction
-- Operators list the incidents of all tenants, newest first.
drop index concurrently if exists security_incidents_of_all;
create index concurrently security_incidents_of_all on security_incidents (created_at desc, id desc);
