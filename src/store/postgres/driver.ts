/**
 * The `postgres` driver, mended while it is loaded. First its faults (3.4.9): without this a node does not
 * survive the loss of its database: a write to a connection that has just closed ends the process
 * (porsager/postgres#1208, #1154); a write still buffered when a connection closes makes that place in
 * the pool unusable for ever; the last error of a closed connection fails the first query of its successor;
 * a transaction whose connection closed goes on over the connection that took its place; a connection that is cut
 * while it is being opened, when the driver asks for the types of arrays, ends the process: that answer has no handler;
 * a server that accepts connections and closes them before it greets is tried for ever, its query never fails; and
 * without pipelining a transaction never takes its connection.
 *
 * Then what a pool has to be told from outside (`PoolControl`), since the driver has no time limit for a query: how
 * long each connection has been silent over its work, giving a connection up, and refusing queries while the database
 * is away. Where a host is named by its address, its certificate is compared with that address.
 *
 * And of the free connections the one used last is used next: its server process has the statements prepared and
 * planned, and its memory in the processor's cache. Taking them in turn cost a third more of the database's CPU time.
 *
 * A message to the server is put together in one buffer that is kept, and copied out of it once. Each was begun in 256
 * bytes, which were grown and copied time and again, and was then copied twice more: two fifths of the node's CPU time
 * for a commit of 66 kB, the rubbish not reckoned.
 *
 * Import the driver's value only from here; its types may come from the package.
 */
import { basename } from "node:path";
import { plugin } from "bun";
import type postgresTypes from "postgres";

interface Mend {
  readonly faulty: string;
  readonly mended: string;
}

/** Marks errors of a connection rather than of a statement: those of sockets, names and TLS. */
export const connectionFailure: unique symbol = Symbol.for("svc.connection-failure");

/** What the pool asks of its owner; set as `sql.options.control`. */
export interface PoolControl {
  /** Why queries are refused at once; null while they are not. */
  away(): Error | null;
  /** Told of every error, before the query is. */
  failed(error: unknown): void;
}

/** One connection of a pool, as the mended driver shows it. */
export interface PoolConnection {
  /** How long the server has sent nothing while a query waits for its answer, ms; 0 without one. */
  silentMs(): number;
  /** Fails its queries and closes it. */
  interrupt(error: Error): void;
  /** Asks the server, over a connection of its own, to end the statement that it works on. */
  cancelStatement(): Promise<void>;
  /** Identity of the server's process as the greeting told it. */
  readonly backend: { readonly pid: number | null; readonly secret: number | null };
}

/** What the mended driver adds to a pool. */
export interface ControlledPool {
  readonly connections: readonly PoolConnection[];
  /** Fails what waits and what is under way, and closes every connection; queries that come later open new ones. */
  interrupt(error: Error): void;
  readonly options: { control?: PoolControl; readonly host: string[]; readonly port: number[] };
}

