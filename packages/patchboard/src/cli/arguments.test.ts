import type { JsonSchema } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { parsePair, readArguments, type ArgumentSources } from './arguments.ts';
import { UsageError } from './exit-codes.ts';

const schema: JsonSchema = {
  type: 'object',
  $defs: { mode: { enum: ['fast', 'slow'] }, size: { type: 'integer' } },
  properties: {
    text: { type: 'string' },
    count: { type: 'integer' },
    ratio: { type: 'number' },
    on: { type: 'boolean' },
    none: { type: 'null' },
    list: { type: 'array', items: { type: 'integer' } },
    deep: { type: 'object' },
    mode: { $ref: '#/$defs/mode' },
    size: { $ref: '#/$defs/size' },
    either: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
    maybe: { type: ['integer', 'null'] },
    loop: { $ref: '#/properties/loop' },
    'a.b': { type: 'string' },
  },
};

const sources: ArgumentSources = {
  readFile: (path) =>
    path === 'a.json' ? Promise.resolve('{"text":"file","count":1}') : Promise.reject(new Error('ENOENT')),
  readStdin: () => Promise.resolve('{"text":"stdin"}'),
};

function read(pairs: string[], args?: string): Promise<Record<string, unknown>> {
  const given = { pairs, ...(args === undefined ? {} : { args }) };
  return readArguments(given, sources, () => Promise.resolve(schema));
}

describe('key=value', () => {
  it.each([
    ['text=42', { text: '42' }],
    ['text=true', { text: 'true' }],
    ['text=', { text: '' }],
    ['text=a=b:=c', { text: 'a=b:=c' }],
    ['count=42', { count: 42 }],
    ['count=-7', { count: -7 }],
    ['ratio=1.5e3', { ratio: 1500 }],
    ['on=false', { on: false }],
    ['none=null', { none: null }],
    ['list=[1,2]', { list: [1, 2] }],
    ['deep={"a":1}', { deep: { a: 1 } }],
    ['mode=fast', { mode: 'fast' }],
    ['size=3', { size: 3 }],
    ['either=3', { either: '3' }],
    ['maybe=null', { maybe: null }],
    ['maybe=3', { maybe: 3 }],
    ['a.b=x', { 'a.b': 'x' }],
  ])('%s is typed by the schema', async (pair, expected) => {
    expect(await read([pair])).toEqual(expected);
  });

  it.each([
    ['other=3', { other: 3 }],
    ['other=true', { other: true }],
    ['other=null', { other: null }],
    ['other=3 apples', { other: '3 apples' }],
    ['other=007', { other: '007' }],
    ['other=0x10', { other: '0x10' }],
    ['loop=x', { loop: 'x' }],
  ])('%s is a scalar or text if the schema defines no type', async (pair, expected) => {
    expect(await read([pair])).toEqual(expected);
  });

  it('makes an array of a repeated key if the schema has one', async () => {
    expect(await read(['list=1', 'list=2'])).toEqual({ list: [1, 2] });
    await expect(read(['text=a', 'text=b'])).rejects.toThrow('"text" is given twice');
  });

  it.each([
    ['count=many', 'count: "many" is not an integer'],
    ['count=1.5', 'count: "1.5" is not an integer'],
    ['on=yes', 'on: "yes" is not a boolean'],
    ['list=a,b', `list: "a,b" is not an array; write list:='["…"]', or repeat list=…`],
    ['deep=x', 'deep: "x" is not an object; write deep:='],
    ['count=12345678901234567890', 'cannot be represented exactly'],
  ])('%s is refused', async (pair, message) => {
    await expect(read([pair])).rejects.toThrow(UsageError);
    await expect(read([pair])).rejects.toThrow(message);
  });

  it('keeps a dangerous key as plain data', async () => {
    const args = await read(['__proto__=x']);
    expect(Object.hasOwn(args, '__proto__')).toBe(true);
    expect(Object.getPrototypeOf(args)).toBe(Object.prototype);
  });
});

describe('key:=json', () => {
  it('is parsed as JSON, without fetching the schema', async () => {
    const never = (): Promise<JsonSchema> => Promise.reject(new Error('not needed'));
    const pairs = ['text:=42', 'list:=["a"]', 'x:=null', 'y:="z=1"'];
    expect(await readArguments({ pairs }, sources, never)).toEqual({
      text: 42,
      list: ['a'],
      x: null,
      y: 'z=1',
    });
  });

  it('must be JSON', async () => {
    await expect(read(['text:=oops'])).rejects.toThrow('text:= is not JSON');
  });
});

describe('whole objects', () => {
  it.each([
    ['{"text":"inline"}', { text: 'inline' }],
    ['@a.json', { text: 'file', count: 1 }],
    ['-', { text: 'stdin' }],
  ])('come from --args %s', async (args, expected) => {
    expect(await read([], args)).toEqual(expected);
  });

  it('come from standard input with a lone dash, and pairs override them', async () => {
    expect(await read(['-'])).toEqual({ text: 'stdin' });
    expect(await read(['text=pair'], '@a.json')).toEqual({ text: 'pair', count: 1 });
  });

  it.each([
    ['[1]', '--args must be a JSON object'],
    ['{', '--args is not JSON'],
    ['@b.json', 'cannot read b.json: ENOENT'],
  ])('are refused: %s', async (args, message) => {
    await expect(read([], args)).rejects.toThrow(message);
  });

  it('come from one source only', async () => {
    await expect(read(['-'], '{}')).rejects.toThrow('not both');
  });

  it('are optional', async () => {
    expect(await read([])).toEqual({});
  });
});

describe('parsePair', () => {
  it.each(['text', '=x', ':=x', ''])('refuses "%s"', (text) => {
    expect(() => parsePair(text)).toThrow(UsageError);
  });
});
