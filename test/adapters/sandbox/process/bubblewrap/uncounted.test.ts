/** Ways to take disk or memory that a look at processes and directories could miss (docs/reference/sandboxes.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { accessSync, chownSync, constants, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { supervisorScript } from "../../../../../src/adapters/sandbox/process/launch/start-text.ts";
import { measure } from "../../../../../src/features/volumes/layout.ts";
import { removeDirectory } from "../../../../../src/lib/files/remove-directory.ts";
import { scratch } from "../../../../harness/scratch.ts";
import { bubblewrapWorks, processFixture } from "../../fixture.ts";
import { runToEnd, specOf } from "../../instances.ts";

const works = await bubblewrapWorks();
const isRoot = process.getuid?.() === 0;
const mebibyte = 2 ** 20;
const limits = { cpuMillicores: 1_000, memoryBytes: 128 * mebibyte, diskBytes: 16 * mebibyte, processes: 64 };

const python = (...lines: string[]) =>
  `python3 -c '${["import ctypes, os, threading, time", "libc = ctypes.CDLL(None)", ...lines].join("\n")}'`;
/** Takes 60 MB in ten files that have no name any more, then waits. */
const hold = [
  "held = []",
  "def hold():",
  "  for n in range(10):",
  '    held.append(os.open(f"/workspace/{n}", os.O_CREAT | os.O_RDWR)); os.unlink(f"/workspace/{n}")',
  '    os.write(held[-1], b"x" * 6000000)',
  "  time.sleep(20); os._exit(0)",
];
/** The first thread of the process ends, with exit(2) alone; another one goes on. */
const secondThread = (body: string, call: number) => [
  "def second():",
  "  time.sleep(0.2)",
  `  ${body}`,
  "thread = threading.Thread(target=second); thread.start()",
  `libc.syscall(${call}, 0)`,
  "thread.join()",
];
const [exit, unshare, fallocate] = process.arch === "arm64" ? [93, 97, 47] : [60, 272, 285];

describe.skipIf(!works)("is counted where it is not seen at once:", () => {
  let fixture: Awaited<ReturnType<typeof processFixture>>;
  beforeAll(async () => {
    fixture = await processFixture();
  });
  afterAll(() => fixture.dispose());

  test.each([
    ["of a process whose first thread has ended", [...hold, ...secondThread("hold()", exit), "time.sleep(20)"]],
    [
      "of a thread with descriptors of its own",
      [...hold, "def own():", `  libc.syscall(${unshare}, 0x400); hold()`, "threading.Thread(target=own).start()"],
    ],
    ["of a process that hides its descriptors", [...hold, "libc.prctl(4, 0, 0, 0, 0)", "hold()"]],
  ])(
    "the disk behind deleted files %s",
    async (_, lines) => {
      const { exit } = await runToEnd(fixture.sandbox, specOf(fixture, `${python(...lines)}; sleep 20`, { limits }));
      expect(exit.reason).toBe("disk_exceeded");
    },
    30_000,
  );

  test("the disk behind deleted files of a volume that is the workspace", async () => {
    const mounts = [{ source: fixture.volume(), target: "/workspace", readOnly: false }];
    const { exit } = await runToEnd(fixture.sandbox, specOf(fixture, python(...hold, "hold()"), { limits, mounts }));
    expect(exit.reason).toBe("disk_exceeded");
  }, 30_000);

  test("what lies in a directory that its owner has closed; and it can be removed", async () => {
    const fill = "mkdir d; head -c 12000000 /dev/zero > d/f; chmod 0 d; head -c 12000000 /dev/zero > f";
    const spec = specOf(fixture, `${fill}; sleep 20`, { limits });
    const { exit } = await runToEnd(fixture.sandbox, spec);
    expect(exit.reason).toBe("disk_exceeded");
    const workspace = fixture.workspace(spec.executionId);
    // The second file is cut off where the limit was seen to be exceeded, which it is with the closed one alone.
    expect((await measure(workspace)).bytes).toBeGreaterThan(limits.diskBytes);
    await removeDirectory(workspace);
    expect(existsSync(workspace)).toBe(false);
  }, 30_000);

  test("no call takes room of a disk without writing to it; holes may be made", async () => {
    const lines = [
      "import errno",
      "libc = ctypes.CDLL(None, use_errno=True)",
      'f = os.open("/workspace/f", os.O_CREAT | os.O_RDWR); os.write(f, b"x" * 9000)',
      "def call(mode): return libc.fallocate(f, mode, ctypes.c_long(0), ctypes.c_long(1 << 30)) and errno.errorcode[ctypes.get_errno()]",
      // FS_IOC_RESVSP64: from the start, 1 GiB.
      "import fcntl, struct",
      "try: fcntl.ioctl(f, 0x4030582a, struct.pack('hhqqiI16x', 0, 0, 0, 1 << 30, 0, 0)); taken = 'taken'",
      "except OSError as e: taken = errno.errorcode[e.errno]",
      "print(call(0), call(1), call(16), call(3), taken, os.fstat(f).st_blocks < 100)",
    ];
    const text = `cat > p.py <<'END'\n${["import ctypes, os", ...lines].join("\n")}\nEND\npython3 p.py`;
    const { exit } = await runToEnd(fixture.sandbox, specOf(fixture, text));
    expect(exit.stdout.trim()).toBe("ENOTSUP ENOTSUP ENOTSUP 0 ENOTSUP True");
    expect(fallocate).toBeGreaterThan(0);
  });

  test("without control groups, the memory of a process whose first thread has ended", async () => {
    const uncounted = await processFixture({ cgroups: false });
    const grow = 'kept = [b"x" * 10000000 for n in range(40)]; time.sleep(20); os._exit(0)';
    const text = `${python(...secondThread(grow, exit), "time.sleep(20)")}; sleep 20`;
    const { exit: end } = await runToEnd(uncounted.sandbox, specOf(uncounted, text, { limits }));
    await uncounted.dispose();
    expect(end.reason).toBe("out_of_memory");
  }, 30_000);
});

test("the least memory limit leaves our own programs the room that they reserve", async () => {
  const script = supervisorScript([], { ...limits, memoryBytes: 16 * mebibyte }, false);
  const child = Bun.spawn(["/bin/sh", "-c", script, "svc", process.execPath, "-e", "console.log(1)"], {
    stderr: "pipe",
  });
  expect([await new Response(child.stdout).text(), await child.exited]).toEqual(["1\n", 0]);
});

const ordinary = 65_534;
/** Whether the other user can read what is run here. */
const isReadable = (path: string): boolean => {
  try {
    for (let at = path; at !== "/"; at = join(at, "..")) if ((statSync(at).mode & 0o005) !== 0o005) return false;
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
};

test.skipIf(!works || !isRoot || !isReadable(join(import.meta.dir, "..")) || !isReadable(process.execPath))(
  "all of it holds for a service that is no root",
  async () => {
    const directory = scratch("ordinary");
    chownSync(directory, ordinary, ordinary);
    chownSync(join(directory, ".."), ordinary, ordinary);
    const child = Bun.spawn(
      [
        "setpriv",
        `--reuid=${ordinary}`,
        `--regid=${ordinary}`,
        "--clear-groups",
        process.execPath,
        "test",
        import.meta.path,
      ],
      { env: { PATH: process.env.PATH, TMPDIR: directory, HOME: directory }, stdio: ["ignore", "pipe", "pipe"] },
    );
    const [words, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
    expect([code, code === 0 ? "" : words.slice(-4_000)]).toEqual([0, ""]);
    expect(words).toContain(" 0 fail");
  },
  120_000,
);
