/**
 * The `postgres` driver with five faults of 3.4.9 mended while it is loaded. Without this a node does not
 * survive the loss of its database: a write to a connection that has just closed ends the process
 * (porsager/postgres#1208, #1154); a write still buffered when a connection closes makes that place in
 * the pool unusable for ever; the last error of a closed connection fails the first query of its successor;
 * a transaction whose connection closed goes on over the connection that took its place; and a connection that is cut
 * while it is being opened, when the driver asks for the types of arrays, ends the process: that answer has no handler.
 *
 * Import the driver's value only from here; its types may come from the package.
 */
import { plugin } from "bun";
import type postgresTypes from "postgres";

interface Mend {
  readonly faulty: string;
  readonly mended: string;
}

const mends: Readonly<Record<string, readonly Mend[]>> = {
  "connection.js": [
    {
      faulty: "function nextWrite(fn) {\n",
      mended: `function nextWrite(fn) {
    if (socket === null) {
      chunk = nextWriteTimer = null
      error(Errors.connection('CONNECTION_CLOSED', options))
      query = null
      return true
    }
`,
    },
    {
      faulty: "incomings = null\n    clearImmediate(nextWriteTimer)\n",
      mended: "incomings = null\n    clearImmediate(nextWriteTimer)\n    chunk = nextWriteTimer = null\n",
    },
    {
      faulty: "closedTime = performance.now()\n",
      mended: "query = results = errorResponse = null\n    result = new Result()\n    closedTime = performance.now()\n",
    },
    {
      faulty: "`], [], execute)\n    types.forEach(",
      mended: "`], [], execute).catch(() => [])\n    types.forEach(",
    },
  ],
  "index.js": [
    {
      faulty: "new Promise((_, reject) => connection.onclose = reject)",
      mended: "new Promise((_, reject) => connection.onclose = error => { gone = error; reject(error) })",
    },
    { faulty: "let savepoints = 0\n", mended: "let savepoints = 0\n      , gone = null\n" },
    {
      faulty: "q.catch(e => uncaughtError || (uncaughtError = e))\n",
      mended:
        "q.catch(e => uncaughtError || (uncaughtError = e))\n        if (gone)\n          return q.reject(gone)\n",
    },
  ],
};

const mendedFiles = new Set<string>();

plugin({
  name: "postgres-mends",
  setup(build) {
    build.onLoad({ filter: /[\\/]node_modules[\\/]postgres[\\/]src[\\/](connection|index)\.js$/ }, async ({ path }) => {
      const name = path.endsWith("connection.js") ? "connection.js" : "index.js";
      let contents = await Bun.file(path).text();
      for (const { faulty, mended } of mends[name] ?? []) {
        if (contents.split(faulty).length !== 2)
          throw new Error(`the postgres driver has changed: mends do not fit ${name}`);
        contents = contents.replace(faulty, () => mended);
      }
      mendedFiles.add(name);
      return { contents, loader: "js" };
    });
  },
});

// Not a static import: those are loaded before anything here runs.
const driver = await import("postgres");
if (mendedFiles.size < Object.keys(mends).length) throw new Error("the postgres driver was loaded before its mends");

/** The driver's entry point. */
export const postgres: typeof postgresTypes = driver.default;
