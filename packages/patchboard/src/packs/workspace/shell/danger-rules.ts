import type { ReasonCode } from '@patchboard/wire';

/** Codes whose sentence names the program. */
type DangerCode = Extract<
  ReasonCode,
  | 'command_deletes_folders'
  | 'command_deletes_found'
  | 'command_destroys'
  | 'command_copies_raw'
  | 'command_changes_disks'
  | 'command_as_other_user'
  | 'command_changes_machine'
  | 'command_runs_later'
  | 'command_changes_rights'
  | 'command_discards_work'
  | 'command_rewrites_history'
  | 'command_reaches_machine'
  | 'command_publishes'
>;

/** A command that requires approval whatever the policy allows. */
export interface DangerRule {
  readonly id: string;
  readonly reason: DangerCode;
  /** Base names: `/bin/rm` is `rm`. A star matches anything. */
  readonly programs: readonly string[];
  /** One of each list must be among the arguments; `-rf` includes `-r`. Absent: the program alone matches. */
  readonly withArguments?: readonly (readonly string[])[];
}

export const DANGER_RULES: readonly DangerRule[] = [
  {
    id: 'delete-tree',
    reason: 'command_deletes_folders',
    programs: ['rm'],
    withArguments: [['-r', '-R', '--recursive']],
  },
  {
    id: 'delete-found',
    reason: 'command_deletes_found',
    programs: ['find'],
    withArguments: [['-delete', '-exec', '-execdir', '-ok', '-okdir']],
  },
  {
    id: 'destroy',
    reason: 'command_destroys',
    programs: ['shred', 'wipefs', 'truncate', 'srm'],
  },
  { id: 'raw-copy', reason: 'command_copies_raw', programs: ['dd'] },
  {
    id: 'disk',
    reason: 'command_changes_disks',
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
    reason: 'command_as_other_user',
    programs: ['sudo', 'su', 'doas', 'pkexec', 'setpriv', 'runuser', 'chroot', 'nsenter', 'unshare', 'bwrap'],
  },
  {
    id: 'machine',
    reason: 'command_changes_machine',
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
    reason: 'command_runs_later',
    programs: ['crontab', 'at', 'batch', 'systemd-run'],
  },
  {
    id: 'rights',
    reason: 'command_changes_rights',
    programs: ['chmod', 'chown', 'chgrp', 'setfacl'],
    withArguments: [['-R', '--recursive']],
  },
  {
    id: 'discard-work',
    reason: 'command_discards_work',
    programs: ['git'],
    withArguments: [
      ['reset', 'clean', 'checkout', 'restore'],
      ['--hard', '-f', '-d', '-x', '--force', '.', '--'],
    ],
  },
  {
    id: 'rewrite-history',
    reason: 'command_rewrites_history',
    programs: ['git'],
    withArguments: [['push', 'filter-branch', 'filter-repo', 'update-ref', 'reflog']],
  },
  {
    id: 'remote',
    reason: 'command_reaches_machine',
    programs: ['ssh', 'scp', 'sftp', 'rsync', 'nc', 'ncat', 'netcat', 'socat', 'telnet', 'ftp'],
  },
  {
    id: 'publish',
    reason: 'command_publishes',
    programs: ['npm', 'pnpm', 'yarn', 'cargo', 'twine', 'gem', 'docker'],
    withArguments: [['publish', 'upload', 'push', 'unpublish']],
  },
];

/** Devices that are harmless as the target of a redirection. */
export const HARMLESS_DEVICES: readonly string[] = [
  '/dev/null',
  '/dev/stdout',
  '/dev/stderr',
  '/dev/tty',
  '/dev/stdin',
  '/dev/zero',
];

/** Programs that run the command in their arguments, with their options that take a value. */
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

/** Shells, which run a text as a program. */
export const SHELLS: readonly string[] = ['bash', 'sh', 'dash', 'zsh', 'ksh', 'ash', 'fish'];
