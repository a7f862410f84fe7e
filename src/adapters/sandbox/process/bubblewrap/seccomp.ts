/**
 * The filter of system calls that every program under bubblewrap runs behind: a classic BPF program as seccomp(2) takes
 * it. Everything is permitted but what an agent never needs and what kernels were broken through before: namespaces and
 * mounts, keyrings, BPF, io_uring, tracing, modules, clocks, and sockets of families that no network namespace holds
 * back (a virtual machine's AF_VSOCK reaches its hypervisor from any of them).
 *
 * Numbers are those of Linux's own tables (`arch/x86/entry/syscalls/syscall_64.tbl`, `include/uapi/asm-generic/unistd.h`).
 */

export type Architecture = "x64" | "arm64";

const errno = { EPERM: 1, ENOSYS: 38, EOPNOTSUPP: 95, EAFNOSUPPORT: 97 } as const;

/** Calls that are refused with any arguments: name → number on x86-64 and on aarch64; null where there is none. */
const refused: Readonly<Record<string, readonly [x64: number | null, arm64: number | null]>> = {
  // Mounts and what leads out of a root directory.
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  move_mount: [429, 429],
  open_tree: [428, 428],
  open_tree_attr: [467, 467],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_by_handle_at: [304, 265],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  swapon: [167, 224],
  swapoff: [168, 225],
  setns: [308, 268],
  // The memory and the descriptors of other processes.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  pidfd_getfd: [438, 438],
  kcmp: [312, 272],
  // Parts of the kernel that no agent needs.
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  fanotify_init: [300, 262],
  lookup_dcookie: [212, 18],
  memfd_secret: [447, 447],
  mbind: [237, 235],
  set_mempolicy: [238, 237],
  set_mempolicy_home_node: [450, 450],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
  modify_ldt: [154, null],
  ioperm: [173, null],
  iopl: [172, null],
  uselib: [134, null],
  ustat: [136, null],
  sysfs: [139, null],
  // The machine as a whole.
  acct: [163, 89],
  syslog: [103, 116],
  reboot: [169, 142],
  vhangup: [153, 58],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
};

/** Calls that programs try first and do without: "there is no such call" makes them take the older one. */
const absent: typeof refused = {
  // Its flags lie in memory, where no filter can look.
  clone3: [435, 435],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  // Would show the host's mounts.
  statmount: [457, 457],
  listmount: [458, 458],
};

/**
 * What holds memory that no process outside can see once its descriptor is closed, sent on its way through a socket, or its
 * segment detached. Absent where no control group counts it.
 */
const uncountable: typeof refused = {
  memfd_create: [319, 279],
  shmget: [29, 194],
  semget: [64, 190],
  msgget: [68, 186],
  // A page in a pipe keeps the huge page that it is a part of.
  vmsplice: [278, 75],
};

/** Newest call that was looked at when these tables were written (Linux 6.17); later ones are absent. */
const lastKnown = 469;

/** `CLONE_NEW*`: mount, cgroup, UTS, IPC, user, PID and network namespaces. */
const newNamespaces = 0x7e02_0000;
/** Bit of `unshare` alone; in `clone` it is part of the exit signal. */
const newTimeNamespace = 0x80;
const localFamily = 1;
/** AF_UNIX, AF_INET, AF_INET6. */
const families = [localFamily, 2, 10];
/** AF_NETLINK, of which NETLINK_ROUTE alone: it lists a namespace's own addresses. */
const [netlink, routes] = [16, 0];
/** Both put characters into a terminal's input: TIOCSTI, TIOCLINUX. */
const terminalInput = [0x5412, 0x541c];
/** `FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE`: the one mode of `fallocate` that gives room back and takes none. */
const punchHole = 3;
/**
 * Requests that take room of a file system without a byte being written, as `fallocate` does: FS_IOC_RESVSP,
 * FS_IOC_RESVSP64, FS_IOC_ZERO_RANGE. Then those that make a subvolume or a snapshot, which is a file system of its own
 * to those who measure: BTRFS_IOC_SNAP_CREATE, BTRFS_IOC_SUBVOL_CREATE and the second version of both.
 */
const unmeasuredRoom = [
  ...[0x4030_5828, 0x4030_582a, 0x4030_5839],
  ...[0x5000_9401, 0x5000_940e, 0x5000_9417, 0x5000_9418],
];
/** PER_LINUX and PER_LINUX32, each also with UNAME26, and the question what it is. */
const personalities = [0, 0x8, 0x2_0000, 0x2_0008, 0xffff_ffff];

