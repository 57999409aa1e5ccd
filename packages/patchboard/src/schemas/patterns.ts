import { reason, type Reason } from '@patchboard/wire';
import { compileNativePattern, type CompiledPattern } from '@patchboard/wire/json';
import { RE2JS, RE2JSSyntaxException } from 're2js';
import { OUTSIDE_LIMITS } from './outside-limits.ts';

/** Up to this many instructions RE2JS runs a DFA, measured at 100 ns per character at worst. */
const SMALL_PROGRAM = 64;

/** Maps RE2JS's descriptions of patterns beyond its size limits to our reasons. */
const TOO_LARGE: ReadonlyMap<string, Reason> = new Map<string, Reason>([
  ['invalid repeat count', reason('pattern_repeats_too_often')],
  ['expression too large', reason('pattern_too_large')],
  ['expression nests too deeply', reason('pattern_too_deep')],
]);

/**
 * Compiles a pattern from outside with RE2JS, which matches in linear time. A large program still costs up to 70 ns per
 * character and instruction; `stepsPerChar` charges that to the step budget.
 */
export function compileOutsidePattern(source: string): CompiledPattern {
  if (source.length > OUTSIDE_LIMITS.patternLength) {
    return { ok: false, problem: reason('pattern_too_long', { characters: OUTSIDE_LIMITS.patternLength }) };
  }
  // JSON Schema uses JavaScript's syntax: a pattern that only RE2JS accepts is an error.
  const native = compileNativePattern(source);
  if (!native.ok) return native;
  try {
    const program = RE2JS.compile(toRe2(source));
    const size = program.programSize();
    const stepsPerChar = size <= SMALL_PROGRAM ? 4 : size * 3.5;
    return { ok: true, pattern: { test: (text) => program.test(text), size, stepsPerChar } };
  } catch (error) {
    return { ok: false, problem: problemOf(error) };
  }
}

function problemOf(error: unknown): Reason {
  const tooLarge = error instanceof RE2JSSyntaxException ? TOO_LARGE.get(error.getDescription()) : undefined;
  return tooLarge ?? reason('pattern_unsupported');
}

const SPACE = '\\s\\v\\x{a0}\\x{feff}\\p{Z}';

/** Translates to RE2 syntax, where `.` and `\s` match fewer characters than in JavaScript. */
function toRe2(source: string): string {
  let isClass = false;
  const translated = source.replaceAll(/\\[^]|[[\].]/g, (token) => {
    switch (token) {
      case '[':
        isClass = true;
        return token;
      case ']':
        isClass = false;
        return token;
      case '.':
        return isClass ? token : '[^\\n\\r\\x{2028}\\x{2029}]';
      case '\\s':
        return isClass ? SPACE : `[${SPACE}]`;
      case '\\S':
        return isClass ? token : `[^${SPACE}]`;
      default:
        // `translateRegExp` would read a named back-reference as plain letters.
        if (/^\\[k1-9]$/.test(token)) throw new Error('a back-reference');
        return token;
    }
  });
  return RE2JS.translateRegExp(translated);
}
