-- Billing: who is a customer of the payment provider, what is subscribed there, and what the provider told.

-- Of the subscription that counts for a tenant, beside its tier: null where none is live.
alter table tenants
  -- The owner counted.
  add column subscription_seats integer check (subscription_seats >= 1),
  add column subscription_period_end timestamptz,
  -- The provider's word, also where it is not live any more; null: there was never one.
  add column subscription_status text;

create table billing_customers (
  tenant      text primary key,
  -- The provider's.
  customer_id text not null unique,
  created_at  timestamptz not null default now(),
  -- When its subscriptions were last compared with the provider's; null: never.
  checked_at  timestamptz
);
create index billing_customers_to_check on billing_customers (coalesce(checked_at, created_at));

-- Every subscription that was seen (actors/billing/subscription.ts), ended ones included.
create table billing_subscriptions (
  -- The provider's, as all ids here.
  subscription_id      text primary key,
  tenant               text not null,
  customer_id          text not null,
  -- When it was made there.
  created_at           timestamptz not null,
  -- As the provider has it.
  status               text not null,
  -- Of the price of its base item; null: that is none of ours.
  tier                 text check (tier in ('pro', 'business', 'enterprise')),
  billing_interval     text check (billing_interval in ('month', 'year')),
  base_item_id         text,
  base_price_id        text,
  seat_item_id         text,
  seat_price_id        text,
  included_seats       integer not null default 0 check (included_seats >= 0),
  extra_seats          integer not null default 0 check (extra_seats >= 0),
  current_period_end   timestamptz,
  cancel_at_period_end boolean not null default false,
  -- What it changes to, and when; its schedule there.
  schedule_id          text,
  pending_tier         text check (pending_tier in ('free', 'pro', 'business', 'enterprise')),
  pending_at           timestamptz,
  -- When the newest event that was applied was made, Unix seconds; null: none was.
  applied_event_at     bigint,
  -- When payments failed, Unix seconds, ascending, and when it was last known to be in order.
  failed_at            bigint[] not null default '{}',
  in_order_at          bigint,
  -- Until when a past due one still gives its tier; null: it is not past due.
  grace_ends_at        timestamptz,
  -- Whether what it gives now is part of its tenant's row: the end of a grace clears it.
  is_live              boolean not null default false,
  -- Counts changes: what was read at the provider before one is not written after it.
  revision             bigint not null default 1,
  updated_at           timestamptz not null default now()
);
create index billing_subscriptions_of_tenant on billing_subscriptions (tenant);
create index billing_subscriptions_of_customer on billing_subscriptions (customer_id);
create index billing_subscriptions_grace on billing_subscriptions (grace_ends_at) where is_live and grace_ends_at is not null;

-- What the provider told: stored before it is answered, worked through afterwards, kept for its retention.
create table billing_events (
  -- The provider's: the same event comes again under the same one.
  event_id    text primary key,
  seq         bigint generated always as identity,
  type        text not null,
  -- When the provider made it, Unix seconds.
  event_at    bigint not null,
  -- Once it is known.
  tenant      text,
  customer_id text,
  -- As it was signed.
  body        text not null,
  state       text not null check (state in ('received', 'applied', 'ignored', 'unmatched', 'dead')),
  attempts    integer not null default 0,
  -- When a received one is to be worked on; ahead of now while a node does.
  due_at      timestamptz not null default now(),
  error       text,
  received_at timestamptz not null default now(),
  settled_at  timestamptz
);
create index billing_events_due on billing_events (due_at, seq) where state = 'received';
create index billing_events_unmatched on billing_events (customer_id) where state = 'unmatched';
create index billing_events_of_tenant on billing_events (tenant) where tenant is not null;
create index billing_events_settled on billing_events (settled_at) where settled_at is not null;
