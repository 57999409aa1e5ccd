import { describe, expect, it } from 'vitest';
import { schemaCompiler } from './own-schema.ts';
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

describe('schemaCompiler', () => {
  it('does not read a schema before its first use', () => {
    const { schema, reads } = countedSchema();
    const validate = schemaCompiler()(schema);
    expect(reads()).toBe(0);
    expect([validate()('text'), validate()(7)]).toEqual([true, false]);
    expect(reads()).toBeGreaterThan(0);
  });

  it('compiles a schema once, for every server of the process', () => {
    const { schema } = countedSchema();
    const compile = schemaCompiler();
    const [first, second] = [compile(schema), compile(schema)];
    expect(second()).toBe(first());
    expect(compile(schema)()).toBe(first());
  });

  it('reports all errors, or only the first', () => {
    const schema: Schema = { type: 'string', minLength: 3, pattern: '^b' };
    const [brief, exact] = [schemaCompiler()(schema)(), schemaCompiler({ allErrors: true })(schema)()];
    expect([brief('a'), exact('a')]).toEqual([false, false]);
    expect([brief.errors?.length, exact.errors?.length]).toEqual([1, 2]);
  });

  it('refuses a keyword that it does not know, which would check nothing', () => {
    expect(schemaCompiler()({ minimumLength: 3 })).toThrow(/unknown keyword: "minimumLength"/);
  });
});
