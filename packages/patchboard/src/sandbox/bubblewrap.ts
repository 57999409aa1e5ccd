import { lstatSync, mkdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type {
  CommandLine,
  EnclosedCommand,
  Enclosure,
  EnclosureOptions,
  OwnTools,
  SandboxUser,
} from './enclosure.ts';
import { baseEnvironment, launch } from './launcher.ts';

/** System folders that commands may read. Never `/`: for root that would be no boundary at all. */
const SYSTEM_FOLDERS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
/** Files that programs need to find libraries, certificates and the time zone; the rest of /etc is not visible. */
const SYSTEM_FILES = [
  '/etc/alternatives',
  '/etc/ca-certificates',
  '/etc/host.conf',
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/localtime',
  '/etc/mime.types',
  '/etc/nsswitch.conf',
  '/etc/os-release',
  '/etc/pki/tls/certs',
  '/etc/protocols',
  '/etc/services',
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
];
/** Created world-readable before the mounts: bubblewrap would give missing parents the mode of what is mounted in them. */
const MADE_FOLDERS = [
  '/etc',
  '/etc/pki',
  '/etc/pki/tls',
  '/etc/ssl',
  '/patchboard',
  '/patchboard/bin',
  '/var',
];
const NETWORK_FILES = ['/etc/hosts', '/etc/resolv.conf'];
const HOME = '/home/sandbox';
const OWN = '/patchboard';
const INSIDE: OwnTools = {
  node: `${OWN}/bin/node`,
  ripgrep: `${OWN}/bin/rg`,
  fileServer: `${OWN}/file-server`,
};
const PATH = `/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:${OWN}/bin`;

/** Encloses commands in Linux namespaces that contain only the listed files. */
export function bubblewrap(options: EnclosureOptions): Enclosure {
  const accounts = new Accounts(options.stateFolder, HOME);
  return {
    name: 'bubblewrap',
    killsTrees: true,
    tools: INSIDE,
    wrap: (command) => wrap(options, accounts, command),
  };
}

function wrap(options: EnclosureOptions, accounts: Accounts, command: EnclosedCommand): CommandLine {
  const { root, network, user, isService = false } = command;
  const environment = {
    ...baseEnvironment(HOME, '/tmp', PATH),
    ...options.environment,
    ...command.environment,
  };
  const args = [
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup-try',
    ...(network ? [] : ['--unshare-net']),
    '--die-with-parent',
    '--new-session',
    '--hostname',
    'sandbox',
    ...(isService ? [] : ['--clearenv']),
    ...Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value]),
    ...SYSTEM_FOLDERS.flatMap(systemFolder),
    ...MADE_FOLDERS.flatMap((path) => ['--dir', path]),
    ...[...SYSTEM_FILES, ...(network ? NETWORK_FILES : [])].flatMap(readOnly),
    ...accounts.of(user).flatMap(([from, to]) => ['--ro-bind', from, to]),
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    ...['/tmp', '/var/tmp', '/dev/shm', HOME].flatMap((path) => ['--perms', '1777', '--tmpfs', path]),
    ...ownTools(options.tools),
    ...options.readable.flatMap((path) => [...foldersTo(path), ...readOnly(path)]),
    ...foldersTo(root),
    '--bind',
    root,
    root,
    '--chdir',
    '/',
    ...identity(user),
    '--',
    ...switchUser(user),
    ...launch(command, options.limits, { countsProcesses: true }),
  ];
  return { file: 'bwrap', args, env: { PATH: options.searchPath } };
}

/**
 * Without root, a user namespace gives the right to mount and a separate process count. As root, mounting needs none; two
 * capabilities are kept until `switchUser` has changed the user and created the user namespace.
 */
function identity(user: EnclosedCommand['user']): string[] {
  if (user === null) return ['--unshare-user', '--cap-drop', 'ALL'];
  return ['--cap-drop', 'ALL', '--cap-add', 'CAP_SETUID', '--cap-add', 'CAP_SETGID'];
}

function switchUser(user: EnclosedCommand['user']): string[] {
  if (user === null) return [];
  const { uid, gid } = user;
  const setUser = ['setpriv', '--reuid', String(uid), '--regid', String(gid), '--clear-groups', '--'];
  return [...setUser, 'unshare', '--user', '--map-current-user', '--'];
}

/** `/bin` is a link to `usr/bin` on most systems and a folder on others; some of the folders may be missing. */
function systemFolder(path: string): string[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  return found.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : readOnly(path);
}

function readOnly(path: string): string[] {
  return ['--ro-bind-try', path, path];
}

/** Creates the parent folders world-readable: the user of the command must be able to traverse them. */
function foldersTo(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [...foldersTo(parent), '--dir', parent];
}

function ownTools({ node, ripgrep, fileServer }: OwnTools): string[] {
  const binds: [string, string][] = [
    [node, INSIDE.node],
    [ripgrep, INSIDE.ripgrep],
    [fileServer, INSIDE.fileServer],
  ];
  return binds.flatMap(([from, to]) => ['--ro-bind', from, to]);
}

/** Writes minimal passwd and group files, so that programs can look up their own user without seeing the host's accounts. */
class Accounts {
  readonly #folder: string;
  readonly #home: string;
  readonly #written: Map<number, [from: string, to: string][]> = new Map();

  constructor(folder: string, home: string) {
    this.#folder = folder;
    this.#home = home;
  }

  /** Returns the files for a user, with their mount points. */
  of(user: SandboxUser | null): readonly [from: string, to: string][] {
    const uid = user?.uid ?? process.getuid?.() ?? 0;
    const gid = user?.gid ?? process.getgid?.() ?? 0;
    const written = this.#written.get(uid);
    if (written !== undefined) return written;
    mkdirSync(this.#folder, { recursive: true });
    const passwd = join(this.#folder, `passwd-${uid}`);
    const group = join(this.#folder, `group-${uid}`);
    const root = uid === 0 ? '' : 'root:x:0:0::/:/usr/sbin/nologin\n';
    writeFileSync(passwd, `${root}sandbox:x:${uid}:${gid}::${this.#home}:/bin/bash\n`, { mode: 0o644 });
    writeFileSync(group, `${gid === 0 ? '' : 'root:x:0:\n'}sandbox:x:${gid}:\n`, { mode: 0o644 });
    const files: [string, string][] = [
      [passwd, '/etc/passwd'],
      [group, '/etc/group'],
    ];
    this.#written.set(uid, files);
    return files;
  }
}
