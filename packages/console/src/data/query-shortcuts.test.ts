import { parseCallQuery, QUERY_LIMITS } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { hasKey, singleValue, toolsTerm, withSingleValue } from './query-shortcuts.ts';

describe('a shortcut of a query', () => {
  it('shows the only value of its key, and none where one choice could not show it', () => {
    expect(singleValue('state:failed agent:"my agent"', 'agent')).toBe('my agent');
    for (const query of ['', 'agent:a,b', '-agent:a', 'agent:a -agent:b'])
      expect(singleValue(query, 'agent')).toBe('');
    expect(hasKey('-agent:a', 'agent')).toBe(true);
    expect(hasKey('agents "agent:a"', 'agent')).toBe(false);
  });

  it('changes its own terms only', () => {
    expect(withSingleValue('Oslo agent:a,b ran>2s', 'agent', 'my agent')).toBe(
      'Oslo ran>2s agent:"my agent"',
    );
    expect(withSingleValue('agent:a Oslo', 'agent', '')).toBe('Oslo');
  });

  it('names as many tools as fit into a query, each once', () => {
    expect(toolsTerm(['toy.b', 'toy.a', 'toy.b', 'a b'])).toBe('tool:"a b",toy.a,toy.b');
    expect(toolsTerm([])).toBe('');
    const many = toolsTerm(Array.from({ length: 500 }, (_, n) => `tool-${String(n).padStart(4, '0')}`));
    expect(many.length).toBeLessThanOrEqual(QUERY_LIMITS.characters);
    expect(many.length).toBeGreaterThan(QUERY_LIMITS.characters - 20);
    expect(many).toMatch(/^tool:tool-0000,/);
    expect(parseCallQuery(many, 0, 'metrics').ok).toBe(true);
  });
});
