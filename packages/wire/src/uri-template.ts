/** A URI template of RFC 6570, level 1: literal text and expressions `{name}`. */
export interface UriTemplate {
  /** In the order of the template. */
  readonly variables: readonly string[];
  /** Returns the decoded values of the variables; null if the URI was not made from the template. */
  readonly match: (uri: string) => Readonly<Record<string, string>> | null;
  /** Percent-encodes the values. A variable without a value becomes the empty string. */
  readonly expand: (values: Readonly<Record<string, string>>) => string;
}

const EXPRESSION = /\{([A-Za-z0-9_]{1,64})\}/g;

/**
 * Returns null unless the text is a template of level 1 that can be matched without ambiguity: at least one variable, no
 * name twice, and literal text between two variables.
 */
export function parseUriTemplate(text: string): UriTemplate | null {
  const variables: string[] = [];
  const literals: string[] = [];
  let end = 0;
  for (const found of text.matchAll(EXPRESSION)) {
    literals.push(text.slice(end, found.index));
    variables.push(found[1] ?? '');
    end = found.index + found[0].length;
  }
  literals.push(text.slice(end));
  const isPlain = literals.every((literal) => !/[{}]/.test(literal));
  const isDelimited = literals.slice(1, -1).every((literal) => literal !== '');
  const isUnique = new Set(variables).size === variables.length;
  if (variables.length === 0 || !isPlain || !isDelimited || !isUnique) return null;
  return {
    variables,
    match: (uri) => matchParts(uri, variables, literals),
    expand: (values) =>
      literals.map((literal, index) => literal + encoded(values[variables[index] ?? ''] ?? '')).join(''),
  };
}

/** Each variable ends at the first occurrence of the literal after it, so the time is linear. */
function matchParts(
  uri: string,
  variables: readonly string[],
  literals: readonly string[],
): Readonly<Record<string, string>> | null {
  const [first = ''] = literals;
  if (!uri.startsWith(first)) return null;
  const values: [string, string][] = [];
  let at = first.length;
  for (const [index, name] of variables.entries()) {
    const literal = literals[index + 1] ?? '';
    const isLast = index === variables.length - 1;
    const end = isLast ? uri.length - literal.length : uri.indexOf(literal, at);
    if (end < at || !uri.startsWith(literal, end)) return null;
    const value = decoded(uri.slice(at, end));
    if (value === null) return null;
    values.push([name, value]);
    at = end + literal.length;
  }
  return Object.fromEntries(values);
}

/** Null for what no expansion of level 1 produces: nothing, a delimiter of URIs, or a broken escape. */
function decoded(part: string): string | null {
  if (part === '' || /[/?#]/.test(part)) return null;
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}

/** RFC 6570, 3.2.2: every character that is not unreserved is encoded. */
function encoded(value: string): string {
  return encodeURIComponent(value).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
