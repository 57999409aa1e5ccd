import type { NamePatterns } from '@patchboard/wire';

/** Whether the name is one of `any` (empty: every name) and none of `none`. Null, no name, matches no pattern. */
export function matchesNames({ any, none }: NamePatterns, name: string | null): boolean {
  if (name === null) return any.length === 0;
  return (
    (any.length === 0 || any.some((pattern) => matchesName(pattern, name))) &&
    !none.some((pattern) => matchesName(pattern, name))
  );
}

export function isPattern(name: string): boolean {
  return name.includes('*');
}

/** `*` matches any run of characters; every other character matches itself. */
function matchesName(pattern: string, name: string): boolean {
  const [first = '', ...middle] = pattern.split('*');
  const last = middle.pop();
  if (last === undefined) return pattern === name;
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last))
    return false;
  // The first place of each part leaves the most room for those after it.
  let at = first.length;
  for (const part of middle) {
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= name.length - last.length;
}
