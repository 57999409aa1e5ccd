import { skipSpace } from './json-tokens.ts';

/**
 * Returns the string members `names` of the outermost object of a text that is not acceptable JSON: too deep, truncated
 * or malformed. Reads as far as strings and brackets can be told apart. Leaves out a name that occurs twice, or whose
 * value has an escape.
 */
export function peekTexts<Name extends string>(
  text: string,
  names: readonly Name[],
): Readonly<Partial<Record<Name, string>>> {
  const found: Partial<Record<Name, string>> = {};
  const seen = new Set<string>();
  let depth = 0;
  let isKeyNext = false;
  for (let at = skipSpace(text, 0); at < text.length; at += 1) {
    const character = text[at];
    if (character === '{' || character === '[') {
      depth += 1;
      isKeyNext = depth === 1;
      if (depth === 1 && character === '[') return found;
    } else if (character === '}' || character === ']') {
      depth -= 1;
      if (depth === 0) break;
    } else if (character === ',') {
      isKeyNext = depth === 1;
    } else if (character === '"') {
      const end = closingQuote(text, at + 1);
      if (end === -1) break;
      const name = isKeyNext ? names.find((candidate) => candidate === text.slice(at + 1, end)) : undefined;
      if (name !== undefined) {
        const value = seen.has(name) ? null : textAfterColon(text, end + 1);
        seen.add(name);
        if (value === null) delete found[name];
        else found[name] = value;
      }
      isKeyNext = false;
      at = end;
    }
  }
  return found;
}

/** Returns null if the value is not a string, or has an escape. */
function textAfterColon(text: string, from: number): string | null {
  const colon = skipSpace(text, from);
  const start = skipSpace(text, colon + 1);
  if (text[colon] !== ':' || text[start] !== '"') return null;
  const end = closingQuote(text, start + 1);
  const value = end === -1 ? null : text.slice(start + 1, end);
  return value === null || value.includes('\\') ? null : value;
}

/** The index of the closing quote of the string whose content starts at `from`; -1 if there is none. */
function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text[at - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return -1;
}
