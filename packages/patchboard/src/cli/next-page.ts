import { shellWord } from '@patchboard/wire';

/**
 * Returns the command that prints the next page. `path`: the words of the command; `flags` that are undefined are left out,
 * and those that are true have no value.
 */
export function nextPageCommand(
  path: readonly string[],
  words: readonly string[],
  flags: Readonly<Record<string, string | boolean | undefined>>,
): string {
  const options = Object.entries(flags).flatMap(([name, value]) => {
    if (value === undefined || value === false) return [];
    return value === true ? [`--${name}`] : [`--${name}`, shellWord(String(value))];
  });
  return ['patchboard', ...path, ...words.map(shellWord), ...options].join(' ');
}
