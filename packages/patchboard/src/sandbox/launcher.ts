import type { CommandLimits, EnclosedCommand } from './enclosure.ts';

/**
 * Runs first inside the sandbox. Sets the limits and makes the process the first candidate of the OOM killer. Then, with
 * `WAIT`, writes a line to descriptor 3 and waits for a line from the server: from here on it dies with the server, and if
 * the server died before, the read fails and the command never starts.
 */
const LIMIT = `
ulimit -c 0
ulimit -t "$1" -f "$2" || exit
[ "$3" = - ] || ulimit -u "$3" || exit
{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null
`;
const WAIT = `
echo >&3
read -r _ <&3 || exit
exec 3>&-
`;
const RUN = `
cd -- "$4" || exit
shift 4
exec "$@"
`;

/** `countsProcesses`: the process limit applies only where the sandbox has its own process count for the user. */
export function launch(
  { argv, cwd, isService = false }: Pick<EnclosedCommand, 'argv' | 'cwd' | 'isService'>,
  limits: CommandLimits,
  { countsProcesses }: { countsProcesses: boolean },
): string[] {
  const fileBlocks = Math.max(1, Math.floor(limits.fileBytes / 1024));
  const processes = countsProcesses ? String(limits.processes) : '-';
  return [
    'bash',
    '-c',
    `${LIMIT}${isService ? '' : WAIT}${RUN}`,
    'patchboard',
    Number.isFinite(limits.cpuSeconds) ? String(limits.cpuSeconds) : 'unlimited',
    String(fileBlocks),
    processes,
    cwd,
    ...argv,
  ];
}

/** Returns the environment of every command; it contains nothing of the server's environment. */
export function baseEnvironment(home: string, temporary: string, path: string): Record<string, string> {
  return {
    PATH: path,
    HOME: home,
    TMPDIR: temporary,
    USER: 'sandbox',
    LOGNAME: 'sandbox',
    SHELL: '/bin/bash',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
  };
}
