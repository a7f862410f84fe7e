/** What the rest of the service may use of OAuth providers. */
export {
  authorizationUrl,
  beginDevice,
  exchangeCode,
  newVerifier,
  OAuthFailure,
  pollDevice,
  refreshTokens,
  revokeToken,
  type TokenAnswer,
} from "./client.ts";
export { type OAuthProvider, oauthSettings, readOAuthProviders } from "./provider.ts";
