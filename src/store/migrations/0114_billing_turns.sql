-- Writes of one tenant at the payment provider take turns over all nodes. A turn holds no transaction: it is a row with an
-- end, which its node renews while it works.
create table billing_turns (
  tenant         text primary key,
  -- The turn that is under way; null: none is.
  held_by        uuid,
  held_until     timestamptz,
  -- What a customer is made with, and under which key, until it is known which one it became: made again after a reply was
  -- lost, it is the same customer.
  customer_draft jsonb
);
