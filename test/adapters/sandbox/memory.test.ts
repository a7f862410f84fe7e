/** Memory where control groups cannot be written (docs/reference/sandboxes.md): the supervisor counts what the kernel would. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { bubblewrapWorks, processFixture } from "./fixture.ts";
import { runToEnd, specOf } from "./instances.ts";

const works = await bubblewrapWorks();
const mebibyte = 2 ** 20;
const limits = { cpuMillicores: 1_000, memoryBytes: 64 * mebibyte, diskBytes: 256 * mebibyte, processes: 64 };

/** Python that takes much more than the limit in one way, and says which. */
const python = (...lines: string[]) => `python3 -c '${["import ctypes, mmap, os, time", ...lines].join("\n")}'`;
const chunk = 'x = b"x" * 1000000';

describe.skipIf(!works)("without control groups the memory limit counts", () => {
  let fixture: Awaited<ReturnType<typeof processFixture>>;
  beforeAll(async () => {
    fixture = await processFixture({ cgroups: false });
  });
  afterAll(() => fixture.dispose());
  const end = async (script: string) => (await runToEnd(fixture.sandbox, specOf(fixture, script, { limits }))).exit;

  test.each([
    ["what a process has for itself", [chunk, "y = x * 200", "time.sleep(20)"]],
    [
      "deleted files of its own file systems in memory",
      [
        chunk,
        "def hold(path):",
        "  f = os.open(path, os.O_CREAT | os.O_RDWR); os.unlink(path)",
        "  for n in range(45): os.write(f, x)",
        'hold("/tmp/a"); hold("/dev/shm/a")',
        "time.sleep(20)",
      ],
    ],
    [
      "empty files in memory, for what the kernel keeps of each",
      ['for n in range(100000): os.close(os.open(f"/tmp/{n}", os.O_CREAT))', "time.sleep(20)"],
    ],
    [
      "shared pages that only a child has touched that ended",
      [
        "m = mmap.mmap(-1, 200000000)",
        "if os.fork() == 0:",
        "  for n in range(0, 200000000, 4096): m[n] = 1",
        "  os._exit(0)",
        "os.wait(); time.sleep(20)",
      ],
    ],
    [
      "many processes that are small each",
      [
        chunk,
        "for n in range(12):",
        "  if os.fork() == 0:",
        "    y = x * 10; time.sleep(20); os._exit(0)",
        "time.sleep(20)",
      ],
    ],
  ])(
    "%s",
    async (_, lines) => {
      const { reason } = await end(python(...lines));
      expect(reason).toBe("out_of_memory");
    },
    30_000,
  );

  test("what could not be counted by refusing it: memfds, System V segments", async () => {
    const calls = [
      "libc = ctypes.CDLL(None, use_errno=True)",
      "def refused(name, *given):",
      "  ctypes.set_errno(0); print(name, getattr(libc, name)(*given), ctypes.get_errno())",
      'refused("memfd_create", b"m", 0); refused("shmget", 0, 4096, 0o1600)',
      'refused("semget", 0, 1, 0o1600); refused("msgget", 0, 0o1600)',
    ];
    const { stdout } = await end(python(...calls));
    expect(stdout).toBe("memfd_create -1 38\nshmget -1 38\nsemget -1 38\nmsgget -1 38\n");
  });

  test("what one process takes at once, before anybody looks, in the kernel", async () => {
    const { stdout } = await end(
      python("try: mmap.mmap(-1, 4 << 30, mmap.MAP_PRIVATE)", "except OSError as e: print(e.errno)"),
    );
    expect(stdout).toBe("12\n");
  });

  test("and says that what the kernel keeps for pipes and sockets is not held", () => {
    const { unenforcedLimits } = fixture.sandbox.describe();
    expect(unenforcedLimits).toContain("kernel_memory");
    expect(unenforcedLimits).not.toContain("memory");
  });

  test("pages that processes share once, and files on disk not at all", async () => {
    const sharing = [
      'x = b"x" * 30000000',
      "for n in range(6):",
      "  if os.fork() == 0: time.sleep(2); os._exit(0)",
      "for n in range(6): os.wait()",
    ];
    const script = `head -c 150000000 /dev/zero > big; cat big > /dev/null; ${python(...sharing)}; echo done`;
    expect(await end(script)).toMatchObject({ reason: "exited", stdout: "done\n" });
  }, 30_000);
});

test("without a sandbox memfds count, and the limit is not claimed", async () => {
  const fixture = await processFixture({ cgroups: false, bubblewrap: false });
  const held = ['f = os.memfd_create("m")', chunk, "for n in range(200): os.write(f, x)", "time.sleep(20)"];
  const { exit } = await runToEnd(fixture.sandbox, specOf(fixture, python(...held), { limits }));
  expect(exit.reason).toBe("out_of_memory");
  expect(fixture.sandbox.describe().unenforcedLimits).toContain("memory");
  await fixture.dispose();
}, 30_000);
