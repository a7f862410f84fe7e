-- Sign-ins that were handed to a tenant's own identity provider: its answer counts once, and for its own request.
create table saml_requests (
  -- As the request calls itself.
  id         text primary key,
  tenant     text not null,
  realm      text not null,
  -- The sign-in that it belongs to.
  bound_to   text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at    timestamptz
);
create index saml_requests_expired on saml_requests (expires_at);
create index saml_requests_of_tenant on saml_requests (tenant);
