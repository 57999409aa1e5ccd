import type { DescribedParameter } from './operation-parameters.ts';

/** Model vendors accept these characters, up to this length, in the name of an argument. */
const OTHER_CHARACTERS = /[^\w.-]/g;
const MAX_LENGTH = 64;
/** The argument that holds the body. */
export const BODY_ARGUMENT = 'body';

/**
 * Returns the argument of each parameter: its name. Where two have the same, both get their place before it, such as
 * `query_id`. A parameter never has the name of the body.
 */
export function argumentNames(
  parameters: readonly Pick<DescribedParameter, 'name' | 'in'>[],
  hasBody: boolean,
): readonly string[] {
  const plain = parameters.map(({ name }) => argumentOf(name));
  const taken = new Set(hasBody ? [BODY_ARGUMENT] : []);
  const counts = new Map<string, number>();
  for (const name of [...taken, ...plain]) counts.set(name, (counts.get(name) ?? 0) + 1);
  const wanted = parameters.map(({ in: place, name }, index) => {
    const own = plain[index] ?? '';
    return (counts.get(own) ?? 0) > 1 ? argumentOf(`${place}_${name}`) : own;
  });
  return wanted.map((name) => {
    let free = name;
    for (let number = 2; taken.has(free); number += 1) free = `${name.slice(0, MAX_LENGTH - 6)}_${number}`;
    taken.add(free);
    return free;
  });
}

function argumentOf(name: string): string {
  return name.replaceAll(OTHER_CHARACTERS, '_').slice(0, MAX_LENGTH);
}
