import { mkdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { EnclosedCommand, Enclosure, EnclosureOptions } from './enclosure.ts';
import { baseEnvironment, launch } from './launcher.ts';

const PATH = '/usr/local/bin:/opt/homebrew/bin:/usr/bin:/bin:/usr/sbin:/sbin';
/** Folders that programs of macOS and Homebrew need. */
const READABLE = [
  '/System',
  '/usr',
  '/bin',
  '/sbin',
  '/Library/Apple',
  '/Library/Developer/CommandLineTools',
  '/Applications/Xcode.app/Contents/Developer',
  '/opt/homebrew',
  '/private/etc/ssl',
  '/private/etc/localtime',
  '/private/var/db/timezone',
  '/private/var/db/dyld',
  '/private/var/select',
  '/dev',
];
const WRITABLE_DEVICES = ['/dev/null', '/dev/zero', '/dev/tty', '/dev/dtracehelper'];

/** On macOS the kernel checks every access against a profile. Without namespaces, the process limit does not apply. */
export function seatbelt(options: EnclosureOptions): Enclosure {
  const { tools, limits, environment } = options;
  const temporary = temporaryFolder(options);
  mkdirSync(temporary, { recursive: true });
  return {
    name: 'seatbelt',
    killsTrees: false,
    tools,
    wrap: (command) => {
      const args = [
        '-p',
        profileOf(command, options),
        ...launch(command, limits, { countsProcesses: false }),
      ];
      const env = {
        ...baseEnvironment(command.root, temporary, PATH),
        ...environment,
        ...command.environment,
      };
      return { file: '/usr/bin/sandbox-exec', args, env };
    },
  };
}

/** Returns a profile that denies everything except the workspace, read access to the system, and signals within the sandbox. */
export function profileOf({ root, network }: EnclosedCommand, options: EnclosureOptions): string {
  const { tools, readable } = options;
  const own = [dirname(tools.node), dirname(tools.ripgrep), tools.fileServer];
  const readables = [...READABLE, ...own, ...readable].map(realPath);
  const writable = [root, temporaryFolder(options)].map(realPath).map(subpath).join(' ');
  return [
    '(version 1)',
    '(deny default)',
    '(allow process-exec process-fork)',
    '(allow signal (target same-sandbox))',
    '(allow process-info* (target same-sandbox))',
    '(allow sysctl-read)',
    '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))',
    // Programs must be able to stat the parent folders of readable files.
    '(allow file-read-metadata)',
    `(allow file-read* (literal "/") ${readables.map(subpath).join(' ')} ${writable})`,
    `(allow file-write* ${writable})`,
    `(allow file-write-data ${WRITABLE_DEVICES.map((path) => `(literal ${quote(path)})`).join(' ')})`,
    network ? '(allow network*)' : '(deny network*)',
    '',
  ].join('\n');
}

function temporaryFolder({ stateFolder }: EnclosureOptions): string {
  return join(stateFolder, 'tmp');
}

function subpath(path: string): string {
  return `(subpath ${quote(path)})`;
}

function quote(text: string): string {
  return `"${text.replaceAll('\\', String.raw`\\`).replaceAll('"', String.raw`\"`)}"`;
}

/** Resolves links, because the kernel compares real paths; /tmp, for example, is a link. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // a missing path allows nothing
  }
}
