import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ReplyItem } from '../protocol.ts';
import { arbitraryPieces, arbitraryReply } from './__fixtures__/arbitrary-replies.ts';
import { DAMAGED_REPLIES } from './__fixtures__/damaged-replies.ts';
import { REPLIES } from './__fixtures__/replies.ts';
import { Scan } from './scan.ts';
import { BEGINNING, finish, step } from './scanner.ts';

const START = '<<<[TOOL_REQUEST]>>>';
const END = '<<<[END_TOOL_REQUEST]>>>';

afterEach(() => {
  vi.restoreAllMocks();
});

/** The items and the state after each piece, and the items of the end. */
function readIn(pieces: readonly string[]): unknown[] {
  const steps: unknown[] = [];
  let state = BEGINNING;
  for (const piece of pieces) {
    const [next, items] = step(state, piece);
    state = next;
    steps.push({ state, items });
  }
  return [...steps, finish(state)];
}

/** As `readIn`, by the general parser alone. */
function readWithoutFastPath(pieces: readonly string[]): unknown[] {
  const spy = vi.spyOn(Scan.prototype, 'takePlainRequest').mockReturnValue(false);
  try {
    return readIn(pieces);
  } finally {
    spy.mockRestore();
  }
}

/** All items in their order, the text between two of them in one piece. */
function itemsOf(pieces: readonly string[]): ReplyItem[] {
  const items: ReplyItem[] = [];
  const add = (item: ReplyItem): void => {
    const last = items.at(-1);
    if (item.kind === 'text' && last?.kind === 'text')
      items[items.length - 1] = { kind: 'text', text: last.text + item.text };
    else items.push(item);
  };
  let state = BEGINNING;
  for (const piece of pieces) {
    const [next, found] = step(state, piece);
    state = next;
    found.forEach(add);
  }
  finish(state).forEach(add);
  return items;
}

/** The number of requests that the fast path reads and leaves. */
function attemptsIn(text: string): { read: number; left: number } {
  const spy = vi.spyOn(Scan.prototype, 'takePlainRequest');
  finish(step(BEGINNING, text)[0]);
  const results = spy.mock.results.map(({ value }) => value as boolean);
  spy.mockRestore();
  return { read: results.filter(Boolean).length, left: results.filter((isRead) => !isRead).length };
}

describe('with and without the fast path, the parser returns the same items and the same states', () => {
  it.each([...REPLIES, ...DAMAGED_REPLIES])('$name', ({ text }) => {
    for (let at = 0; at <= text.length; at += 1) {
      const pieces = [text.slice(0, at), text.slice(at)];
      expect(readIn(pieces)).toEqual(readWithoutFastPath(pieces));
    }
  });

  it('for arbitrary replies in arbitrary pieces', () => {
    fc.assert(
      fc.property(arbitraryPieces, (pieces) => {
        expect(readIn(pieces)).toEqual(readWithoutFastPath(pieces));
      }),
      { numRuns: 4000 },
    );
  });
});

it('returns the same items wherever a reply is cut', () => {
  fc.assert(
    fc.property(arbitraryPieces, (pieces) => {
      const text = pieces.join('');
      const whole = itemsOf([text]);
      expect(itemsOf(pieces)).toEqual(whole);
      expect(itemsOf(text.split(''))).toEqual(whole);
    }),
    { numRuns: 1000 },
  );
});

describe('the fast path', () => {
  const plain = 'tool_name:「始」a_b「末」';
  const block = (fields: string): string => `${START}${fields}${END}`;

  it.each([
    ['one field', block(plain)],
    ['several fields on lines', block(`\n${plain}\r\npath:「始」src「末」,\n`)],
    ['rare separators, and blanks around colons', block(`${plain}，path : 「始」src「末」、`)],
    ['a name in two parts, and an id', block(`${plain}command:「始」c「末」request_id:「始」1「末」`)],
    ['an empty value', block(`${plain} text:「始」「末」`)],
    ['a long value', block(`${plain}text:「始」${'a word '.repeat(1000)}「末」`)],
    ['a value with code and tags', block(`${plain}text:「始」<b>\`x\`</b>\n\`\`\`<think>「末」`)],
    ['a value with the closer of another tag', block(`${plain}text:「始」a「末ESCAPE」「末」`)],
  ])('reads a request with %s', (_name, text) => {
    expect(attemptsIn(`Text.\n${text}\n`)).toEqual({ read: 1, left: 0 });
  });

  it.each([
    ['no tool', block('')],
    ['an empty name', block('tool_name:「始」 「末」')],
    ['a field that is given twice', block(`${plain}path:「始」a「末」path:「始」b「末」`)],
    ['two names', block(plain + plain)],
    ['a batch', block(`${plain}command1:「始」a「末」command2:「始」b「末」`)],
    ['a reserved key', block(`${plain}maid:「始」Nova「末」`)],
    ['a reserved name of an argument', block(`${plain}arg-command:「始」a「末」`)],
    ['a forbidden name of an argument', block(`${plain}__proto__:「始」a「末」`)],
    ['a tagged value', block(`${plain}text:「始ESCAPE」a「末ESCAPE」`)],
    ['text between fields', block(`${plain}oops`)],
    ['an opener in a value', block(`${plain}text:「始」始「末」`)],
    ['an opener in a value with a tag', block(`${plain}text:「始」<b> path:「始」「末」`)],
    ['a marker in a value', block(`${plain}text:「始」<<<[TOOL_RESULT]>>>「末」`)],
    ['an end marker in a value', block(`${plain}text:「始」${END}「末」`)],
    ['an unclosed value', block(`${plain}text:「始」a`)],
    ['no end marker', `${START}${plain}`],
    ['a cut end marker', block(plain).slice(0, -1)],
  ])('leaves a request with %s', (_name, text) => {
    expect(attemptsIn(`Text.\n${text}`)).toEqual({ read: 0, left: 1 });
  });

  it('leaves requests that may be inside an unclosed value', () => {
    const open = `${START}${plain}text:「始」`;
    expect(attemptsIn(`${block(plain)}${open}${block(plain)}${block(plain)}`)).toEqual({ read: 1, left: 3 });
  });

  it('reads some of the arbitrary requests, and leaves some', () => {
    const attempts = fc.sample(arbitraryReply, 200).map(attemptsIn);
    expect(attempts.some(({ read }) => read > 0)).toBe(true);
    expect(attempts.some(({ left }) => left > 0)).toBe(true);
  });
});
