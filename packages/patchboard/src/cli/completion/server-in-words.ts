import type { ServerChoice } from '../connection.ts';

/** Returns the server that the words of an unfinished command line name. Bash splits the words at `=` and `:`. */
export function serverInWords(words: readonly string[]): ServerChoice {
  const whole: string[] = [];
  for (const word of words) {
    const last = whole.at(-1);
    if (last !== undefined && (word === ':' || last.endsWith(':'))) whole[whole.length - 1] = last + word;
    else whole.push(word);
  }
  const [url, profile] = [valueOf('--url', whole), valueOf('--profile', whole)];
  return { ...(url === '' ? {} : { url }), ...(profile === '' ? {} : { profile }) };
}

/** Returns the empty text if the option is not given, or has no value yet. */
function valueOf(name: string, words: readonly string[]): string {
  const at = words.findIndex((word) => word === name || word.startsWith(`${name}=`));
  const [word = '', next = '', third = ''] = at < 0 ? [] : words.slice(at);
  if (word !== name) return word.slice(name.length + 1);
  return next === '=' ? third : next;
}
