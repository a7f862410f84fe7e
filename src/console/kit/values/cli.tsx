/** The same from a terminal. */
import { Command } from "./text.tsx";

/** A node on the reader's own machine runs from a checkout, where the program is a script of the package. */
const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);

/** @param args what stands behind the program's name: `runs list --watch` */
export function Cli({ args }: { readonly args: string }) {
  return <Command text={`${isLocal ? "npm run -s svc --" : "svc"} ${args}`} />;
}
