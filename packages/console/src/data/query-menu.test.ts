import { parseCallQuery, type QueryProblem } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { finishedProblems, markedParts, menuAt, steppedOption, tabOption, withOption } from './query-menu.ts';

const TOOLS = { tool: ['weather.query', 'Weather.now', 'my weather', 'calendar.add'] };

/** `|` is the cursor. */
function menu(marked: string, keys: Parameters<typeof menuAt>[3] = null): ReturnType<typeof menuAt> {
  return menuAt(marked.replace('|', ''), marked.indexOf('|'), TOOLS, keys);
}
const textsOf = (marked: string): string[] => menu(marked).options.map(({ text }) => text);

function problemsOf(text: string): readonly QueryProblem[] {
  const parsed = parseCallQuery(text, 0);
  return parsed.ok ? [] : parsed.problems;
}

describe('the menu of a query', () => {
  it('has values of the server, those that begin with what is typed first, in any case', () => {
    expect(textsOf('tool:wea|')).toEqual(['weather.query', 'Weather.now', 'my weather']);
    expect(textsOf('tool:|')).toEqual(TOOLS.tool);
    expect(textsOf('agent:x|')).toEqual([]);
  });

  it('has only the keys that the query may have', () => {
    const keysOf = (marked: string): string[] =>
      menu(marked, ['tool', 'agent']).options.map(({ text }) => text);
    expect(keysOf('|')).toEqual(['tool:', 'agent:']);
    expect(keysOf('timeo|')).toEqual([]);
  });

  it('is closed when the only option is written already', () => {
    expect(textsOf('state:fai|')).toEqual(['failed']);
    expect(textsOf('state:failed|')).toEqual([]);
  });

  it('moves from none to the first and from the last to none', () => {
    expect([-1, 0, 1, 2].map((at) => steppedOption(at, 1, 3))).toEqual([0, 1, 2, -1]);
    expect([-1, 0, 1, 2].map((at) => steppedOption(at, -1, 3))).toEqual([2, -1, 0, 1]);
    expect(steppedOption(-1, 1, 0)).toBe(-1);
  });

  it('lets Tab insert the active option, or the first that continues a word, else leave', () => {
    expect(tabOption(menu('tool:wea|'), -1)?.text).toBe('weather.query');
    expect(tabOption(menu('tool:wea|'), 2)?.text).toBe('my weather');
    expect(tabOption(menu('|'), -1)).toBeNull();
    expect(withOption('tool:wea', menu('tool:wea|'), { text: 'my weather', help: null })).toEqual({
      text: 'tool:"my weather" ',
      cursor: 18,
    });
  });
});

describe('problems of a query', () => {
  it('are marked where they are', () => {
    const text = 'tol:x Oslo ran>2';
    expect(markedParts(text, problemsOf(text))).toEqual([
      { text: 'tol', isWrong: true },
      { text: ':x Oslo ran>', isWrong: false },
      { text: '2', isWrong: true },
    ]);
    expect(markedParts('', [])).toEqual([]);
  });

  it('are not shown of the term at the cursor', () => {
    const problems = problemsOf('tol:x agent:');
    expect(finishedProblems(problems, 12)).toHaveLength(1);
    expect(finishedProblems(problems, null)).toHaveLength(2);
  });
});
