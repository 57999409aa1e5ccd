import { describe, expect, it } from 'vitest';
import { ownValidator } from './own-schema.ts';
import type { Schema } from './routes.ts';

/** A schema that counts how often its keywords are read. */
function countedSchema(): { schema: Schema; reads: () => number } {
  let reads = 0;
  const schema: Schema = {
    get type() {
      reads += 1;
      return 'string';
    },
  };
  return { schema, reads: () => reads };
}

describe('ownValidator', () => {
  it('does not read a schema before its first use', () => {
    const { schema, reads } = countedSchema();
    const validate = ownValidator(schema);
    expect(reads()).toBe(0);
    expect([validate('text'), validate(7)]).toMatchObject([null, [{ message: 'must be string' }]]);
    expect(reads()).toBeGreaterThan(0);
  });

  it('compiles a schema once, for every server of the process', () => {
    const { schema, reads } = countedSchema();
    ownValidator(schema)('text');
    const afterFirst = reads();
    ownValidator(schema)('text');
    expect(reads()).toBe(afterFirst);
  });
});
