import type { ToolView } from '@patchboard/wire';
import { expect, it } from 'vitest';
import { groupTools } from './library.ts';

const ANY = { words: '', source: '', lent: null, risk: '', sort: 'name' };
const tools = ['b.two', 'alone', 'b.one', 'a.x', 'zeta'].map(
  (name) => ({ name, wire_name: name, description: '', annotations: {} }) as unknown as ToolView,
);

it('groups tools by prefix, and those without one in a last group of their own', () => {
  const groups = groupTools(tools, ANY).map((group) => [group.id, group.tools.map(({ name }) => name)]);
  expect(groups).toEqual([
    ['a', ['a.x']],
    ['b', ['b.two', 'b.one']],
    ['', ['alone', 'zeta']],
  ]);
  expect(groupTools(tools, { ...ANY, sort: 'count' }).map(({ id }) => id)).toEqual(['b', '', 'a']);
});
