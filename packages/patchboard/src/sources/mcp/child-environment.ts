/** The variables that a process inherits: what programs need to find other programs, a home and a language. */
const INHERITED = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TERM',
  'TMPDIR',
  'TZ',
];

/** The environment of an upstream's process: a minimal set of our own, and the configured variables. */
export function childEnvironment(
  own: Readonly<Record<string, string | undefined>>,
  configured: Readonly<Record<string, string>>,
): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const name of INHERITED) {
    const value = own[name];
    if (value !== undefined) environment[name] = value;
  }
  return { ...environment, ...configured };
}
