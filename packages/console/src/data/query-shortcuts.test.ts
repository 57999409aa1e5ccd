import { describe, expect, it } from 'vitest';
import { hasKey, singleValue, withSingleValue } from './query-shortcuts.ts';

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
});
