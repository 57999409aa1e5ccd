import type { Battery } from './battery.ts';
import { faultProblem } from './target.ts';

const EVIL_TEXT = `${'a'.repeat(50_000)}!`;

interface Bomb {
  readonly schema: unknown;
  /** Arguments for a tool with the schema, if it is accepted. */
  readonly args?: unknown;
}

const nested = (depth: number, inner: unknown = {}): unknown =>
  depth === 0 ? inner : { type: 'object', properties: { a: nested(depth - 1, inner) } };

const doubling = (levels: number): unknown => ({
  $ref: '#/$defs/d0',
  $defs: Object.fromEntries(
    Array.from({ length: levels }, (_, index) => [
      `d${index}`,
      index === levels - 1
        ? { type: 'string' }
        : { allOf: [{ $ref: `#/$defs/d${index + 1}` }, { $ref: `#/$defs/d${index + 1}` }] },
    ]),
  ),
});

const BOMBS: Readonly<Record<string, Bomb>> = {
  'a pattern with nested repetition': { schema: text('^(a+)+$'), args: { s: EVIL_TEXT } },
  'a pattern with alternation': { schema: text('^(a|aa)+$'), args: { s: EVIL_TEXT } },
  'a pattern with a long count': { schema: text('^a{1,100000}$'), args: { s: EVIL_TEXT } },
  'a pattern with counts of counts': { schema: text('^((a{1,100}){1,100}){1,100}$'), args: { s: EVIL_TEXT } },
  'a pattern with a back reference': { schema: text('^(a+)\\1+$'), args: { s: EVIL_TEXT } },
  'a pattern with look-behind': { schema: text('(?<=a{1,1000})b'), args: { s: EVIL_TEXT } },
  'a pattern that does not close': { schema: text('((((') },
  'pattern properties with repetition': {
    schema: { type: 'object', patternProperties: { '^(x+)+$': {} } },
    args: { [`${'x'.repeat(5000)}!`]: 1 },
  },
  'a reference to itself': { schema: { $ref: '#' } },
  'two references in a circle': {
    schema: { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
    args: {},
  },
  'references that double': { schema: doubling(30), args: 'x' },
  'a reference to another host': { schema: { $ref: 'http://127.0.0.1:1/schema.json' } },
  'a reference to a file': { schema: { $ref: 'file:///etc/passwd' } },
  'a thousand levels': { schema: nested(1000) },
  'ten thousand properties': {
    schema: { properties: Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`p${n}`, {}])) },
  },
  'unique items of many objects': {
    schema: { type: 'object', properties: { s: { type: 'array', uniqueItems: true } } },
    args: { s: Array.from({ length: 20_000 }, (_, n) => ({ n })) },
  },
  'contains inside contains': {
    schema: {
      type: 'object',
      properties: { s: { type: 'array', items: { type: 'array', contains: { const: 1 } } } },
    },
    args: { s: Array.from({ length: 500 }, () => Array.from({ length: 50 }, () => 0)) },
  },
  'an enum of a megabyte': { schema: { enum: Array.from({ length: 50_000 }, (_, n) => `value ${n}`) } },
  'a not of a not, a hundred deep': {
    schema: Array.from({ length: 100 }).reduce<unknown>((inner) => ({ not: inner }), {}),
    args: {},
  },
  'anyOf of anyOf': {
    schema: {
      type: 'object',
      properties: {
        s: Array.from({ length: 12 }).reduce<unknown>((inner) => ({ anyOf: [inner, inner] }), {
          type: 'string',
          pattern: 'z',
        }),
      },
    },
    args: { s: EVIL_TEXT },
  },
  'a key __proto__': { schema: JSON.parse('{"properties":{"__proto__":{"type":"string"}}}') as unknown },
  'a type that is an object': { schema: { type: { type: 'string' } } },
  'multiples of a tiny number': {
    schema: { type: 'object', properties: { s: { multipleOf: 1e-300 } } },
    args: { s: 1e300 },
  },
  'a dynamic reference': { schema: { $dynamicAnchor: 'x', $dynamicRef: '#x' }, args: {} },
};

function text(pattern: string): unknown {
  return { type: 'object', properties: { s: { type: 'string', pattern } } };
}

/** Schemas that are expensive to read or to apply: refused, or applied within the budget while others are served. */
export const schemaBombs: Battery = async (target, tally) => {
  const headers = target.credentials['client'] ?? {};
  let number = 0;
  for (const [what, { schema, args }] of Object.entries(BOMBS)) {
    const name = `bomb.${(number += 1)}`;
    const body = { client_id: 'phone', tools: [{ name, schema }] };
    const taken = await target.send('/internal/tools/register', { method: 'POST', headers, body });
    tally.record(
      taken.text.includes('"ok":true') ? 'registered' : 'rejected',
      faultProblem(`schema: ${what}`, taken),
    );
    if (args === undefined) continue;
    const invoked = await target.send(`/v1/tools/${name}/invoke`, {
      method: 'POST',
      headers: target.credentials['agent'] ?? {},
      body: { run_id: 'run_bomb', args },
    });
    tally.record(`invoked: ${invoked.status}`, faultProblem(`arguments: ${what}`, invoked));
  }
};
