-- Teams, the people in them, who is invited, and the mail that tells of it.

-- A team is a tenant of its own: its row in `tenants`, its people in `tenant_members`.

create table invitations (
  id             uuid primary key,
  tenant         text not null,
  -- As it was written, and with the letters A-Z made small: by this it is compared.
  address        text not null,
  address_folded text collate "C" not null,
  role           text not null check (role in ('admin', 'member')),
  -- SHA-256 in hex of what the invited person has.
  token_hash     text not null,
  status         text not null default 'pending'
    check (status in ('pending', 'accepted', 'cancelled', 'replaced', 'expired')),
  -- Who accepted it.
  realm          text,
  user_id        text,
  -- Accepted by signing in, so that the link has not been used yet.
  by_sign_in     boolean not null default false,
  created_at     timestamptz not null default now(),
  expires_at     timestamptz not null,
  ended_at       timestamptz
);
create unique index invitations_token on invitations (token_hash);
create unique index invitations_pending on invitations (tenant, address_folded) where status = 'pending';
create index invitations_of_tenant on invitations (tenant, created_at, id);
create index invitations_of_member on invitations (tenant, realm, user_id) where status = 'accepted';
-- Those that ended long ago are erased.
create index invitations_by_age on invitations (expires_at);

-- What an identity provider of a tenant's own is to be told of.
create table saml_settings (
  tenant       text primary key,
  entity_id    text not null,
  sso_url      text not null,
  -- As it was given: PEM, or base64 of DER. Public.
  certificate  text not null,
  provisioning text not null check (provisioning in ('manual', 'pending', 'applied', 'failed')),
  updated_at   timestamptz not null default now()
);
create unique index saml_settings_entity on saml_settings (entity_id) where provisioning in ('pending', 'applied');

-- Mail to people: what is to be sent, and how many were written to whom.
create table mails (
  id             uuid primary key,
  tenant         text not null,
  -- SHA-256 in hex of the address: counted by it without naming it.
  address_digest text not null,
  -- Recipient, subject and text, encrypted; null once it was sent or given up.
  ciphertext     text,
  attempts       integer not null default 0,
  next_at        timestamptz not null,
  -- It is of no use later.
  expires_at     timestamptz not null,
  created_at     timestamptz not null
);
create index mails_of_tenant on mails (tenant, created_at);
create index mails_of_address on mails (address_digest, created_at);
create index mails_due on mails (next_at) where ciphertext is not null;
