import fc from 'fast-check';

const START = '<<<[TOOL_REQUEST]>>>';
const END = '<<<[END_TOOL_REQUEST]>>>';

const ORDINARY_KEYS = ['path', 'text', 'command', 'request_id', 'constructor', 'path2', '9', '-'] as const;
/** Keys that are more than the name of an argument, and some that look so. */
const SPECIAL_KEYS = [
  'tool_name',
  'command1',
  'path1',
  'command2',
  'archery',
  'maid',
  'inkwell',
  'arg-command',
  'arg-path',
  '__proto__',
  'arg-__proto__',
] as const;

/** Values that may be plain. */
const PLAIN_VALUES = [
  '',
  'a_b',
  'src/tools',
  'no_reply',
  '\nline\n',
  '\r\n\r\n',
  '\n',
  ' two  words ',
  '<b>`x`</b>',
  '```js\n~~~\n',
  '<think>',
  '</think>',
  '<<<',
  '<<<[',
  'key: value, other:「x」',
  '「',
  '末',
  '「末ESCAPE」',
  '{末}',
  '$& $1 \\n',
  '你好😀',
  '\ud83d',
] as const;

/** Texts that damage or end something, or are read differently in prose, in a gap and in a value. */
const MARKS = [
  START,
  END,
  '<<<[TOOL_REQUEST',
  '<<<[END_TOOL_REQUEST]>>',
  '<<<[TOOL_REQUEST_ESCAPE]>>>',
  '<<<[TOOL_RESULT]>>>',
  '「始」',
  '「末」',
  '「始',
  '始',
  '末',
  '」',
  '「始ESCAPE」',
  '「末ESCAPE」',
  '{始escape}',
  '「末Escape}',
  '「始ESCAPE12」',
  '「末ESCAPE12」',
  'path:「始」',
  ' path : 「始」',
  'text:「始ESCAPE」',
  'tool_name:「始」t「末」',
  'oops',
  'x',
  '.',
  ':',
  '：',
  ',',
  '，',
  '\u00a0',
  '`',
  '``',
  '```',
  '\n```js\n',
  '\n```\n',
  '~',
  '~~~',
  '\n> ~~~~\n',
  '<think>',
  '</think>',
  '<Thinking a="b">',
  '</THINKING>',
  '<thin',
  '<',
  '>',
  '- ',
  ' ',
  '\n',
  '\r\n',
  '\u0000',
] as const;

const CLOSERS = ['「末」', 'a「末」b', END, START, '<<<[', '始'] as const;

const key = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...ORDINARY_KEYS) },
  { weight: 1, arbitrary: fc.constantFrom(...SPECIAL_KEYS) },
);
const mark = fc.oneof(fc.constantFrom(...MARKS), fc.constantFrom(...CLOSERS));
const plainValue = fc.constantFrom(...PLAIN_VALUES);

const commonSeparator = fc.constantFrom('\n', ',\n', '', ' ', '\r\n', ',', '，', '\t');

/** A request as most are. */
const plainBlock = fc
  .record({
    fields: fc.uniqueArray(fc.tuple(key, plainValue), { maxLength: 4, selector: ([name]) => name }),
    separators: fc.array(commonSeparator, { minLength: 6, maxLength: 6 }),
    tool: fc.oneof({ weight: 9, arbitrary: fc.constant('a_b') }, { weight: 1, arbitrary: plainValue }),
    toolAt: fc.nat(4),
  })
  .map(({ fields, separators, tool, toolAt }) => {
    const all = fields.toSpliced(toolAt, 0, ['tool_name', tool]);
    const parts = all.map(([name, value], index) => `${separators[index]}${name}:「始」${value}「末」`);
    return `${START}${parts.join('')}${separators[all.length]}${END}`;
  });

const unusualField = fc
  .record({
    name: fc.oneof(key, fc.string({ maxLength: 3 })),
    colon: fc.constantFrom(':', ':', ' : ', ':\n', '：', ''),
    tags: fc.constantFrom(
      ['「始」', '「末」'],
      ['「始ESCAPE」', '「末ESCAPE」'],
      ['{始escape}', '「末ESCAPE」'],
      ['「始ESCAPE7」', '「末escape7}'],
      ['「始」', '「末ESCAPE」'],
      ['「始ESCAPE」', '「末」'],
      ['', ''],
    ),
    value: fc.oneof(plainValue, mark, fc.string()),
    separator: fc.oneof(commonSeparator, fc.constantFrom('；\n', '、', '\u00a0'), mark),
  })
  .map(
    ({ name, colon, tags: [opener, closer], value, separator }) =>
      `${name}${colon}${opener}${value}${closer}${separator}`,
  );

/** A request with every form that the grammar allows, and values that may damage it. */
const unusualBlock = fc
  .array(unusualField, { maxLength: 5 })
  .map((fields) => `${START}tool_name:「始」a_b「末」${fields.join('')}${END}`);

const change = fc.record({
  at: fc.nat(),
  removed: fc.oneof(fc.constant(0), fc.nat({ max: 4 }), fc.nat({ max: 40 })),
  inserted: fc.oneof(fc.constant(''), mark, fc.string({ maxLength: 2 }), plainBlock),
});

/** A plain request with a few characters removed, replaced or inserted anywhere. */
const damagedBlock = fc
  .tuple(plainBlock, fc.array(change, { minLength: 1, maxLength: 3 }))
  .map(([block, changes]) =>
    changes.reduce((text, { at, removed, inserted }) => {
      const index = at % (text.length + 1);
      return text.slice(0, index) + inserted + text.slice(index + removed);
    }, block),
  );

const prose = fc.constantFrom('I will look.', '\n', 'a `b` c', '\n\n', '我先看看。', 'x < y', '1. ', '> ');

/** Replies of plain, unusual and damaged requests, markers without a partner, fences, code, thoughts and prose. */
export const arbitraryReply: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      { weight: 5, arbitrary: plainBlock },
      { weight: 2, arbitrary: unusualBlock },
      { weight: 4, arbitrary: damagedBlock },
      { weight: 3, arbitrary: prose },
      { weight: 3, arbitrary: mark },
      { weight: 1, arbitrary: fc.string() },
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));

/** A reply in up to eight pieces, some of them empty. */
export const arbitraryPieces: fc.Arbitrary<string[]> = fc
  .tuple(arbitraryReply, fc.array(fc.nat(), { maxLength: 7 }))
  .map(([text, cuts]) => {
    const ends = cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b);
    return [...ends, text.length].map((end, index) => text.slice(ends[index - 1] ?? 0, end));
  });
