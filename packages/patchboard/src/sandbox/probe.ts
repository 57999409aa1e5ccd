import type { SandboxName } from '@patchboard/wire';
import { messageOf } from '../core/failures.ts';
import { bubblewrap } from './bubblewrap.ts';
import { runCanary, type CanaryResult } from './canary.ts';
import type { Enclosure, EnclosureOptions } from './enclosure.ts';
import { baseEnvironment, launch } from './launcher.ts';
import { seatbelt } from './seatbelt.ts';

/** The result of testing the sandbox on this machine. */
export interface ProbeReport {
  readonly provider: SandboxName;
  readonly canary: readonly CanaryResult[];
  /** Why there is no working sandbox, and what to do about it; null if there is one. */
  readonly problem: string | null;
}

export interface Probed {
  readonly enclosure: Enclosure;
  readonly report: ProbeReport;
}

const MAKERS: Readonly<Record<string, (options: EnclosureOptions) => Enclosure>> = {
  linux: bubblewrap,
  darwin: seatbelt,
};

const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Returns the sandbox of this platform if the canary found no hole, otherwise `none` with the problem. */
export async function probe(options: EnclosureOptions, platform: string = process.platform): Promise<Probed> {
  const make = MAKERS[platform];
  if (make === undefined) {
    return without(options, [], `there is no sandbox for ${platform}: run the server on Linux or macOS`);
  }
  try {
    const enclosure = make(options);
    const { results, problem } = await runCanary(enclosure, options.stateFolder);
    if (problem === null)
      return { enclosure, report: { provider: enclosure.name, canary: results, problem } };
    return without(options, results, `${enclosure.name}: ${problem}. ${advice(platform, problem)}`);
  } catch (error) {
    return without(options, [], `${messageOf(error)}. ${advice(platform, messageOf(error))}`);
  }
}

function without(options: EnclosureOptions, canary: readonly CanaryResult[], problem: string): Probed {
  return { enclosure: none(options), report: { provider: 'none', canary, problem } };
}

/** No sandbox. Only clears the environment and sets the per-process limits. */
function none(options: EnclosureOptions): Enclosure {
  const { tools, limits, environment } = options;
  return {
    name: 'none',
    killsTrees: false,
    tools,
    wrap: (command) => {
      const [file = 'bash', ...args] = launch(command, limits, { countsProcesses: false });
      const env = {
        ...baseEnvironment(command.root, '/tmp', SYSTEM_PATH),
        ...environment,
        ...command.environment,
      };
      return { file, args, env };
    },
  };
}

function advice(platform: string, problem: string): string {
  if (/EMFILE|ENFILE/.test(problem)) return 'Raise the limit of open files (ulimit -n) and start again';
  if (platform !== 'linux') return 'sandbox-exec is part of macOS; see docs/guides/workspace.md';
  if (/ENOENT/.test(problem))
    return 'Install it: sudo apt-get install -y bubblewrap (or dnf, pacman, apk: the package has this name)';
  return 'User namespaces may be switched off for this user or container; see docs/guides/workspace.md';
}
