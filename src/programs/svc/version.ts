/** The version of this program: what its build says, else the project's. */
import { version } from "../../../package.json";

/** Written into the program by its build (build.ts). */
declare const SVC_VERSION: string | undefined;

export const programVersion: string = typeof SVC_VERSION === "string" ? SVC_VERSION : version;
