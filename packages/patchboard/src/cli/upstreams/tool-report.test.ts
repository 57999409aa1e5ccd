import { expect, it } from 'vitest';
import { createOutput } from '../output.ts';
import { printReport, type SeenUpstream } from './tool-report.ts';

/** What the report of an upstream writes besides the table. */
function notesOf(seen: Partial<SeenUpstream>): string {
  let notes = '';
  const output = createOutput({
    stdout: { write: () => {} },
    stderr: { write: (text) => void (notes += text) },
    noColour: true,
  });
  const tools = [{ name: 'api.read', annotations: {} }];
  printReport(output, {
    name: 'api',
    state: 'connected',
    protocol: null,
    lastError: null,
    tools,
    rejected: [],
    ...seen,
  });
  return notes;
}

it('names the problem of an upstream that is connected', () => {
  expect(notesOf({ lastError: 'set openapi.api.server' })).toContain('api: set openapi.api.server\n');
});

it('names a dozen of the tools that are not offered, and counts the others', () => {
  const rejected = Array.from({ length: 131 }, (_, index) => ({
    name: `api.tool-${index}`,
    code: 'schema_invalid' as const,
    reason: 'too many',
  }));
  const notes = notesOf({ rejected });
  expect(notes.match(/^not offered: api\.tool-\d+: too many$/gm)).toHaveLength(12);
  expect(notes).toContain('not offered: 119 more; list --json names all, with the reasons\n');
  expect(notes).toContain('This, in the config file, makes them ask:\npolicy:\n');
});
