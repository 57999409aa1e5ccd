import { describe, expect, it } from 'vitest';
import { isMissingAt, missingMemberOf } from './missing-member.ts';
import { validateArgs } from './validate-args.ts';

const deep = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n', 'a/b'] };
const schema = { type: 'object', properties: { deep }, required: ['deep'] };

describe('missingMemberOf', () => {
  it('returns the name of the missing member of any object', () => {
    expect(validateArgs(schema, {}).map(missingMemberOf)).toEqual(['deep']);
    expect(validateArgs(schema, { deep: {} }).map(missingMemberOf)).toEqual(['n', 'a/b']);
  });

  it('returns undefined for other issues, and for those without reasons', () => {
    expect(validateArgs(schema, { deep: 1 }).map(missingMemberOf)).toEqual([undefined]);
    expect(missingMemberOf({ path: '', message: 'no' })).toBeUndefined();
  });
});

describe('isMissingAt', () => {
  it('compares with the pointer of the member, with its escapes', () => {
    const issues = validateArgs(schema, { deep: {} });
    const isMissing = (pointer: string): boolean => issues.some((issue) => isMissingAt(issue, pointer));
    expect(['/deep/n', '/deep/a~1b', '/deep', '/n', ''].map(isMissing)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});
