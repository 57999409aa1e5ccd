import { describe, expect, it } from 'vitest';
import { positionFinder } from '../text-position.ts';
import type { ReplyItem } from '../protocol.ts';
import { collectReply, parseReply, replyReader } from '../reply-reader.ts';
import { DAMAGED_REPLIES } from './__fixtures__/damaged-replies.ts';
import { REPLIES } from './__fixtures__/replies.ts';
import { BEGINNING, finish, step } from './scanner.ts';
import { vcpProtocol } from './vcp-protocol.ts';

const ALL = [...REPLIES, ...DAMAGED_REPLIES];

function readIn(pieces: readonly string[]): ReturnType<typeof collectReply> {
  const reader = replyReader(vcpProtocol);
  return collectReply([...pieces.flatMap((piece) => [...reader.read(piece)]), ...reader.end()]);
}

describe('replies', () => {
  it.each(ALL)('$name', ({ text, requests, errors }) => {
    const parsed = parseReply(vcpProtocol, text);
    expect(
      parsed.requests.map(({ toolName, command, args }) => [
        command === undefined ? toolName : `${toolName} ${command}`,
        args,
      ]),
    ).toEqual(requests);
    const place = positionFinder(text);
    const placed = parsed.errors.map(({ code, offset }) => {
      const { line, column } = place(offset);
      return `${code} ${line}:${column}`;
    });
    expect(placed).toEqual(errors);
  });

  it.each(ALL)('$name: the same wherever it is cut', ({ text }) => {
    const whole = parseReply(vcpProtocol, text);
    for (let at = 0; at <= text.length; at += 1)
      expect(readIn([text.slice(0, at), text.slice(at)])).toEqual(whole);
    expect(readIn(text.split(''))).toEqual(whole);
  });

  it('keeps the text outside of blocks, and nothing of the blocks', () => {
    const [first] = REPLIES;
    expect(parseReply(vcpProtocol, first?.text ?? '').text).toBe(
      '<think>The user wants the files. <<<[TOOL_REQUEST]>>> is how I ask.</think>\n我先看看目录。\n\n请稍等。',
    );
  });
});

describe('requests', () => {
  it('are emitted as soon as their block is complete', () => {
    const block = '<<<[TOOL_REQUEST]>>>tool_name:「始」a_b「末」<<<[END_TOOL_REQUEST]>>>';
    const [before, none] = step(BEGINNING, block.slice(0, -1));
    expect(none).toEqual([]);
    const [after, items] = step(before, block.slice(-1));
    expect(items.map(({ kind }) => kind)).toEqual(['request']);
    expect(finish(after)).toEqual([]);
  });

  it('do not change an old state', () => {
    const [begun] = step(BEGINNING, '<<<[TOOL_REQUEST]>>>tool_name:「始」a');
    const ending = (text: string): ReplyItem[] => [...step(begun, text)[1]];
    const name = (items: ReplyItem[]): unknown =>
      items.map((item) => (item.kind === 'request' ? item.request.toolName : item.kind));
    expect(name(ending('_b「末」<<<[END_TOOL_REQUEST]>>>'))).toEqual(['a_b']);
    expect(name(ending('_c「末」<<<[END_TOOL_REQUEST]>>>'))).toEqual(['a_c']);
  });

  it('get a generated id if they have none, or one that is in use', () => {
    const request = (id: string): string =>
      `<<<[TOOL_REQUEST]>>>tool_name:「始」a_b「末」${id}<<<[END_TOOL_REQUEST]>>>`;
    const text = [
      request('request_id:「始」one「末」'),
      request('request_id:「始」one「末」'),
      request(''),
      request('request_id:「始」call-2「末」'),
      request(`request_id:「始」${'x'.repeat(201)}「末」`),
    ].join('\n');
    expect(parseReply(vcpProtocol, text).requests.map(({ requestId }) => requestId)).toEqual([
      'one',
      'call-1',
      'call-2',
      'call-3',
      'call-4',
    ]);
  });

  it('have noReply if success is not to be reported, and keep reserved keys separate', () => {
    const { requests } = parseReply(vcpProtocol, REPLIES[1]?.text ?? '');
    expect(requests.map(({ noReply, meta }) => ({ noReply, meta }))).toEqual([
      { noReply: undefined, meta: { maid: 'Nova' } },
      { noReply: true, meta: undefined },
    ]);
  });

  it('contain their text in the reply', () => {
    const { text } = REPLIES[1] ?? { text: '' };
    for (const { rawBlock, offset } of parseReply(vcpProtocol, text).requests)
      expect(text.slice(offset, offset + rawBlock.length)).toBe(rawBlock);
  });
});

it('refuses an argument name that JSON arguments may not have either', () => {
  const text = '<<<[TOOL_REQUEST]>>>tool_name:「始」a_b「末」__proto__:「始」x「末」<<<[END_TOOL_REQUEST]>>>';
  expect(parseReply(vcpProtocol, text)).toMatchObject({ requests: [], errors: [{ offset: 39 }] });
});

describe('batches', () => {
  const batch = (...fields: readonly string[]): string =>
    `<<<[TOOL_REQUEST]>>>tool_name:「始」T「末」${fields.join(',')}<<<[END_TOOL_REQUEST]>>>`;
  const field = (key: string, value: string): string => `${key}:「始」${value}「末」`;

  it('need a first command', () => {
    const { requests } = parseReply(vcpProtocol, batch(field('path1', 'a'), field('command2', 'b')));
    expect(requests.map(({ args }) => args)).toEqual([{ path1: 'a', command2: 'b' }]);
  });

  it('are grouped by number, the longest that has a command', () => {
    const fields = Array.from({ length: 12 }, (_none, at) => field(`command${at + 1}`, `c${at + 1}`));
    const { requests } = parseReply(
      vcpProtocol,
      batch(field('path12', 'twelve'), field('path2', 'two'), ...fields),
    );
    expect(requests.map(({ command, args }) => `${command} ${JSON.stringify(args)}`)).toEqual(
      Array.from({ length: 12 }, (_none, at) => {
        const args = at === 11 ? { path: 'twelve' } : at === 1 ? { path: 'two' } : {};
        return `c${at + 1} ${JSON.stringify(args)}`;
      }),
    );
  });

  it('refuse a field that is both shared and numbered, and more commands than a hundred', () => {
    const clash = batch(field('command1', 'a'), field('path', 'x'), field('path1', 'y'));
    expect(parseReply(vcpProtocol, clash).errors.map(({ code }) => code)).toEqual(['key_duplicate']);
    const many = Array.from({ length: 101 }, (_none, at) => field(`command${at + 1}`, 'a'));
    expect(parseReply(vcpProtocol, batch(...many)).errors.map(({ code }) => code)).toEqual([
      'batch_too_large',
    ]);
  });
});
