/** What other features may use of execution tokens. */
export { carriesToken, identify, pathPrefix, withoutPathToken } from "./carried.ts";
export {
  type ExecutionClaims,
  type ExecutionIdentity,
  type ExecutionTokens,
  egressUser,
  invalidToken,
} from "./claims.ts";
