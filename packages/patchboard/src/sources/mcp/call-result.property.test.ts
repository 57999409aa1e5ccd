import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contentText, type JsonSchema } from '@patchboard/wire';
import { mcpResultMembers } from '../../protocols/mcp/tool-result.ts';
import { valueText } from '../../protocols/result-text.ts';
import { SecretMask } from '../shared/secret-mask.ts';
import { resultValue } from './call-result.ts';

const SECRET = 'ghp_0123456789abcdef';
const parts = { upstream: 'github', mask: new SecretMask([SECRET]) };

const text = fc.record({ type: fc.constant('text' as const), text: fc.string() });
const block = fc.oneof(
  text,
  fc.record({
    type: fc.constant('text' as const),
    text: fc.string(),
    annotations: fc.constant({ priority: 1 }),
  }),
  fc.constant({ type: 'image' as const, data: 'AAEC', mimeType: 'image/png' }),
  fc.constant({ type: 'resource_link' as const, uri: 'file:///a', name: 'a' }),
);
/** As it is after its transport: without -0. */
const structured = fc
  .dictionary(fc.string(), fc.jsonValue())
  .map((value) => JSON.parse(JSON.stringify(value)) as Record<string, unknown>);

describe('resultValue', () => {
  it('gives an MCP client the same blocks and the same structured content, however it is stored', () => {
    fc.assert(
      fc.property(
        fc.array(block, { maxLength: 4 }),
        fc.option(structured, { nil: undefined }),
        (content, structuredContent) => {
          const given = { content, ...(structuredContent === undefined ? {} : { structuredContent }) };
          const value = resultValue(parts, given, { outputSchema: null });
          const members = mcpResultMembers(JSON.stringify(value), {
            structured: 'any',
            hasOutputSchema: false,
          });
          const shown = JSON.parse(`{${members}}`) as Record<string, unknown>;
          expect(shown['structuredContent']).toEqual(structuredContent);
          // A block that repeats the structured content is generated from it if there was none.
          if (content.length > 0 || structuredContent === undefined)
            expect(shown['content']).toEqual(content);
        },
      ),
    );
  });

  it('has the same text for a model as the blocks have', () => {
    fc.assert(
      fc.property(fc.array(block, { maxLength: 4 }), (content) => {
        const value = resultValue(parts, { content }, { outputSchema: null });
        expect(valueText(value)).toBe(contentText({ 'patchboard:content': content }));
      }),
    );
  });

  it('contains no secret value, wherever the upstream put it', () => {
    const leaking = fc.constantFrom(
      { content: [{ type: 'text', text: `token: ${SECRET}` }] },
      { content: [], structuredContent: { [SECRET]: 1, deep: [{ token: SECRET }] } },
      { content: [{ type: 'resource_link', uri: `https://example.org/?k=${SECRET}`, name: 'a' }] },
    );
    fc.assert(
      fc.property(leaking, (given) => {
        const value = resultValue(parts, given, { outputSchema: null });
        expect(JSON.stringify(value)).not.toContain(SECRET);
        expect(JSON.stringify(value)).toContain('[redacted]');
      }),
    );
  });
});

describe('the plainest value', () => {
  const json = { rows: [1, 2] };
  const said = (
    content: unknown,
    structuredContent?: unknown,
    outputSchema: JsonSchema | null = null,
  ): unknown => resultValue(parts, { content, structuredContent }, { outputSchema });
  const words = { type: 'text', text: 'sunny' };

  it('is a string for one block of text', () => {
    expect(said([words])).toBe('sunny');
    expect(said([{ ...words, _meta: { a: 1 } }])).toEqual({
      'patchboard:content': [{ ...words, _meta: { a: 1 } }],
    });
    expect(said([words, words])).toEqual({ 'patchboard:content': [words, words] });
    expect(said([])).toEqual({ 'patchboard:content': [] });
  });

  it('is the structured content if a text only repeats it', () => {
    expect(said([{ type: 'text', text: JSON.stringify(json, null, 2) }], json)).toEqual(json);
    expect(said(undefined, json)).toEqual(json);
    expect(said([words], json)).toEqual({ 'patchboard:content': [words], structured: json });
  });

  it('is a content value where the JSON would be taken for one, or where a schema wants structured content', () => {
    const confusing = { 'patchboard:content': [words] };
    expect(said([], confusing)).toEqual({ 'patchboard:content': [], structured: confusing });
    expect(said([words], undefined, { type: 'string' })).toEqual({ 'patchboard:content': [words] });
  });

  it('is a content value if it exceeds the limit of a plain result', () => {
    const long = { type: 'text', text: 'x'.repeat(1_100_000) };
    expect(said([long])).toEqual({ 'patchboard:content': [long] });
  });
});
