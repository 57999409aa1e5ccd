import { describe, expect, it } from 'vitest';
import { cell, createOutput, layOut, resultText, type Output, type OutputStream } from './output.ts';
import { parseSelectPath } from './select-path.ts';
import { fit, printable, widthOf } from './terminal-text.ts';

function captured(options: { tty?: boolean; columns?: number; noColour?: boolean } = {}): {
  readonly output: Output;
  readonly out: string[];
  readonly error: string[];
} {
  const out: string[] = [];
  const error: string[] = [];
  const stream = (into: string[]): OutputStream => ({
    write: (text) => into.push(text),
    isTTY: options.tty ?? false,
    ...(options.columns === undefined ? {} : { columns: options.columns }),
  });
  const noColour = options.noColour ?? false;
  return { output: createOutput({ stdout: stream(out), stderr: stream(error), noColour }), out, error };
}

describe('output', () => {
  it('writes data to stdout and messages to stderr', () => {
    const { output, out, error } = captured();
    output.data('42');
    output.note('waiting for approval…');
    expect(out).toEqual(['42\n']);
    expect(error).toEqual(['waiting for approval…\n']);
  });

  it('uses colours on a terminal only, and not with NO_COLOR', () => {
    expect(captured({ tty: true }).output.paint('red', 'x')).toBe('\u001b[31mx\u001b[0m');
    expect(captured({ tty: true, noColour: true }).output.paint('red', 'x')).toBe('x');
    expect(captured().output.paint('red', 'x')).toBe('x');
  });

  it('prints valid JSON without control characters', () => {
    const { output, out } = captured({ tty: true });
    const value = { text: 'a\u001b[2Jb\u009b31m\u202e' };
    output.json(value);
    output.jsonLine(value);
    expect(out.join('')).not.toMatch(/[\u001b\u009b\u202e]/);
    expect(out.map((text) => JSON.parse(text) as unknown)).toEqual([value, value]);
  });

  it('prints the values of a path, strings raw, and escapes them on a terminal only', () => {
    const value = { items: [{ a: 'x\u001b' }, { a: { b: undefined, c: 1 } }, {}] };
    for (const [tty, text] of [
      [false, 'x\u001b\n'],
      [true, 'x\\u001b\n'],
    ] as const) {
      const { output, out } = captured({ tty });
      output.select(parseSelectPath('.items[].a'));
      output.json(value);
      output.jsonLine({ items: [] });
      expect(out).toEqual([text, '{"c":1}\n', 'null\n']);
    }
  });

  it('breaks facts at their spaces, with an indent', () => {
    const { output, out } = captured({ tty: true, columns: 16 });
    output.facts([
      ['id', 'tc_12345678901234567890'],
      ['reason', 'it is denied'],
    ]);
    expect(out.join('')).toBe('id      tc_12345678901234567890\nreason  it is\n        denied\n');
  });

  it('prints a table at full width into a pipe', () => {
    const { output, out } = captured();
    const long = 'x'.repeat(300);
    output.table([{ title: 'A' }, { title: 'B', flexible: true }], [['1', long]]);
    expect(out).toEqual(['A  B\n', `1  ${long}\n`]);
  });
});

describe('a table', () => {
  const columns = [{ title: 'NAME' }, { title: 'DESCRIPTION', flexible: true }];

  it('is fitted to the terminal by its flexible columns', () => {
    const lines = layOut(
      columns,
      [
        ['weather.query', 'tells the weather of any place'],
        ['a', 'b'],
      ],
      30,
    );
    expect(lines).toEqual([
      'NAME           DESCRIPTION',
      'weather.query  tells the weat…',
      'a              b',
    ]);
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(30);
  });

  it('counts wide characters as wide', () => {
    const lines = layOut(columns, [['天气', '查询任何城市的天气情况']], 20);
    expect(lines[1]).toBe('天气  查询任何城市…');
    expect(widthOf(lines[1]!)).toBeLessThanOrEqual(20);
  });

  it('does not shrink columns below a minimum: a narrower terminal gets a list for each row', () => {
    const rows = [
      ['name', 'description that is long'],
      ['other', ''],
      ['third', 'indescribable'],
    ];
    expect(layOut(columns, rows, 15)[1]).toBe('name   descrip…');
    expect(layOut(columns, rows, 14)).toEqual([
      'NAME         name',
      'DESCRIPTION  description',
      '             that',
      '             is',
      '             long',
      '',
      'NAME         other',
      '',
      'NAME         third',
      'DESCRIPTION  indescribable',
    ]);
  });

  it('loses columns with an order first, and has all of them as a list', () => {
    const wide = [
      { title: 'ID' },
      { title: 'TIME', dropOrder: 2 },
      { title: 'NOTE', flexible: true },
      { title: 'RUN', dropOrder: 1 },
    ];
    const row = ['tc_1', '12:00', 'a note of 21 columns.', 'run_1'];
    const at = (width: number): string[] => layOut(wide, [row], width);
    expect(at(41)[0]).toBe('ID    TIME   NOTE                   RUN');
    expect(at(40)[0]).toBe('ID    TIME   NOTE');
    expect(at(30)).toEqual(['ID    NOTE', 'tc_1  a note of 21 columns.']);
    expect(at(16)[1]).toBe('tc_1  a note of…');
    expect(at(13)).toEqual(expect.arrayContaining(['ID    tc_1', 'TIME  12:00', 'RUN   run_1']));
  });

  it('aligns painted cells', () => {
    const rows = [
      ['\u001b[32mOK\u001b[0m', 'x'],
      ['FAILED', 'y'],
    ];
    expect(layOut(columns, rows, 80)[1]).toBe('\u001b[32mOK\u001b[0m      x');
  });
});

describe('a result', () => {
  it.each([
    [{ value: 42 }, '42'],
    [{ value: 'text' }, 'text'],
    [{ value: { a: 1 } }, '{\n  "a": 1\n}'],
    [{ value: 1, unit: 'm' }, '{\n  "value": 1,\n  "unit": "m"\n}'],
    ['plain', 'plain'],
    [null, 'null'],
    [undefined, 'null'],
    [[1], '[\n  1\n]'],
    [{}, '{}'],
  ])('%j is shown as a person wants it', (result, expected) => {
    expect(resultText(result, true)).toBe(expected);
  });

  it('is escaped on a terminal and unchanged in a pipe', () => {
    const text = 'one\ntwo\u001b]0;title\u0007';
    expect(resultText({ value: text }, true)).toBe('one\ntwo\\u001b]0;title\\u0007');
    expect(resultText({ value: text }, false)).toBe(text);
  });
});

describe('text from outside', () => {
  it('has its escape sequences escaped', () => {
    expect(printable('a\tb\n\u001b[31m\u200e\u2066')).toBe('a\tb\n\\u001b[31m\\u200e\\u2066');
    expect(cell('  one\n two\r')).toBe('one two\\u000d');
  });

  it('is truncated between characters', () => {
    expect(fit('👍👍👍', 5)).toBe('👍👍…');
    expect(fit('short', 5)).toBe('short');
    expect(widthOf('e\u0301')).toBe(1);
  });
});
