/** The wire shapes of consents. */
import { type Static, Type } from "@sinclair/typebox";
import { Nullable, Time } from "../../../../actors/kernel/schema.ts";
import { Label, Provider, ScopeAsked } from "../schema.ts";

/** As RFC 6749 writes them. */
const Scopes = Type.Array(Type.String({ pattern: "^[\\x21\\x23-\\x5B\\x5D-\\x7E]{1,256}$" }), { maxItems: 50 });

export const NewConsent = Type.Object(
  {
    provider: Provider,
    redirect_uri: Type.Optional(Type.String({ maxLength: 2048 })),
    scopes: Type.Optional(Scopes),
    label: Type.Optional(Label),
    scope: Type.Optional(ScopeAsked),
  },
  { examples: [{ provider: "github", scopes: ["repo"], label: "work" }] },
);
export type NewConsent = Static<typeof NewConsent>;

export const Begun = Type.Object({
  auth_url: Type.String(),
  authorization_url: Type.String(),
  state_token: Type.String(),
  state: Type.String(),
  expires_at: Time,
  credential_id: Type.String(),
});
export type Begun = Static<typeof Begun>;

/** What the provider answers by the person's browser. */
export const CallbackFields = Type.Object(
  {
    state: Type.String({ maxLength: 256 }),
    code: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
    error: Type.Optional(Type.String({ maxLength: 256 })),
    iss: Type.Optional(Type.String({ maxLength: 2048 })),
  },
  { examples: [{ state: "<64 hex digits>", code: "<the code>" }] },
);
export type CallbackFields = Static<typeof CallbackFields>;
/** Providers add what they like. */
export const CallbackQuery = Type.Object({
  ...CallbackFields.properties,
  error_description: Type.Optional(Type.String()),
  error_uri: Type.Optional(Type.String()),
  scope: Type.Optional(Type.String()),
  session_state: Type.Optional(Type.String()),
});

export const Completed = Type.Object({
  id: Type.String(),
  credential_id: Type.String(),
  status: Type.Literal("active"),
  provider: Type.String(),
  stored: Type.Literal(true),
});
export type Completed = Static<typeof Completed>;

export const NewDeviceConsent = Type.Object(
  { provider: Provider, scopes: Type.Optional(Scopes), label: Type.Optional(Label) },
  { examples: [{ provider: "github" }] },
);
export type NewDeviceConsent = Static<typeof NewDeviceConsent>;

export const DeviceBegun = Type.Object({
  device_code: Type.String(),
  user_code: Type.String(),
  verification_uri: Type.String(),
  verification_uri_complete: Nullable(Type.String()),
  interval: Type.Integer(),
  expires_at: Time,
});
export type DeviceBegun = Static<typeof DeviceBegun>;

export const DevicePoll = Type.Object(
  { device_code: Type.String({ minLength: 1, maxLength: 256 }), provider: Provider },
  { examples: [{ device_code: "<as it was given>", provider: "github" }] },
);
export type DevicePoll = Static<typeof DevicePoll>;

export const DeviceState = Type.Object({
  status: Type.Union([Type.Literal("pending"), Type.Literal("approved"), Type.Literal("denied")]),
  credential_id: Nullable(Type.String()),
  interval: Type.Integer(),
  reason: Nullable(Type.String()),
});
export type DeviceState = Static<typeof DeviceState>;

/** By the names that the API document gives them. */
export const named = {
  NewOAuthConsent: NewConsent,
  OAuthConsent: Begun,
  OAuthCallback: CallbackFields,
  OAuthCompleted: Completed,
  NewDeviceConsent,
  DeviceConsent: DeviceBegun,
  DevicePoll,
  DeviceConsentState: DeviceState,
};
