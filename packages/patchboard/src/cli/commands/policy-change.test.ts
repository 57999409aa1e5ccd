import { describe, expect, it } from 'vitest';
import { parseText } from '../../settings/yaml-text.ts';
import { policyText } from './policy-change.ts';

const INVISIBLE = ['⚠\ufe0f ask', 'a\u00a0b', 'tag\u{e0041}', 'line\u2028end', 'two\nlines\u200b', '\ttab'];

describe('a policy as text', () => {
  it.each(INVISIBLE)('is read back as it was, and shows what is invisible: %j', (text) => {
    const document = {
      default: { rules: [{ tools: 'a', effect: 'ask', reason: text }] },
      agents: { [text]: {} },
    };
    const yaml = policyText(document);
    expect(yaml).not.toContain(text);
    expect(parseText(`${yaml}\n`)).toMatchObject({ value: document, problems: [] });
  });

  it('tells a character from its escape', () => {
    const [real, typed] = ['⚠\ufe0f', String.raw`⚠\ufe0f`].map((reason) =>
      policyText({ default: { reason } }),
    );
    expect(real).not.toBe(typed);
  });
});
