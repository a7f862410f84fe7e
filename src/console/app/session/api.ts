/** The service, with the identity of the signed-in caller. */
import { createClient } from "../../../programs/client/client.ts";
import { serviceUrl } from "./place.ts";
import { token } from "./session.ts";

export const svc = createClient({ url: serviceUrl, token });
