/** What a verb that calls the service begins with. */
import type { Invocation, serviceFlags } from "../command/verb.ts";
import { programVersion } from "../version.ts";
import { type Service, serviceOf } from "./client.ts";

/** @throws Failure `authentication` without SVC_USER_TOKEN, `usage` for a bad address */
export const connect = ({
  environment,
  flags,
}: Pick<Invocation<typeof serviceFlags>, "environment" | "flags">): Service =>
  serviceOf(environment, programVersion, flags["allow-plaintext"]);