const architectures = {
  x64: {
    ...{ audit: 0xc000_003e, clone: 56, unshare: 272, socket: 41, socketpair: 53, ioctl: 16, personality: 135 },
    fallocate: 285,
  },
  arm64: {
    ...{ audit: 0xc000_00b7, clone: 220, unshare: 97, socket: 198, socketpair: 199, ioctl: 29, personality: 92 },
    fallocate: 47,
  },
} as const;

/** Offsets in `struct seccomp_data`; of an argument the low half, which is all that these calls look at. */
const at = { call: 0, architecture: 4, argument: (index: number) => 16 + 8 * index } as const;

interface Instruction {
  readonly code: number;
  readonly yes: number;
  readonly no: number;
  readonly value: number;
}

const load = (offset: number): Instruction => ({ code: 0x20, yes: 0, no: 0, value: offset });
const jump = (code: number) => (value: number, yes: number, no: number) => ({ code, yes, no, value });
const [ifEqual, ifGreater, ifAnyBit] = [jump(0x15), jump(0x25), jump(0x45)];
const answer = (value: number): Instruction => ({ code: 0x06, yes: 0, no: 0, value });
const permit = answer(0x7fff_0000);
const kill = answer(0x8000_0000);
const fail = (code: number) => answer(0x0005_0000 | code);

/**
 * The filter as bytes of `struct sock_filter[]`, little-endian.
 * @param countedMemory whether the kernel counts all memory of an instance
 * @returns null for an architecture that has no table here
 */
export function seccompFilter(architecture: string, countedMemory: boolean): Uint8Array | null {
  if (architecture !== "x64" && architecture !== "arm64") return null;
  const bytes = program(architecture, countedMemory).flatMap(({ code, yes, no, value }) => [
    ...[code & 0xff, code >>> 8, yes, no],
    ...[value & 0xff, (value >>> 8) & 0xff, (value >>> 16) & 0xff, value >>> 24],
  ]);
  return Uint8Array.from(bytes);
}

function program(architecture: Architecture, countedMemory: boolean): Instruction[] {
  const { audit, ...calls } = architectures[architecture];
  const column = architecture === "x64" ? 0 : 1;
  const each = (table: typeof refused, code: number) =>
    Object.values(table).flatMap((numbers) => {
      const number = numbers[column];
      return number === null || number === undefined ? [] : whenCall(number, [fail(code)]);
    });
  return [
    load(at.architecture),
    // Programs of another architecture have other numbers: 32-bit ones would pass every test below.
    ...[ifEqual(audit, 1, 0), kill],
    load(at.call),
    // Numbers of the x32 interface begin at 2³⁰.
    ...[ifGreater(lastKnown, 0, 1), fail(errno.ENOSYS)],
    ...each(refused, errno.EPERM),
    ...each(absent, errno.ENOSYS),
    ...(countedMemory ? [] : each(uncountable, errno.ENOSYS)),
    ...whenCall(calls.clone, [load(at.argument(0)), ...anyBit(newNamespaces)]),
    ...whenCall(calls.unshare, [load(at.argument(0)), ...anyBit(newNamespaces | newTimeNamespace)]),
    ...whenCall(calls.socket, [
      ...[load(at.argument(0)), ...oneOf(families, permit), ifEqual(netlink, 0, 3)],
      ...[load(at.argument(2)), ...oneOf([routes], permit), fail(errno.EAFNOSUPPORT)],
    ]),
    ...whenCall(calls.socketpair, [load(at.argument(0)), ...oneOf([localFamily], permit), fail(errno.EAFNOSUPPORT)]),
    ...whenCall(calls.ioctl, [
      load(at.argument(1)),
      ...oneOf(terminalInput, fail(errno.EPERM)),
      ...[...oneOf(unmeasuredRoom, fail(errno.EOPNOTSUPP)), permit],
    ]),
    // One call takes all the room of a disk, in no time that a measurement could come in. Programs write instead.
    ...whenCall(calls.fallocate, [load(at.argument(1)), ...oneOf([punchHole], permit), fail(errno.EOPNOTSUPP)]),
    ...whenCall(calls.personality, [load(at.argument(0)), ...oneOf(personalities, permit), fail(errno.EPERM)]),
    permit,
  ];
}

/** @param block ends in an answer on every way through it */
function whenCall(number: number, block: readonly Instruction[]): Instruction[] {
  return [ifEqual(number, 0, block.length), ...block];
}

const anyBit = (bits: number): Instruction[] => [ifAnyBit(bits, 0, 1), fail(errno.EPERM), permit];

const oneOf = (values: readonly number[], then: Instruction): Instruction[] =>
  values.flatMap((value) => [ifEqual(value, 0, 1), then]);
