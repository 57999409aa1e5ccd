export type Dialect = 'sqlite' | 'postgres';

interface Rules {
  /** Matches one comment, quoted text or quoted name from its first to its last character. */
  readonly opaque: RegExp;
  readonly nestedComments: boolean;
}

const LINE_COMMENT = '--[^\\n]*';
const RULES: Readonly<Record<Dialect, Rules>> = {
  sqlite: {
    opaque: new RegExp(
      `${LINE_COMMENT}|/\\*[^]*?(?:\\*/|$)|'(?:[^']|'')*'|"(?:[^"]|"")*"|\`(?:[^\`]|\`\`)*\`|\\[[^\\]]*\\]`,
      'y',
    ),
    nestedComments: false,
  },
  postgres: {
    opaque: new RegExp(
      `${LINE_COMMENT}|[eE]'(?:[^'\\\\]|''|\\\\[^])*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|\\$([A-Za-z_\\u0080-\\uffff][\\w\\u0080-\\uffff]*)?\\$[^]*?\\$\\1\\$`,
      'y',
    ),
    nestedComments: true,
  },
};

/** A word or number, matched as a whole, so that a `$` or `e` in a name does not start a quoted text. */
const WORD = /[\w\u0080-\uffff][\w$\u0080-\uffff]*/y;

/** Replaces every comment and quoted part of the statement by a space. Returns undefined if one is not terminated. */
export function skeletonOf(sql: string, dialect: Dialect): string | undefined {
  const rules = RULES[dialect];
  const kept: string[] = [];
  let index = 0;
  while (index < sql.length) {
    const length = opaqueLength(sql, index, rules);
    if (length === undefined) return undefined;
    if (length > 0) {
      kept.push(' ');
      index += length;
      continue;
    }
    const plain = matchAt(WORD, sql, index) ?? sql.charAt(index);
    kept.push(plain);
    index += plain.length;
  }
  return kept.join('');
}

/** Returns 0 if no comment or quote starts here, and undefined if it is not terminated. */
function opaqueLength(sql: string, index: number, rules: Rules): number | undefined {
  if (rules.nestedComments && sql.startsWith('/*', index)) return nestedCommentLength(sql, index);
  const matched = matchAt(rules.opaque, sql, index);
  if (matched !== undefined) return matched.length;
  const opens = rules.nestedComments ? /['"]|\$(?:[A-Za-z_]\w*)?\$/y : /['"`[]/y;
  return matchAt(opens, sql, index) === undefined ? 0 : undefined;
}

function nestedCommentLength(sql: string, start: number): number | undefined {
  let depth = 0;
  let index = start;
  while (index < sql.length) {
    if (sql.startsWith('/*', index)) depth += 1;
    else if (sql.startsWith('*/', index)) depth -= 1;
    else {
      index += 1;
      continue;
    }
    index += 2;
    if (depth === 0) return index - start;
  }
  return undefined;
}

function matchAt(pattern: RegExp, text: string, index: number): string | undefined {
  pattern.lastIndex = index;
  return pattern.exec(text)?.[0];
}
