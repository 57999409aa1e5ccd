import { describe, expect, it } from 'vitest';
import { formatCallQuery } from './format-query.ts';
import { parseCallQuery } from './parse-query.ts';
import { completionAt, insertCompletion } from './query-completion.ts';
import { queryTerm, withQueryTerm } from './query-terms.ts';

/** `|` is the cursor. */
function at(marked: string): ReturnType<typeof completionAt> {
  return completionAt(marked.replace('|', ''), marked.indexOf('|'));
}

function optionsAt(marked: string): string[] {
  return at(marked).options.map(({ text }) => text);
}

function chosen(marked: string, option: string): string {
  const { text, cursor } = insertCompletion(marked.replace('|', ''), at(marked), option);
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`;
}

describe('completion', () => {
  it('offers keys where a term begins, and keys that can be excluded after -', () => {
    expect(optionsAt('|').join(' ')).toBe(
      'tool: agent: state: status: code: since: until: ran> waited> total> run: trace: parent: client:',
    );
    expect(optionsAt('tool:x |')).toHaveLength(14);
    expect(optionsAt('-|x')).toEqual(['tool:', 'agent:', 'state:', 'status:', 'code:']);
    expect(optionsAt('st|')).toEqual(['state:', 'status:']);
    expect(optionsAt('sta|x:y')).toEqual(['state:', 'status:']);
  });

  it('offers a term for a value without its key', () => {
    expect(optionsAt('refu|')).toEqual(['state:refused']);
    expect(optionsAt('timeo|')).toEqual(['state:timeout', 'code:timeout', 'code:queue_timeout']);
    expect(optionsAt('runn|')).toEqual(['state:running']);
  });

  it('offers values of the key, of each member of a list', () => {
    expect(optionsAt('state:fai|')).toEqual(['failed']);
    expect(optionsAt('state:failed,ref|')).toEqual(['refused']);
    expect(optionsAt('state:run|')).toEqual(['running']);
    expect(optionsAt('state:执|')).toEqual(['执行中']);
    expect(optionsAt('state:|')).not.toContain('running');
    expect(optionsAt('status:|')).toEqual(['pending', 'running', 'succeeded', 'failed', 'timeout']);
    expect(optionsAt('ran>|')).toContain('1s');
    expect(at('tool:wea|')).toMatchObject({ kind: 'value', key: 'tool', typed: 'wea', from: 5, to: 8 });
    expect(at('agent:"my a|')).toMatchObject({ kind: 'value', key: 'agent', typed: 'my a', from: 6, to: 11 });
  });

  it('offers nothing inside a text', () => {
    expect(at('"to|ol"')).toMatchObject({ kind: 'text', options: [] });
    expect(at('nokey:x|')).toMatchObject({ kind: 'text', options: [] });
  });

  it('replaces what stands there, and ends a term with a space', () => {
    expect(chosen('to|', 'tool:')).toBe('tool:|');
    expect(chosen('tool:wea|', 'weather.query')).toBe('tool:weather.query |');
    expect(chosen('agent:m| since:1h', 'my agent')).toBe('agent:"my agent" |since:1h');
    expect(chosen('refu|', 'state:refused')).toBe('state:refused |');
    expect(chosen('tool:a,b|', 'c')).toBe('tool:a,c |');
  });
});

describe('terms', () => {
  it('are written and replaced as text', () => {
    expect(queryTerm('tool', ['a', 'b c'])).toBe('tool:a,"b c"');
    expect(queryTerm('state', ['completed'], true)).toBe('-state:completed');
    expect(queryTerm('ran', ['>=2s', '<5s'])).toBe('ran>=2s ran<5s');
    expect(withQueryTerm('since:1h tool:a  "b c" -tool:d', 'tool', ['x'])).toBe('since:1h "b c" tool:x');
    expect(withQueryTerm('since:1h', 'since', null)).toBe('');
  });
});

describe('formatting', () => {
  it.each([
    ['ran>2s total<=1m waited>=500ms', 'waited>=500ms ran>2s total<=1m'],
    ['-state:completed', '-state:completed'],
    ['state:open', 'state:open'],
    ['since:2026-01-31T00:00:00.000Z', 'since:2026-01-31'],
    ['"one two" "three" "-x" "tool:x"', '"one two" three "-x" "tool:x"'],
  ])('%s', (given, formatted) => {
    const parsed = parseCallQuery(given, 0);
    expect(parsed.ok ? formatCallQuery(parsed.query) : parsed.problems).toBe(formatted);
  });
});
