import { afterEach, expect, it, vi } from 'vitest';
import { BEGINNING, finish, step } from './scanner.ts';

const START = '<<<[TOOL_REQUEST]>>>';
const END = '<<<[END_TOOL_REQUEST]>>>';
const MANY = 400;

afterEach(() => {
  vi.restoreAllMocks();
});

/** The number of characters that `indexOf` and `includes` scan while `work` runs. */
function searchedIn(work: () => void): number {
  const spies = [vi.spyOn(String.prototype, 'indexOf'), vi.spyOn(String.prototype, 'includes')];
  work();
  const calls = spies.flatMap(({ mock }) =>
    mock.calls.map(([wanted, from], at) => ({ text: mock.contexts[at], wanted, from })),
  );
  vi.restoreAllMocks();
  return calls.reduce((sum, { text, wanted, from = 0 }) => {
    const found = String(text).indexOf(wanted, from);
    return sum + (found === -1 ? Math.max(0, String(text).length - from) : found - from);
  }, 0);
}

function readIn(text: string, length: number): void {
  let state = BEGINNING;
  for (let at = 0; at < text.length; at += length) [state] = step(state, text.slice(at, at + length));
  finish(state);
}

/** Each has a partner that is missing, or far away. */
const REPEATED = [
  START,
  `${START}tool_name:「始」x`,
  `${START}tool_name:「始」x${END}`,
  `${START}tool_name:「始」x「末」`,
  `${START}tool_name:「始」x「末」oops`,
  `${START}tool_name:「始」x「末」oops${END}`,
  `${START}tool_name:「始」x「末」text:「始ESCAPE」`,
  `${START}tool_name:「始」x「末」text:「始」a path:「始」b「末」${END}`,
  `${START}tool_name:「始」x「末」<<<[`,
  `${START}tool_name:「始」x「末」${END}`,
  `\`${START}tool_name:「始」x「末」${END}`,
  'text:「始」',
  '<<<[',
];

it.each(REPEATED)('searches each character a bounded number of times: %s', (part) => {
  for (const end of ['', '「末」', END, `「末」${END}`, '\n']) {
    const text = part.repeat(MANY) + end;
    for (const length of [text.length, 100, 4]) {
      const searched = searchedIn(() => readIn(text, length));
      expect({ part, end, length, isBounded: searched < 20 * text.length }).toEqual({
        part,
        end,
        length,
        isBounded: true,
      });
    }
  }
});
