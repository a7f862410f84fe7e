-- When a subscription was last read at the provider, Unix seconds by the service's clock; null: never. An older event
-- does not take the place of what was read.
alter table billing_subscriptions add column read_at bigint;
