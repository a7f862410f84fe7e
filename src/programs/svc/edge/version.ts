/** The version of this program: what its build says, else the project's. */
import { version } from "../../../../package.json";

/** Written into the program by its build (release/build.ts). */
declare const SVC_EDGE_VERSION: string | undefined;

export const programVersion: string = typeof SVC_EDGE_VERSION === "string" ? SVC_EDGE_VERSION : version;
