/** The operators' programs, run as processes on the stores of a test. */
import { join } from "node:path";
import { type TestStores, testDataDir } from "../harness/stores.ts";

/** @param name of a folder in `src/programs` */
export function operatorProgram(name: string, stores: () => TestStores) {
  const program = join(import.meta.dir, "../../src/programs", name, "main.ts");
  return async (args: readonly string[], changes: Readonly<Record<string, string>> = {}) => {
    const { databaseUrl, redisUrl, schema, prefix } = stores();
    const child = Bun.spawn([process.execPath, program, ...args], {
      env: {
        PATH: process.env.PATH ?? "",
        SVC_MODE: "development",
        DATABASE_URL: databaseUrl,
        REDIS_URL: redisUrl,
        SVC_DATABASE_SCHEMA: schema,
        SVC_REDIS_PREFIX: prefix,
        SVC_DATA_DIR: testDataDir,
        ...changes,
      },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { out, err, code: await child.exited };
  };
}
