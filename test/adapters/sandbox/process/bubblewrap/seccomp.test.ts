/** The filter of system calls, run by an interpreter of its own for both architectures; the kernel runs it in bubblewrap.test.ts. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Architecture, seccompFilter } from "../../../../../src/adapters/sandbox/process/bubblewrap/seccomp.ts";

interface Call {
  readonly architecture: number;
  readonly call: number;
  readonly arguments?: readonly number[];
}

const permit = 0x7fff_0000;
const kill = 0x8000_0000;
const fails = (errno: number) => 0x0005_0000 + errno;
const [EPERM, ENOSYS, EOPNOTSUPP, EAFNOSUPPORT] = [fails(1), fails(38), fails(95), fails(97)];

/** Classic BPF as far as the filter uses it. @throws for an instruction that it does not know, or a way that does not end */
function answerOf(filter: Uint8Array, { architecture, call, arguments: given = [] }: Call): number {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, call, true);
  data.setUint32(4, architecture, true);
  for (const [index, value] of given.entries()) data.setUint32(16 + 8 * index, value, true);
  const code = new DataView(filter.buffer, filter.byteOffset, filter.byteLength);
  let accumulator = 0;
  for (let at = 0; at * 8 < filter.byteLength; at += 1) {
    const [yes, no] = [code.getUint8(at * 8 + 2), code.getUint8(at * 8 + 3)];
    const value = code.getUint32(at * 8 + 4, true);
    const step = (holds: boolean) => {
      at += holds ? yes : no;
    };
    switch (code.getUint16(at * 8, true)) {
      case 0x20:
        accumulator = data.getUint32(value, true);
        break;
      case 0x06:
        return value;
      case 0x15:
        step(accumulator === value);
        break;
      case 0x25:
        step(accumulator > value);
        break;
      case 0x45:
        step((accumulator & value) !== 0);
        break;
      default:
        throw new Error("unknown instruction");
    }
  }
  throw new Error("the program ran past its end");
}

const audit = { x64: 0xc000_003e, arm64: 0xc000_00b7 };
const calls = {
  x64: { read: 0, openat: 257, execve: 59, mount: 165, ptrace: 101, keyctl: 250, bpf: 321, unshare: 272, clone: 56 },
  arm64: { read: 63, openat: 56, execve: 221, mount: 40, ptrace: 117, keyctl: 219, bpf: 280, unshare: 97, clone: 220 },
};
const byArguments = {
  x64: { socket: 41, socketpair: 53, ioctl: 16, personality: 135, fallocate: 285 },
  arm64: { socket: 198, socketpair: 199, ioctl: 29, personality: 92, fallocate: 47 },
};

describe.each(["x64", "arm64"] as const)("the filter of system calls on %s", (name: Architecture) => {
  const filter = seccompFilter(name, true) ?? new Uint8Array();
  const architecture = audit[name];
  const answer = (call: number, ...given: number[]) => answerOf(filter, { architecture, call, arguments: given });
  const { read, openat, execve, unshare, clone, ...refused } = calls[name];
  const { socket, socketpair, ioctl, personality, fallocate } = byArguments[name];

  test("permits what programs do, and refuses what only an escape needs", () => {
    for (const call of [read, openat, execve]) expect(answer(call)).toBe(permit);
    for (const call of Object.values(refused)) expect(answer(call)).toBe(EPERM);
    // clone3, io_uring_setup, a call of a later kernel, one of the x32 interface.
    for (const call of [435, 425, 5_000, 0x4000_0000 + read]) expect(answer(call)).toBe(ENOSYS);
  });

  test("where no control group counts memory, what cannot be counted is absent", () => {
    const strict = seccompFilter(name, false) ?? new Uint8Array();
    const uncountable = name === "x64" ? [319, 29, 64, 68, 278] : [279, 194, 190, 186, 75];
    expect(uncountable.map((call) => answer(call))).toEqual(Array(5).fill(permit));
    expect(uncountable.map((call) => answerOf(strict, { architecture, call }))).toEqual(Array(5).fill(ENOSYS));
    expect(answerOf(strict, { architecture, call: read })).toBe(permit);
  });

  test("no program of another architecture runs: its numbers mean other calls", () => {
    const other = name === "x64" ? [audit.arm64, 0x4000_0003] : [audit.x64, 0x4000_0028];
    for (const each of other) expect(answerOf(filter, { architecture: each, call: read })).toBe(kill);
  });

  test("threads and processes may be made, namespaces may not", () => {
    const [threads, fork] = [0x003d_0f00, 0x0120_0011];
    expect([answer(clone, threads), answer(clone, fork), answer(unshare, 0x400)]).toEqual([permit, permit, permit]);
    const namespaces = [0x2_0000, 0x200_0000, 0x400_0000, 0x800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000];
    fc.assert(
      fc.property(fc.constantFrom(...namespaces), fc.nat(0x7fff_ffff), (bit, rest) => {
        expect([answer(clone, bit | rest), answer(unshare, bit | rest)]).toEqual([EPERM, EPERM]);
      }),
    );
    expect(answer(unshare, 0x80)).toBe(EPERM);
  });

  test("sockets of local and IP families only, no input put into terminals", () => {
    const families = Array.from({ length: 50 }, (_, family) => family);
    expect(families.filter((family) => answer(socket, family) === permit)).toEqual([1, 2, 10, 16]);
    expect(families.filter((family) => answer(socketpair, family) === permit)).toEqual([1]);
    // NETLINK_XFRM, NETLINK_NETFILTER, NETLINK_CRYPTO; AF_VSOCK.
    for (const given of [
      [16, 3, 6],
      [16, 3, 12],
      [16, 3, 21],
      [40, 1, 0],
    ]) {
      expect(answer(socket, ...given)).toBe(EAFNOSUPPORT);
    }
    expect([0x5401, 0x5412, 0x541c].map((request) => answer(ioctl, 0, request))).toEqual([permit, EPERM, EPERM]);
    expect([0, 0xffff_ffff, 0x40_0000].map((value) => answer(personality, value))).toEqual([permit, permit, EPERM]);
  });

  test("no call takes room of a disk unwritten, or makes a subvolume", () => {
    expect([0, 1, 2, 3, 16, 17, 32].map((mode) => answer(fallocate, 5, mode) === permit)).toEqual([
      false,
      false,
      false,
      true,
      false,
      false,
      false,
    ]);
    // FS_IOC_RESVSP, FS_IOC_RESVSP64, FS_IOC_ZERO_RANGE, BTRFS_IOC_SUBVOL_CREATE, BTRFS_IOC_SNAP_CREATE_V2.
    const requests = [0x4030_5828, 0x4030_582a, 0x4030_5839, 0x5000_940e, 0x5000_9417];
    expect(requests.map((request) => answer(ioctl, 5, request))).toEqual(Array(5).fill(EOPNOTSUPP));
  });

  test("every call has an answer, for all arguments", () => {
    fc.assert(
      fc.property(
        fc.nat(0xffff_ffff),
        fc.nat(600),
        fc.array(fc.nat(0xffff_ffff), { maxLength: 6 }),
        (arch, call, given) => {
          expect(typeof answerOf(filter, { architecture: arch, call, arguments: given })).toBe("number");
          expect([permit, EPERM, ENOSYS, EOPNOTSUPP, EAFNOSUPPORT]).toContain(answer(call, ...given));
        },
      ),
    );
  });
});

test("an architecture without a table has no filter", () => {
  expect(seccompFilter("riscv64", true)).toBeNull();
});
