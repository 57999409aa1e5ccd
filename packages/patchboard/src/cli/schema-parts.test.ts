import { describe, expect, it } from 'vitest';
import { itemsSchema, propertySchema, schemaBranches } from './schema-parts.ts';

/** Each definition includes the next one twice. */
function doubling(count: number): Record<string, unknown> {
  const definitions = Array.from({ length: count }, (_, no) => {
    const next = { $ref: `#/$defs/d${no + 1}` };
    return [
      `d${no}`,
      no + 1 < count ? { allOf: [next, next] } : { properties: { name: { type: 'string' } } },
    ];
  });
  const schema = { $ref: '#/$defs/d0', $defs: Object.fromEntries(definitions) as Record<string, unknown> };
  // As it arrives: no two parts are the same object.
  return JSON.parse(JSON.stringify(schema)) as Record<string, unknown>;
}

describe('the parts of a schema', () => {
  it('are visited once, however often they are included', () => {
    const schema = doubling(100);
    // The root, 100 definitions, and two references in each but the last.
    expect(schemaBranches(schema)).toHaveLength(1 + 100 + 2 * 99);
    expect(propertySchema(schema, 'name')).toEqual({ type: 'string' });
  });

  it('may include each other', () => {
    const schema = {
      $ref: '#/$defs/tree',
      $defs: { tree: { anyOf: [{ $ref: '#/$defs/tree' }, { items: true }] } },
    };
    expect(schemaBranches(schema)).toHaveLength(4);
    expect(itemsSchema(schema, schema)).toBe(true);
  });
});
