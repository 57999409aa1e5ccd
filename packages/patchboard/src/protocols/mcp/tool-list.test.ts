import { CallToolResultSchema, ToolSchema } from '@modelcontextprotocol/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aServerTool } from '../../../test/support/an-engine.ts';
import { mcpTool, type ToolForMcp } from './tool-list.ts';
import { mcpResultMembers } from './tool-result.ts';

const TOOL: ToolForMcp = {
  name: 'gallery.export',
  wireName: 'gallery__export',
  description: 'exports a picture',
  inputSchema: { properties: { id: { type: 'string', 'x-mcp-header': 'Id' } }, additionalProperties: false },
  outputSchema: { type: 'object', properties: {} },
  annotations: { readonly: true, destructive: false, idempotent: true, requires_approval: true },
  metadata: { version: '2', openWorldHint: false },
  source: 'client',
  version: 'abc',
  runsOn: { kind: 'client', clientId: 'a' },
};
const MODERN = { outputSchema: 'any', names: 'wire' } as const;

describe('a tool in an MCP tool list', () => {
  it('has its wire name, its canonical name as title, hints and where it comes from', () => {
    const listed = mcpTool(TOOL, MODERN);
    expect(listed).toEqual({
      name: 'gallery__export',
      title: 'gallery.export',
      description: 'exports a picture',
      inputSchema: { ...(TOOL.inputSchema as object), type: 'object' },
      outputSchema: TOOL.outputSchema,
      annotations: {
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
      _meta: {
        'patchboard/name': 'gallery.export',
        'patchboard/source': 'client',
        'patchboard/version': 'abc',
      },
    });
    expect(ToolSchema.parse(listed)).toEqual(listed);
  });

  it('names the servers that it passes through', () => {
    const tool = aServerTool({ name: 'far.echo', via: ['c', 'b'] });
    const { _meta: meta } = mcpTool({ ...TOOL, runsOn: { kind: 'server', tool } }, MODERN);
    expect(meta).toMatchObject({ 'patchboard/via': ['c', 'b'] });
  });

  it('has its canonical name where that is wanted, and no hint that it does not give', () => {
    const plain = { ...TOOL, annotations: {}, metadata: { openWorldHint: 'yes' } };
    const listed = mcpTool(plain, { outputSchema: 'none', names: 'canonical' });
    expect([listed.name, listed.title, listed.annotations]).toEqual([TOOL.name, TOOL.name, {}]);
  });

  it.each([
    [{ type: 'object' }, true, true],
    [{ type: 'array', items: {} }, true, false],
    [{ anyOf: [{ type: 'object' }, { type: 'null' }] }, true, false],
    [true, false, false],
    [null, false, false],
  ] as const)('has the output schema %j if its client takes it', (outputSchema, any, object) => {
    const shown = (wanted: 'any' | 'object' | 'none'): unknown =>
      mcpTool({ ...TOOL, outputSchema }, { outputSchema: wanted, names: 'wire' }).outputSchema;
    expect(shown('any')).toEqual(any ? outputSchema : undefined);
    expect(shown('object')).toEqual(object ? outputSchema : undefined);
    expect(shown('none')).toBeUndefined();
  });
});

const resultOf = (value: unknown, structured: 'any' | 'object', hasOutputSchema = false): unknown =>
  JSON.parse(`{${mcpResultMembers(JSON.stringify(value), { structured, hasOutputSchema })}}`);

describe('mcpResultMembers', () => {
  it('has any JSON but a string as structured content, and in earlier revisions objects only', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const isString = typeof value === 'string';
        const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
        const content = [{ type: 'text', text: isString ? value : JSON.stringify(value) }];
        const stored = JSON.parse(JSON.stringify(value)) as unknown;
        const plain = { content, isError: false };
        const full = { ...plain, structuredContent: stored };
        expect(resultOf(value, 'any')).toEqual(isString ? plain : full);
        expect(resultOf(value, 'any', true)).toEqual(full);
        expect(resultOf(value, 'object', true)).toEqual(isObject ? full : plain);
        expect(CallToolResultSchema.safeParse(resultOf(value, 'any')).success).toBe(true);
      }),
    );
  });

  it('has the blocks of content, with structured JSON beside them', () => {
    const blocks = [{ type: 'text', text: 'a' }];
    const value = { 'patchboard:content': blocks, structured: [1] };
    expect(resultOf(value, 'any')).toEqual({ content: blocks, structuredContent: [1], isError: false });
    expect(resultOf(value, 'object')).toEqual({ content: blocks, isError: false });
    const object = { 'patchboard:content': blocks, structured: { a: 1 } };
    expect(resultOf(object, 'object')).toEqual({
      content: blocks,
      structuredContent: { a: 1 },
      isError: false,
    });
    expect(resultOf({ 'patchboard:content': blocks }, 'any', true)).toEqual({
      content: blocks,
      isError: false,
    });
    const data = { 'patchboard:content': 'no list' };
    expect(resultOf(data, 'object')).toMatchObject({ structuredContent: data });
  });
});
