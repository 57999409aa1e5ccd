import { formatRequest } from '@patchboard/wire/vcp';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ToolExecutionResult } from '../protocol.ts';
import { collectReply, parseReply, replyReader } from '../reply-reader.ts';
import { vcpProtocol } from './vcp-protocol.ts';

/** Texts that look like parts of the grammar, and texts that break careless parsers. */
const PIECES = [
  '<<<[TOOL_REQUEST]>>>',
  '<<<[END_TOOL_REQUEST]>>>',
  '<<<[TOOL_RESULT]>>>',
  '<<<[END_TOOL_RESULT]>>>',
  '<<<[TOOL_DEFINITION]>>>',
  '<<<[END_TOOL_DEFINITION]>>>',
  '<<<[TOOL_REQUEST_ESCAPE]>>>',
  '<<<[END_TOOL_REQUEST_ESCAPE]>>>',
  '<<<[TOOL_',
  '「始」',
  '「末」',
  '「始ESCAPE」',
  '「末ESCAPE」',
  '「始ESCAPE1」',
  '「末ESCAPE1」',
  '「末ESCAPE2」',
  '「始escape」',
  '{始ESCAPE}',
  '「末escape」',
  '{末ESCAPE}',
  '「末Escape1}',
  '「始',
  '「末',
  '」',
  'ESCAPE',
  'tool_name:「始」rm_all「末」',
  'path:「始」',
  'command1:「始」x「末」',
  ' key : 「始」',
  '```',
  '```\n',
  '`',
  '<think>',
  '</think>',
  '<thinking>',
  '<Think a="b">',
  '</THINK >',
  '~~~',
  '\n~~~\n',
  '$1',
  '$&',
  '\\',
  '\\n',
  '\n',
  '\r\n',
  '\r',
  ' ',
  ',',
  '，',
  '；',
  '、',
  ':',
  '😀',
  '\ud83d',
  '你好',
  '0',
  'a',
] as const;

const wildText = fc
  .array(
    fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...PIECES) }, { weight: 1, arbitrary: fc.string() }),
    {
      maxLength: 24,
    },
  )
  .map((pieces) => pieces.join(''));
const ODD_KEYS = [
  'tool_name',
  'command',
  'request_id',
  'command1',
  'command2',
  'maid',
  'archery',
  'arg-maid',
  'sha256',
  'arg-arg-command',
  'arg-x',
  'constructor',
  'toString',
  'path1',
];
const key = fc.oneof(fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/), fc.constantFrom(...ODD_KEYS));
const args = fc.dictionary(
  key.filter((name) => name !== '__proto__'),
  wildText,
  { maxKeys: 6 },
);
const toolName = fc.stringMatching(/^[A-Za-z0-9_.-]{1,40}$/);

describe('a request that was written', () => {
  it('reads back as it was, whatever names and values it has', () => {
    fc.assert(
      fc.property(toolName, args, (name, given) => {
        const parsed = parseReply(
          vcpProtocol,
          formatRequest({ toolName: name, requestId: 'r', args: given }),
        );
        expect(parsed.errors).toEqual([]);
        expect(parsed.text).toBe('');
        expect(parsed.requests.map((request) => [request.requestId, request.toolName, request.args])).toEqual(
          [['r', name, { ...given }]],
        );
      }),
      { numRuns: 3000 },
    );
  });

  it('reads back among others, in the order they were written', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(toolName, args), { maxLength: 5 }), (calls) => {
        const text = calls
          .map(([name, given]) => formatRequest({ toolName: name, args: given }))
          .join('\nand\n');
        const parsed = parseReply(vcpProtocol, text);
        expect(parsed.errors).toEqual([]);
        expect(parsed.requests.map((request) => [request.toolName, request.args])).toEqual(
          calls.map(([name, given]) => [name, { ...given }]),
        );
      }),
      { numRuns: 500 },
    );
  });
});

describe('any text', () => {
  it('is parsed without a throw, and the same however it is split', () => {
    fc.assert(
      fc.property(fc.array(wildText, { maxLength: 8 }), (pieces) => {
        const reader = replyReader(vcpProtocol);
        const items = [...pieces.flatMap((piece) => [...reader.read(piece)]), ...reader.end()];
        const whole = parseReply(vcpProtocol, pieces.join(''));
        expect(collectReply(items)).toEqual(whole);
        expect(
          collectReply([
            ...(() => {
              const single = replyReader(vcpProtocol);
              return [
                ...pieces
                  .join('')
                  .split('')
                  .flatMap((one) => [...single.read(one)]),
                ...single.end(),
              ];
            })(),
          ]),
        ).toEqual(whole);
      }),
      { numRuns: 2000 },
    );
  });

  it('makes a request only of a block that stands in it whole, with one start, one end and a name', () => {
    fc.assert(
      fc.property(wildText, wildText, wildText, (before, inside, after) => {
        const text = `${before}<<<[TOOL_REQUEST]>>>tool_name:「始」t「末」${inside}<<<[END_TOOL_REQUEST]>>>${after}`;
        let last = 0;
        for (const { rawBlock, offset } of parseReply(vcpProtocol, text).requests) {
          expect(text.slice(offset, offset + rawBlock.length)).toBe(rawBlock);
          expect(rawBlock.startsWith('<<<[TOOL_REQUEST]>>>')).toBe(true);
          expect(rawBlock.endsWith('<<<[END_TOOL_REQUEST]>>>')).toBe(true);
          expect(rawBlock).toContain('tool_name');
          expect(offset).toBeGreaterThanOrEqual(last); // no two share a character, batches apart
          last = offset;
          // Parsed alone, the block gives the same request.
          expect(parseReply(vcpProtocol, rawBlock).errors).toEqual([]);
        }
      }),
      { numRuns: 3000 },
    );
  });
});

describe('text of tools and results', () => {
  const result = fc.record<ToolExecutionResult>({
    requestId: wildText,
    toolName: wildText,
    status: fc.constantFrom('success', 'error'),
    result: wildText,
    durationMs: fc.nat(),
  });

  it('cannot ask for anything from inside a result, nor end its block', () => {
    fc.assert(
      fc.property(fc.array(result, { maxLength: 4 }), (results) => {
        const text = vcpProtocol.formatToolResults(results);
        expect(parseReply(vcpProtocol, text)).toMatchObject({ requests: [], errors: [] });
        expect(text).not.toContain('<<<[TOOL_REQUEST]>>>');
        expect(text.split('<<<[TOOL_RESULT]>>>')).toHaveLength(results.length + 1);
        expect(text.split('<<<[END_TOOL_RESULT]>>>')).toHaveLength(results.length + 1);
      }),
      { numRuns: 2000 },
    );
  });

  it('cannot ask for anything from inside a definition, nor end its block', () => {
    fc.assert(
      fc.property(wildText, wildText, wildText, (description, about, fallback) => {
        const method = {
          name: 'run',
          description,
          parameters: [{ name: 'path', required: true, description: about, defaultValue: fallback }],
        };
        const text = vcpProtocol.generateToolDefinitions([
          { toolId: 'x', toolName: about, methods: [method] },
        ]);
        expect(parseReply(vcpProtocol, text)).toMatchObject({ requests: [], errors: [] });
        expect(text.split('<<<[TOOL_DEFINITION]>>>')).toHaveLength(2);
        expect(text.split('<<<[END_TOOL_DEFINITION]>>>')).toHaveLength(2);
        expect(text.split('<<<[TOOL_REQUEST]>>>')).toHaveLength(2); // our own example
      }),
      { numRuns: 2000 },
    );
  });
});
