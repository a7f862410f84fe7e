/** The same from a terminal. */
import { isDevelopment } from "../../app/session/session.ts";
import { Command } from "./text.tsx";

/** Names of the reader's own machine. */
const here = ["localhost", "127.0.0.1", "[::1]"];

/**
 * A development node on the reader's machine runs from a checkout, where the program is a script of the package.
 * @param args what stands behind the program's name: `runs list --watch`
 */
export function Cli({ args }: { readonly args: string }) {
  const isCheckout = isDevelopment() && here.includes(location.hostname);
  return <Command text={`${isCheckout ? "npm run -s svc --" : "svc"} ${args}`} />;
}
