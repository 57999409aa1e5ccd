/** A command that asks whatever the policy allows. Data: adding one needs no code. */
export interface DangerRule {
  readonly id: string;
  readonly reason: string;
  /** By their last name: `/bin/rm` is `rm`. A star stands for anything. */
  readonly programs: readonly string[];
  /** One of each list must be among the arguments; `-r` is in `-rf` too. Absent: the program alone is enough. */
  readonly withArguments?: readonly (readonly string[])[];
}

export const DANGER_RULES: readonly DangerRule[] = [
  {
    id: 'delete-tree',
    reason: 'deletes whole folders',
    programs: ['rm'],
    withArguments: [['-r', '-R', '--recursive']],
  },
  {
    id: 'delete-found',
    reason: 'deletes whatever it finds',
    programs: ['find'],
    withArguments: [['-delete', '-exec', '-execdir', '-ok', '-okdir']],
  },
  {
    id: 'destroy',
    reason: 'destroys content for good',
    programs: ['shred', 'wipefs', 'truncate', 'srm'],
  },
  { id: 'raw-copy', reason: 'writes over files or disks block by block', programs: ['dd'] },
  {
    id: 'disk',
    reason: 'changes disks and file systems',
    programs: [
      'mkfs',
      'mkfs.*',
      'mke2fs',
      'mkswap',
      'fdisk',
      'sfdisk',
      'parted',
      'mount',
      'umount',
      'losetup',
    ],
  },
  {
    id: 'other-user',
    reason: 'tries to run as another user',
    programs: ['sudo', 'su', 'doas', 'pkexec', 'setpriv', 'runuser', 'chroot', 'nsenter', 'unshare', 'bwrap'],
  },
  {
    id: 'machine',
    reason: 'stops or changes the machine',
    programs: [
      'shutdown',
      'reboot',
      'halt',
      'poweroff',
      'init',
      'systemctl',
      'service',
      'sysctl',
      'insmod',
      'modprobe',
    ],
  },
  {
    id: 'later',
    reason: 'leaves something behind that runs later',
    programs: ['crontab', 'at', 'batch', 'systemd-run'],
  },
  {
    id: 'rights',
    reason: 'changes the rights of whole folders',
    programs: ['chmod', 'chown', 'chgrp', 'setfacl'],
    withArguments: [['-R', '--recursive']],
  },
  {
    id: 'discard-work',
    reason: 'throws away work that is not committed',
    programs: ['git'],
    withArguments: [
      ['reset', 'clean', 'checkout', 'restore'],
      ['--hard', '-f', '-d', '-x', '--force', '.', '--'],
    ],
  },
  {
    id: 'rewrite-history',
    reason: 'changes history or sends it away',
    programs: ['git'],
    withArguments: [['push', 'filter-branch', 'filter-repo', 'update-ref', 'reflog']],
  },
  {
    id: 'remote',
    reason: 'talks to another machine',
    programs: ['ssh', 'scp', 'sftp', 'rsync', 'nc', 'ncat', 'netcat', 'socat', 'telnet', 'ftp'],
  },
  {
    id: 'publish',
    reason: 'publishes to the world',
    programs: ['npm', 'pnpm', 'yarn', 'cargo', 'twine', 'gem', 'docker'],
    withArguments: [['publish', 'upload', 'push', 'unpublish']],
  },
];

/** Devices that a redirection may name. */
export const HARMLESS_DEVICES: readonly string[] = [
  '/dev/null',
  '/dev/stdout',
  '/dev/stderr',
  '/dev/tty',
  '/dev/stdin',
  '/dev/zero',
];

/** Programs that run what their arguments say, and the options of theirs that take a value. */
export const WRAPPERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['env', ['-u', '--unset', '-C', '--chdir', '-S', '--split-string']],
  ['nohup', []],
  ['nice', ['-n', '--adjustment']],
  ['ionice', ['-c', '-n', '-p']],
  ['time', ['-f', '-o']],
  ['timeout', ['-k', '-s', '--kill-after', '--signal']],
  ['stdbuf', ['-i', '-o', '-e']],
  ['setsid', []],
  ['command', []],
  ['builtin', []],
  ['exec', ['-a']],
  ['xargs', ['-I', '-n', '-P', '-L', '-d', '-a', '-E', '-s', '--max-args', '--max-procs', '--delimiter']],
  ['busybox', []],
]);

/** Programs that run a text as a program. */
export const SHELLS: readonly string[] = ['bash', 'sh', 'dash', 'zsh', 'ksh', 'ash', 'fish'];
