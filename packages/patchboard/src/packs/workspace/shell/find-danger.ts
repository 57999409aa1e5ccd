import { reason, type Reason } from '@patchboard/wire';
import { forEachChild, parse, type Command, type SyntaxNode, type Word } from 'unbash';
import { DANGER_RULES, HARMLESS_DEVICES, SHELLS, WRAPPERS, type DangerRule } from './danger-rules.ts';

export interface Danger {
  readonly rule: string;
  readonly reason: Reason;
}

const MAX_DEPTH = 8;

/**
 * Returns the first dangerous part of a command line; null if there is none. Parses the line like bash, so that quotes and
 * substitutions hide nothing. A line that cannot be parsed, or a program known only at run time, counts as dangerous.
 */
export function findDanger(line: string, depth = 0): Danger | null {
  if (depth > MAX_DEPTH) return { rule: 'unreadable', reason: reason('command_too_deep') };
  let script: ReturnType<typeof parse>;
  try {
    script = parse(line);
  } catch {
    return { rule: 'unreadable', reason: reason('command_unparsable') };
  }
  return dangerIn(script, new Set(), depth);
}

/** `inside` has the names of the enclosing functions. */
function dangerIn(node: SyntaxNode, inside: ReadonlySet<string>, depth: number): Danger | null {
  if (node.type === 'Script' && 'errors' in node && (node.errors?.length ?? 0) > 0)
    return {
      rule: 'unreadable',
      reason: reason('command_damaged', { error: node.errors?.[0]?.message ?? 'it is damaged' }),
    };
  const own =
    node.type === 'Command'
      ? dangerOfCommand(node, inside, depth)
      : node.type === 'Redirect'
        ? dangerOfTarget(node.target, node.operator)
        : null;
  if (own !== null) return own;
  const within = node.type === 'Function' ? new Set([...inside, node.name.value]) : inside;
  let found: Danger | null = null;
  forEachChild(node, (child) => {
    found ??= dangerIn(child, within, depth);
  });
  return found;
}

function dangerOfCommand(command: Command, inside: ReadonlySet<string>, depth: number): Danger | null {
  if (command.name === undefined) return null;
  const words = [command.name, ...command.args.filter((word) => word.type === 'Word')];
  return dangerOfWords(words, inside, depth);
}

function dangerOfWords(words: readonly Word[], inside: ReadonlySet<string>, depth: number): Danger | null {
  const [first, ...rest] = words;
  if (first === undefined) return null;
  const text = literal(first);
  if (text === null) return { rule: 'unknown-program', reason: reason('command_program_unknown') };
  const program = text.slice(text.lastIndexOf('/') + 1);
  if (inside.has(program)) return { rule: 'fork-bomb', reason: reason('command_starts_itself', { program }) };
  const rule = DANGER_RULES.find((candidate) => matches(candidate, program, rest));
  if (rule !== undefined) return { rule: rule.id, reason: reason(rule.reason, { program }) };
  const wrapper = WRAPPERS.get(program);
  if (wrapper !== undefined) return dangerOfWords(unwrap(rest, wrapper, program), inside, depth);
  if (program === 'eval' || program === 'source' || program === '.' || program === 'trap')
    return dangerOfTexts(rest, depth);
  return SHELLS.includes(program) ? dangerOfShell(rest, depth) : null;
}

/** Options of shells that take a value. */
const SHELL_VALUED = /^(?:[-+][A-Za-z]*[oO]|--rcfile|--init-file)$/;

/** Checks the text of `bash -c TEXT`. A shell that reads its program from elsewhere cannot be checked. */
function dangerOfShell(args: readonly Word[], depth: number): Danger | null {
  const options: string[] = [];
  let index = 0;
  for (; index < args.length; index += 1) {
    const text = literal(args[index] as Word);
    if (text === null || !/^[-+]./.test(text)) break;
    options.push(text);
    if (SHELL_VALUED.test(text)) index += 1;
    if (text === '--') {
      index += 1;
      break;
    }
  }
  const has = (letter: string): boolean =>
    options.some((option) => /^-[A-Za-z]+$/.test(option) && option.includes(letter));
  const first = args[index];
  if (first !== undefined && has('c')) return dangerOfTexts([first], depth);
  const isFile = first !== undefined && literal(first) !== null && !has('s');
  return isFile ? null : { rule: 'unknown-program', reason: reason('command_program_from_elsewhere') };
}

function dangerOfTexts(words: readonly Word[], depth: number): Danger | null {
  const texts = words.map(literal);
  if (texts.includes(null)) return { rule: 'unknown-program', reason: reason('command_text_unknown') };
  return findDanger(texts.join(' '), depth + 1);
}

function dangerOfTarget(target: Word | undefined, operator: string): Danger | null {
  if (target === undefined || !operator.includes('>')) return null;
  const path = literal(target);
  if (path === null || !path.startsWith('/dev/') || HARMLESS_DEVICES.includes(path)) return null;
  return path.startsWith('/dev/fd/')
    ? null
    : { rule: 'device', reason: reason('command_writes_device', { path }) };
}

function matches(
  { programs, withArguments = [] }: DangerRule,
  program: string,
  args: readonly Word[],
): boolean {
  if (
    !programs.some((name) => (name.endsWith('*') ? program.startsWith(name.slice(0, -1)) : program === name))
  )
    return false;
  return withArguments.every((wanted) =>
    wanted.some((argument) => args.some((word) => isArgument(word, argument))),
  );
}

/** An argument known only at run time may be any, so it counts as a match. */
function isArgument(word: Word, wanted: string): boolean {
  const text = literal(word);
  if (text === null) return word.value.startsWith('$') && !word.text.startsWith('"');
  if (text === wanted || text.startsWith(`${wanted}=`)) return true;
  return /^-[A-Za-z]$/.test(wanted) && /^-[A-Za-z]+$/.test(text) && text.includes(wanted.slice(1));
}

/** Returns the words of the command that a wrapper runs. */
function unwrap(words: readonly Word[], valued: readonly string[], program: string): readonly Word[] {
  let index = 0;
  while (index < words.length) {
    const text = literal(words[index] as Word);
    if (text === null || !(text.startsWith('-') || (program === 'env' && /^\w+=/.test(text)))) break;
    index += valued.includes(text) ? 2 : 1;
  }
  if (program === 'timeout') index += 1; // how long
  return words.slice(index);
}

/** Returns the value of a word; null if it is known only at run time. */
function literal(word: Word): string | null {
  return isLiteral(word.parts) ? word.value : null;
}

function isLiteral(parts: Word['parts']): boolean {
  return (parts ?? []).every((part) => {
    if (part.type === 'DoubleQuoted' || part.type === 'LocaleString') return isLiteral(part.parts);
    return part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'AnsiCQuoted';
  });
}
