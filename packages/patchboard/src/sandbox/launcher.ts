import type { CommandLimits, EnclosedCommand } from './enclosure.ts';

/**
 * The first thing that runs inside: sets the limits, and tells the kernel to sacrifice this before anything else. Then
 * it says that the way in is complete and waits for the answer: from here on the death of the server ends it, and a
 * server that died before gives none.
 */
const LAUNCH = `
ulimit -c 0
ulimit -t "$1" -f "$2" || exit
[ "$3" = - ] || ulimit -u "$3" || exit
{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null
echo >&3
read -r _ <&3 || exit
exec 3>&-
cd -- "$4" || exit
shift 4
exec "$@"
`;

/** `processes` counts only where the processes of the enclosure are told apart from all others of the user. */
export function launch(
  { argv, cwd }: Pick<EnclosedCommand, 'argv' | 'cwd'>,
  limits: CommandLimits,
  { countsProcesses }: { countsProcesses: boolean },
): string[] {
  const fileBlocks = Math.max(1, Math.floor(limits.fileBytes / 1024));
  const processes = countsProcesses ? String(limits.processes) : '-';
  return [
    'bash',
    '-c',
    LAUNCH,
    'patchboard',
    String(limits.cpuSeconds),
    String(fileBlocks),
    processes,
    cwd,
    ...argv,
  ];
}

/** What every command gets; nothing of the server's own environment. */
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