const mends: Readonly<Record<string, readonly Mend[]>> = {
  "connection.js": [
    {
      faulty: "  function error(err) {\n",
      mended: `  function interrupt(err) {
    error(err)
    socket && socket.destroy()
  }

  function cancelStatement() {
    return new Promise((resolve, reject) => Connection(options).cancel({ ...backend }, resolve, reject))
  }

  function silentMs() {
    return query || sent.length ? performance.now() - lastAt : 0
  }

  function error(err) {
    err && typeof err === 'object' && (err[Symbol.for('${connectionFailure.description}')] = true)
`,
    },
    {
      faulty: "    cancel,\n    end,\n    count: 0,\n",
      mended:
        "    cancel,\n    end,\n    interrupt,\n    cancelStatement,\n    silentMs,\n    backend,\n    count: 0,\n",
    },
    {
      faulty:
        "        && sent.length < max_pipeline\n        && (!q.options.onexecute || q.options.onexecute(connection))\n",
      mended:
        "        && (!q.options.onexecute || q.options.onexecute(connection))\n        && sent.length < max_pipeline\n",
    },
    { faulty: "    , closedTime = 0\n", mended: "    , closedTime = 0\n    , lastAt = 0\n" },
    {
      faulty: ": (query = q, query.active = true)\n",
      mended: ": (query = q, query.active = true, lastAt = performance.now())\n",
    },
    { faulty: "  function data(x) {\n", mended: "  function data(x) {\n    lastAt = performance.now()\n" },
    {
      faulty: "    if (initial)\n      return reconnect()\n",
      mended: "    initial && error(Errors.connection('CONNECTION_CLOSED', options, socket))\n",
    },
    {
      faulty: "  function errored(err) {\n",
      mended: "  function errored(err) {\n    options.control && options.control.failed(err)\n",
    },
    {
      faulty: "  function NoticeResponse(x) {\n",
      mended: `  function NoticeResponse(x) {
    const notice = parseError(x)
    if (query && /canceling (the )?wait for synchronous replication/.test(notice.message))
      errorResponse = Errors.postgres({ ...notice, code: '40003' })
`,
    },
    {
      faulty: "servername: net.isIP(socket.host) ? undefined : socket.host\n",
      mended: "servername: net.isIP(socket.host) ? undefined : socket.host,\n      host: socket.host\n",
    },
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
    { faulty: "Buffer.concat([chunk, x]) : Buffer.from(x)\n", mended: "Buffer.concat([chunk, x]) : x\n" },
    {
      faulty: `    return Buffer.concat([
      Bind(q.parameters, q.statement.types, q.statement.name, q.cursorName),
      q.cursorFn
        ? Execute('', q.cursorRows)
        : ExecuteUnnamed
    ])
`,
      mended: `    return Bind(q.parameters, q.statement.types, q.statement.name, q.cursorName, q.cursorFn
      ? Execute('', q.cursorRows)
      : ExecuteUnnamed)
`,
    },
    {
      faulty: "  function Bind(parameters, types, statement = '', portal = '') {\n",
      mended: "  function Bind(parameters, types, statement = '', portal = '', after = null) {\n",
    },
    {
      faulty: "    b.i16(0)\n\n    return b.end()\n",
      mended: "    b.i16(0)\n\n    return b.end(1, after)\n",
    },
  ],
  "bytes.js": [
    {
      faulty: "let buffer = Buffer.allocUnsafe(size)\n",
      mended: "const kept = 65536, most = 1048576\nlet buffer = Buffer.allocUnsafe(kept)\n",
    },
    {
      faulty: "  end(at = 1) {\n    buffer.writeUInt32BE(b.i - at, at)\n    const out = buffer.subarray(0, b.i)\n",
      mended: `  end(at = 1, after = null) {
    buffer.writeUInt32BE(b.i - at, at)
    if (after !== null) {
      fit(after.length)
      b.i += after.copy(buffer, b.i)
    }
    const out = Buffer.from(buffer.subarray(0, b.i))
`,
    },
    {
      faulty: "    buffer = Buffer.allocUnsafe(size)\n    return out\n",
      mended: "    if (buffer.length > most) buffer = Buffer.allocUnsafe(kept)\n    return out\n",
    },
  ],
  "index.js": [
    {
      faulty: "    begin,\n    close,\n    end\n",
      mended: `    begin,
    close,
    end,
    connections,
    interrupt: error => {
      while (queries.length)
        queries.shift().reject(error)
      connections.forEach(c => c.interrupt(error))
    }
`,
    },
    {
      faulty: "return query.reject(Errors.connection('CONNECTION_ENDED', options, options))\n",
      mended: `return query.reject(Errors.connection('CONNECTION_ENDED', options, options))

    const away = options.control && options.control.away()
    if (away)
      return query.reject(away)
`,
    },
    {
      faulty: "new Promise((_, reject) => connection.onclose = reject)",
      mended: "new Promise((_, reject) => connection.onclose = error => { gone = error; reject(error) })",
    },
    {
      faulty: "      , open = Queue()\n",
      mended: `      , free = []
      , open = {
        get length() { return free.length },
        push: x => (free.push(x), x),
        shift: () => free.pop(),
        remove: x => { const at = free.indexOf(x); return at === -1 ? null : (free.splice(at, 1), x) },
      }
`,
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
    build.onLoad(
      { filter: /[\\/]node_modules[\\/]postgres[\\/]src[\\/](connection|index|bytes)\.js$/ },
      async ({ path }) => {
        const name = basename(path);
        let contents = await Bun.file(path).text();
        for (const { faulty, mended } of mends[name] ?? []) {
          if (contents.split(faulty).length !== 2)
            throw new Error(`the postgres driver has changed: mends do not fit ${name}`);
          contents = contents.replace(faulty, () => mended);
        }
        mendedFiles.add(name);
        return { contents, loader: "js" };
      },
    );
  },
});

// Not a static import: those are loaded before anything here runs.
const driver = await import("postgres");
if (mendedFiles.size < Object.keys(mends).length) throw new Error("the postgres driver was loaded before its mends");

/** The driver's entry point. */
export const postgres: typeof postgresTypes = driver.default;
