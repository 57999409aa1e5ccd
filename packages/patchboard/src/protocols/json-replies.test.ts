import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ANTHROPIC_REPLIES } from './anthropic/__fixtures__/replies.ts';
import { anthropicProtocol } from './anthropic/anthropic-protocol.ts';
import { CHAT_REPLIES, RESPONSES_REPLIES } from './openai/__fixtures__/replies.ts';
import { openAiChatProtocol, openAiResponsesProtocol } from './openai/openai-protocols.ts';
import type { ToolCallingProtocol } from './protocol.ts';
import { collectReply, parseReply, replyReader, type ParsedReply } from './reply-reader.ts';

function readIn(protocol: ToolCallingProtocol, pieces: readonly string[]): ParsedReply {
  const reader = replyReader(protocol);
  return collectReply([...pieces.flatMap((piece) => [...reader.read(piece)]), ...reader.end()]);
}

describe.each([
  { protocol: anthropicProtocol, replies: ANTHROPIC_REPLIES },
  { protocol: openAiChatProtocol, replies: CHAT_REPLIES },
  { protocol: openAiResponsesProtocol, replies: RESPONSES_REPLIES },
])('$protocol.id', ({ protocol, replies }) => {
  it.each(replies)('reads $name', ({ text, requests, errors, says }) => {
    const parsed = parseReply(protocol, text);
    expect(parsed.requests.map(({ requestId, toolName, args }) => [requestId, toolName, args])).toEqual(
      requests,
    );
    expect(parsed.errors.map(({ code }) => code)).toEqual(errors);
    expect(parsed.text).toBe(says);
  });

  it.each(replies)('reads $name the same wherever it is cut', ({ text }) => {
    const whole = parseReply(protocol, text);
    for (let at = 0; at <= text.length; at += 1)
      expect(readIn(protocol, [text.slice(0, at), text.slice(at)])).toEqual(whole);
    expect(readIn(protocol, text.split(''))).toEqual(whole);
  });

  it('never throws, and returns no request that is not in the reply', () => {
    const pieces = replies.flatMap(({ text }) => text.match(/.{1,40}/gs) ?? []);
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string()), { maxLength: 12 }), (parts) => {
        const whole = parseReply(protocol, parts.join(''));
        expect(readIn(protocol, parts)).toEqual(whole);
        for (const { toolName } of whole.requests) expect(parts.join('')).toContain(toolName);
      }),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(() => parseReply(protocol, text)).not.toThrow();
      }),
    );
  });
});

it('lets a call begin before the next one is complete', () => {
  const stream = CHAT_REPLIES[1]?.text ?? '';
  const reader = replyReader(openAiChatProtocol);
  const upToSecond = stream.indexOf('call_4');
  const end = stream.indexOf('\n\r\n', upToSecond) + 3;
  const early = collectReply(reader.read(stream.slice(0, end)));
  expect(early.requests.map(({ requestId }) => requestId)).toEqual(['call_3']);
});

describe('results', () => {
  const results = [
    { requestId: 'a', toolName: 't', status: 'success', result: '{"x":1}', durationMs: 3 },
    { requestId: 'b', toolName: 't', status: 'error', result: 'tool not found: t', durationMs: 0 },
  ] as const;

  it('are sent in the format of each vendor', () => {
    expect(JSON.parse(anthropicProtocol.formatToolResults(results))).toEqual([
      { type: 'tool_result', tool_use_id: 'a', content: '{"x":1}' },
      { type: 'tool_result', tool_use_id: 'b', content: 'tool not found: t', is_error: true },
    ]);
    expect(JSON.parse(openAiChatProtocol.formatToolResults(results))).toEqual([
      { role: 'tool', tool_call_id: 'a', content: '{"x":1}' },
      { role: 'tool', tool_call_id: 'b', content: 'Error: tool not found: t' },
    ]);
    expect(JSON.parse(openAiResponsesProtocol.formatToolResults(results))).toEqual([
      { type: 'function_call_output', call_id: 'a', output: '{"x":1}' },
      { type: 'function_call_output', call_id: 'b', output: 'Error: tool not found: t' },
    ]);
  });
});
