import { afterEach, describe, expect, it, vi } from 'vitest';
import { anthropicProtocol } from './anthropic/anthropic-protocol.ts';
import { stripInjectedNulls } from './openai/injected-nulls.ts';
import { openAiChatProtocol, openAiResponsesProtocol } from './openai/openai-protocols.ts';
import { positionFinder } from './text-position.ts';
import { parseReply } from './reply-reader.ts';

const MANY = 300;

function ids(): string[] {
  return Array.from({ length: MANY }, (_, at) => `call_${at}`);
}

function streamOf(events: readonly unknown[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
}

/** The number of characters that `indexOf` scans while `work` runs. */
function searchedIn(work: () => void): number {
  const spy = vi.spyOn(String.prototype, 'indexOf');
  work();
  const { calls, contexts, results } = spy.mock;
  vi.restoreAllMocks();
  return results.reduce((sum, { value: found }, at) => {
    const from = calls[at]?.[1] ?? 0;
    return sum + (found === -1 ? String(contexts[at]).length : found) - from;
  }, 0);
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a stream with more incomplete calls than a model sends', () => {
  const open = ids().map((id, index) => ({ id, index, function: { name: 'x' } }));
  it.each([
    {
      protocol: openAiChatProtocol,
      of: 'one event each',
      text: streamOf(open.map((call) => ({ choices: [{ delta: { tool_calls: [call] } }] }))),
    },
    {
      protocol: openAiChatProtocol,
      of: 'one event',
      text: streamOf([{ choices: [{ delta: { tool_calls: open } }] }]),
    },
    {
      protocol: anthropicProtocol,
      of: 'one event each',
      text: streamOf(
        open.map(({ id, index }) => ({
          type: 'content_block_start',
          index,
          content_block: { type: 'tool_use', id, name: 'x' },
        })),
      ),
    },
    {
      protocol: openAiResponsesProtocol,
      of: 'one event each',
      text: streamOf(
        open.map(({ id, index }) => ({
          type: 'response.output_item.added',
          output_index: index,
          item: { type: 'function_call', call_id: id, name: 'x' },
        })),
      ),
    },
  ])('is refused as a whole: $protocol.id, $of', ({ protocol, text }) => {
    const { requests, errors } = parseReply(protocol, text);
    expect(requests).toEqual([]);
    expect(errors.map(({ code }) => code)).toEqual(['reply_invalid']);
    expect(errors[0]?.message).toContain('256 calls');
  });
});

describe('the ids of a reply', () => {
  const written = JSON.stringify({ tool_calls: ids().map((id) => ({ id, function: { name: 'x' } })) });
  it.each([
    ['as they are', written],
    ['in another spelling', written.replaceAll('call_', '\\u0063all_')],
  ])('are looked for once through the text, written %s', (_how, text) => {
    let found = 0;
    const searched = searchedIn(() => {
      found = parseReply(openAiChatProtocol, text).requests.length;
    });
    expect(found).toBe(MANY);
    expect(searched).toBeLessThan(2 * text.length);
  });

  it('have their own offsets, also if two are equal', () => {
    const call = { id: 'same', function: { name: 'x' } };
    const text = JSON.stringify({ tool_calls: [call, call] });
    const places = parseReply(openAiChatProtocol, text).requests.map(({ offset }) => offset);
    expect(places).toEqual([text.indexOf('"same"'), text.lastIndexOf('"same"')]);
  });
});

it('finds positions in any order and scans the text once', () => {
  const text = 'a line\n'.repeat(MANY);
  const lines = Array.from({ length: MANY }, (_, at) => MANY - at);
  let places: unknown[] = [];
  const searched = searchedIn(() => {
    const place = positionFinder(text);
    places = lines.map((line) => place((line - 1) * 7 + 2));
  });
  expect(places).toEqual(lines.map((line) => ({ line, column: 3 })));
  expect(searched).toBeLessThanOrEqual(text.length);
});

it('finds the types of a subschema once, however many nulls and paths there are', () => {
  let asked = 0;
  const last = {
    get type(): string {
      asked += 1;
      return 'string';
    },
  };
  const ways = Array.from({ length: 6 }, (_, at) => [
    `way${at}`,
    { anyOf: Array.from({ length: 3 }, () => ({ $ref: `#/$defs/way${at + 1}` })) },
  ]);
  const schema = {
    $defs: { ...Object.fromEntries(ways), way6: last },
    properties: { list: { items: { properties: { x: { $ref: '#/$defs/way0' } } } } },
  };
  const args = { list: Array.from({ length: 10 }, () => ({ x: null })) };
  expect(stripInjectedNulls(schema, args)).toEqual({ list: args.list.map(() => ({})) });
  expect(asked).toBe(1);
});
